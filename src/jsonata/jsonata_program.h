/*
 * jsonata_program.h
 *		A compiled expression.
 */
#ifndef SF_JSONATA_JSONATA_PROGRAM_H
#define SF_JSONATA_JSONATA_PROGRAM_H

#include "jsonata/syntax/ast.h"

/* Which fields of $states an expression looks at */
#define SF_JN_STATES_INPUT			0x01
#define SF_JN_STATES_RESULT			0x02
#define SF_JN_STATES_ERROR_OUTPUT	0x04
#define SF_JN_STATES_CONTEXT_SHIFT	3	/* the bits SF_CONTEXT_… */
#define SF_JN_STATES_CONTEXT		(SF_CONTEXT_ANY << SF_JN_STATES_CONTEXT_SHIFT)
#define SF_JN_STATES_JOBS			(0x100 | SF_CONTEXT_JOBS << SF_JN_STATES_CONTEXT_SHIFT)
#define SF_JN_STATES_ALL			0x1ff

struct SfJsonata
{
	SfJnArena	arena;
	const char *text;
	SfJnNode   *root;
	int			states_used;
};

/* references.c: all of $states where the expression uses it in other ways. */
extern int	sf_jn_states_used(const SfJnNode *root);

#endif							/* SF_JSONATA_JSONATA_PROGRAM_H */
