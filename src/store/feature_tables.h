/*
 * feature_tables.h
 *		The tables and the kinds of objects of features, and of the core: what the engine does with them by itself.
 */
#ifndef SF_STORE_FEATURE_TABLES_H
#define SF_STORE_FEATURE_TABLES_H

#include "store/alert/notice.h"
#include "store/execution/execution.h"
#include "store/role/object_kind.h"

/* What happens to the rows that a table has of an execution, by its column execution_no */
typedef enum SfRowsOfExecution
{
	SF_ROWS_NONE,				/* it has no such column */
	SF_ROWS_GO_ALONG,			/* they are purged with their execution, and move with it */
	SF_ROWS_STAY,				/* they are purged with it, and stay behind: the node that it comes to makes its own */
	SF_ROWS_OF_FEATURE			/* they move with it; the feature deletes them, told on_executions_dropped */
} SfRowsOfExecution;

/* A table of a feature: what is done with its rows is told here, and done by the engine */
typedef struct SfFeatureTable
{
	const char *name;
	SfRowsOfExecution of_execution;
	bool		of_machine;		/* has a column machine_no: rows are dropped with their machines */
	bool		cached;			/* backends cache it: a function that deletes rows invalidates that */
	const char *by_role;		/* an index that begins with a role that rows name, which cannot be dropped; or NULL */
	const char *freezes;		/* an execution with a row is being …, "archived": it does not change, and is not purged; or NULL */
	const char *purge;			/* if no index begins with execution_no: how its rows d of executions x are found
								 * else, from what follows "USING x" up to AND; or NULL */
} SfFeatureTable;

/* A kind of objects that a feature has */
typedef struct SfFeatureObject
{
	const char *prefix;			/* what a name begins with where it may be of other kinds, too: "schedule:" */
	SfObjectKind kind;			/* SF_OBJECT_… */
	const char *table;			/* has columns name and owner */
	const char *number_column;	/* of its key, which rows of executions have, too; NULL: none have it */
	Oid			(*require_own) (const char *name);	/* the owner of one that the caller may change, or raise; NULL: never asked */
	Oid			(*set_owner) (const char *name, Oid owner); /* gives such a one to another role; the owner before */
	void		(*notice) (SfNotice *notice, const char *name); /* says in a notice what it is of; NULL: never asked */
	bool		is_granted;		/* rights on it are given to roles; then it has require_own, … */
	const char *noun;			/* … what messages call it, */
	const char *view;			/* the view that lists those that one may know, */
	int			missing_sqlstate;	/* and the SQLSTATE of one that is not there */
	bool		all_know;		/* every role may know all of them */
} SfFeatureObject;

/* The tables of the core and of all features, up to one without a name */
extern const SfFeatureTable *sf_feature_tables;

/* Go through them. */
#define SF_TABLES(table) \
	for (const SfFeatureTable *table = sf_feature_tables; table->name != NULL; table++)

/* The kinds of objects of all features, up to one without a prefix */
extern const SfFeatureObject *sf_feature_objects;

/* Go through them. */
#define SF_OBJECTS(object) \
	for (const SfFeatureObject *object = sf_feature_objects; object->prefix != NULL; object++)

extern const SfFeatureObject *sf_feature_object_of(const char *text);
extern const char *sf_feature_object_name(const SfFeatureObject *object, const char *text);
extern List *sf_feature_owned_names(const SfFeatureObject *object, Oid owner);
extern void sf_feature_invalidate_cached(void);

/* An execution that must not change */
typedef struct SfFrozen
{
	int64		execution_no;
	const char *what;			/* is being done with it (SfFeatureTable.freezes) */
} SfFrozen;

extern List *sf_feature_frozen(const List *numbers);
extern const char *sf_feature_frozen_by(int64 execution_no);
extern void sf_feature_require_unfrozen(const SfExecution *execution);

#endif							/* SF_STORE_FEATURE_TABLES_H */
