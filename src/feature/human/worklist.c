/*
 * worklist.c
 *		Worklists: the table, and a cache of it in each backend.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "api/objects.h"
#include "feature/human/human.h"
#include "store/role/privilege.h"

/* The first columns of _sfflow.worklist; see sql/parts/feature/human.sql */
enum
{
	COL_worklist_no = 1, COL_name, COL_owner
};

/* What the name of a worklist begins with where it may be of other kinds, too */
#define PREFIX		"human:"

/* Append a row of the table to a list. */
static void
read_worklist(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **worklists = arg;
	SfWorklist *worklist = palloc(sizeof(SfWorklist));

	worklist->worklist_no = sf_row_number(tuple, desc, COL_worklist_no, 0);
	worklist->name = sf_row_text(tuple, desc, COL_name);
	worklist->owner = sf_row_number(tuple, desc, COL_owner, InvalidOid);
	*worklists = lappend(*worklists, worklist);
}

SfKeyedCache sf_worklist_cache = {
	.cache = {.table = "worklist",.load = sf_keyed_cache_begin,.is_latest = true},
	.index = {"worklist", "worklist_pkey"},
	.read = sf_keyed_cache_find,
	.rows = {.by = {[SF_CACHE_BY_NAME] = {"worklist_name_key", TEXTOID}},.append = read_worklist}
};

/* Find a worklist by its name; NULL: there is none now.  Valid until the next call. */
const SfWorklist *
sf_worklist_find(const char *name)
{
	return sf_list_first(sf_keyed_cache_get(&sf_worklist_cache, &(SfCacheKey) {.by = SF_CACHE_BY_NAME,.name = name}));
}

/* Find a worklist by "name" or "human:name", and raise unless the caller has a right on it. */
const SfWorklist *
sf_worklist_require(const char *text, int privilege)
{
	const char *name = strncmp(text, PREFIX, strlen(PREFIX)) == 0 ? text + strlen(PREFIX) : text;
	const SfWorklist *worklist = sf_worklist_find(name);

	sf_object_require(SF_OBJECT_WORKLIST, name, worklist == NULL ? InvalidOid : worklist->owner, privilege);
	if (worklist == NULL)
		sf_object_missing(SF_OBJECT_WORKLIST, name);
	return worklist;
}

/* The owner of a worklist that the caller may change, or raise. */
Oid
sf_worklist_require_own(const char *name)
{
	return sf_worklist_require(name, SF_RIGHT_OWNER)->owner;
}

/* Insert a worklist of the caller; false: the name is taken. */
bool
sf_worklist_insert(const char *name, const char *description, const Jsonb *form)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.worklist (name, owner, description, form, created_at)"
		" VALUES ($1, $2, $3, $4, pg_catalog.clock_timestamp()) ON CONFLICT DO NOTHING");

	if (sf_db_execute(&plan, SF_TEXT(name), SF_ROLE(GetUserId()), SF_TEXT(description), SF_JSONB(form)) == 0)
		return false;
	sf_privilege_anchor(GetUserId());
	return true;
}

/* Give a worklist of the caller another form and description, for tasks to come; false: it has them already. */
bool
sf_worklist_update(const char *name, const char *description, const Jsonb *form)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.worklist w SET description = $2, form = $3 WHERE w.name = $1"
		" AND (w.description IS DISTINCT FROM $2 OR w.form IS DISTINCT FROM $3)");

	(void) sf_worklist_require_own(name);
	(void) sf_object_lock_own(SF_OBJECT_WORKLIST, name, SF_NAMED_LOCK_CHANGE);
	return sf_db_execute(&plan, SF_TEXT(name), SF_TEXT(description), SF_JSONB(form)) > 0;
}

/* Delete a worklist, in which no task waits. */
void
sf_worklist_delete(int worklist_no)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.worklist w WHERE w.worklist_no = $1");

	sf_db_execute(&plan, SF_INT4(worklist_no));
}

/* Give a worklist that the caller owns to another role; returns the previous owner. */
Oid
sf_worklist_set_owner(const char *name, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.worklist w SET owner = $2 WHERE w.name = $1");
	Oid			before;

	(void) sf_worklist_require_own(name);
	before = sf_object_lock_own(SF_OBJECT_WORKLIST, name, SF_NAMED_LOCK_CHANGE);
	sf_db_execute(&plan, SF_TEXT(name), SF_ROLE(owner));
	sf_db_invalidate("worklist");
	return before;
}
