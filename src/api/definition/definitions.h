/*
 * definitions.h
 *		State machines that are made, changed and dropped, and documents that say what is defined in a database:
 *		sf_export_definitions(), sf_apply().
 */
#ifndef SF_API_DEFINITIONS_H
#define SF_API_DEFINITIONS_H

#include "nodes/pg_list.h"

#include "asl/program.h"
#include "base/version/compat.h"
#include "json/json.h"
#include "store/state_machine/machine.h"

/* --- machine_functions.c --- */

extern void sf_object_create_machine(SfMachine *machine, bool or_replace);
extern void sf_object_put_version(SfMachine *machine);

/* Which machines are dropped, too */
#define SF_DROP_WITH_RUNNING	0x01	/* one with running executions */
#define SF_DROP_WITH_MANY		0x02	/* one with very many ended ones */

extern void sf_object_drop_machine(const SfMachine *machine, uint32 also);

/* --- documents --- */

/* Number of the form of a document: member "format" */
#define SF_DEFINITIONS_FORMAT	1

/* A kind of objects, a row of _sfflow.definition_kind */
typedef struct SfDefinitionKind
{
	char	   *section;		/* member of the document with the objects of the kind */
	char	   *kind;
	char	   *prefix;			/* of names in sf_alter_owner; NULL: it cannot be given to another role */
	List	   *members;		/* that an object may have, char * */
	bool		is_list;		/* the section is a list, not an object */
	bool		has_owner;		/* an object may have "owner" */
	bool		is_granted;		/* ... and rights */
} SfDefinitionKind;

extern List *sf_definition_kinds(void);
extern const SfDefinitionKind *sf_definition_find_kind(const List *kinds, const char *kind);
extern void sf_definition_check(const Jsonb *document, const List *kinds);
extern void sf_definition_refuse(const char *pointer, const char *problem) pg_attribute_noreturn();

/* --- probe: whether the resources of a definition could run now in a machine of the caller --- */

extern const char *sf_probe_missing(const SfResource *resource, const char *function);
/* How definitions are checked where nothing else is asked for */
extern const SfValidation sf_probe_usual;

#endif							/* SF_API_DEFINITIONS_H */
