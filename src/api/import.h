/*
 * import.h
 *		Definitions as they come from Step Functions, SAM and CDK.
 */
#ifndef SF_API_IMPORT_H
#define SF_API_IMPORT_H

#include "asl/tree.h"

/* What a text that is to become a state machine holds */
typedef struct SfImport
{
	const char *name;			/* that the text gives; NULL: none */
	const char *text;			/* the definition, with its placeholders */
	const SfNode *root;			/* the same as a tree: a placeholder that stands for
								 * a whole value is a string in it */
} SfImport;

extern void sf_import_read(const char *text, SfImport *import);

#endif							/* SF_API_IMPORT_H */
