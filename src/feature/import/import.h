/*
 * import.h
 *		Definitions as they come from Step Functions, SAM and CDK.
 */
#ifndef SF_FEATURE_IMPORT_H
#define SF_FEATURE_IMPORT_H

#include "asl/program.h"
#include "asl/tree/tree.h"
#include "cloud/cloud.h"

/* A definition that is to become a state machine */
typedef struct SfImport
{
	const char *id;				/* of the machine in its template; NULL: it is in none */
	const char *name;			/* that the text gives; NULL: none */
	bool		is_express;		/* the template says so */
	const char *location;		/* in the template, "" without one */
	const char *text;			/* the definition, with its placeholders; NULL: only its address is known */
	const char *file;			/* that address; NULL: none */
	const SfTreeNode *root;		/* the definition as a tree: a placeholder that stands
								 * for a whole value is a string in it */
} SfImport;

extern int	sf_import_placeholder(const char *p);
extern char *sf_import_placeholder_name(const char *p, int length);
extern char *sf_import_substitute(const char *text, const Jsonb *given, const Jsonb *filled);
extern List *sf_import_read(const char *text, const Jsonb *given, SfCloud **template);

#endif							/* SF_FEATURE_IMPORT_H */
