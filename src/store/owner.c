/*
 * owner.c
 *		Give what a role owns to another one.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "store/owner.h"
#include "store/privilege.h"
#include "store/table.h"

#define EQ " OPERATOR(pg_catalog.=) "
#define NE " OPERATOR(pg_catalog.<>) "

/* Read a name into a list. */
static void
read_name(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(List **) arg = lappend(*(List **) arg, sf_row_text(tuple, desc, 1));
}

/* Find what a role owns. */
List *
sf_owned_names(char kind, Oid owner)
{
	static SfPlan machines = SF_PLAN(
		"SELECT m.name FROM _sfflow.state_machine m WHERE m.owner" EQ "$1"
		" ORDER BY m.machine_no", 1, REGROLEOID);
	static SfPlan activities = SF_PLAN(
		"SELECT a.name FROM _sfflow.activity a WHERE a.owner" EQ "$1"
		" ORDER BY a.activity_no", 1, REGROLEOID);
	static SfPlan schedules = SF_PLAN(
		"SELECT s.name FROM _sfflow.schedule s WHERE s.owner" EQ "$1"
		" ORDER BY s.name", 1, REGROLEOID);
	SfPlan	   *plan = kind == SF_OBJECT_ACTIVITY ? &activities :
		kind == SF_OBJECT_SCHEDULE ? &schedules : &machines;
	Datum		args[1] = {ObjectIdGetDatum(owner)};
	List	   *names = NIL;

	sf_store_query(plan, args, NULL, 0, read_name, &names);
	return names;
}

/* Have every session forget what it knows from a table. */
static void
announce_change(const char *table)
{
	CacheInvalidateRelcacheByRelid(get_relname_relid(table,
													 get_namespace_oid("_sfflow", false)));
}

/* Change the owner of a state machine. */
void
sf_owner_set_machine(int machine_no, Oid owner)
{
	static SfPlan plans[] = {
		SF_PLAN("UPDATE _sfflow.state_machine m SET owner = $2"
				" WHERE m.machine_no" EQ "$1", 2, INT4OID, REGROLEOID),
		SF_PLAN("WITH free AS (SELECT b.execution_no, b.branch_no"
				" FROM _sfflow.branch b JOIN _sfflow.execution e"
				" ON e.execution_no" EQ "b.execution_no"
				" WHERE e.machine_no" EQ "$1 AND b.owner" NE "$2"
				" FOR UPDATE OF b SKIP LOCKED)"
				" UPDATE _sfflow.branch t SET owner = $2 FROM free"
				" WHERE t.execution_no" EQ "free.execution_no"
				" AND t.branch_no" EQ "free.branch_no", 2, INT4OID, REGROLEOID),
	};
	Datum		args[2] = {Int32GetDatum(machine_no), ObjectIdGetDatum(owner)};

	for (size_t i = 0; i < lengthof(plans); i++)
		sf_store_query(&plans[i], args, NULL, 0, NULL, NULL);
	announce_change("state_machine");
	/* the new owner's queue has work that no bell was rung for */
	sf_hooks.register_database();
}

/* Change the owner of an activity. */
void
sf_owner_set_activity(int activity_no, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.activity a SET owner = $2 WHERE a.activity_no" EQ "$1",
		2, INT4OID, REGROLEOID);
	Datum		args[2] = {Int32GetDatum(activity_no), ObjectIdGetDatum(owner)};

	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* Give the mappings of a role to another one. */
char *
sf_owner_move_mappings(Oid from, Oid to, int64 *moved)
{
	static SfPlan find_conflict = SF_PLAN(
		"SELECT a.pattern FROM _sfflow.resource_map a JOIN _sfflow.resource_map b"
		" ON b.pattern" EQ "a.pattern AND b.owner" EQ "$2 AND b.resource" NE "a.resource"
		" WHERE a.owner" EQ "$1 ORDER BY a.pattern LIMIT 1",
		2, REGROLEOID, REGROLEOID);
	static SfPlan delete_same = SF_PLAN(
		"DELETE FROM _sfflow.resource_map a USING _sfflow.resource_map b"
		" WHERE a.owner" EQ "$1 AND b.owner" EQ "$2 AND b.pattern" EQ "a.pattern",
		2, REGROLEOID, REGROLEOID);
	static SfPlan move = SF_PLAN(
		"UPDATE _sfflow.resource_map a SET owner = $2 WHERE a.owner" EQ "$1",
		2, REGROLEOID, REGROLEOID);
	Datum		args[2] = {ObjectIdGetDatum(from), ObjectIdGetDatum(to)};
	List	   *conflicts = NIL;

	sf_store_query(&find_conflict, args, NULL, 1, read_name, &conflicts);
	if (conflicts != NIL)
		return linitial(conflicts);
	*moved = sf_store_query(&delete_same, args, NULL, 0, NULL, NULL);
	*moved += sf_store_query(&move, args, NULL, 0, NULL, NULL);
	announce_change("resource_map");
	return NULL;
}

/* Delete the rights that were given to a role. */
int64
sf_owner_delete_grants(Oid role)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.privilege p WHERE p.role" EQ "$1", 1, REGROLEOID);
	Datum		args[1] = {ObjectIdGetDatum(role)};

	return (int64) sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* Put a branch into the queue of the role that owns its machine now. */
bool
sf_owner_requeue(SfBranchKey key, Oid from, Oid to)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS (SELECT b.execution_no, b.branch_no FROM _sfflow.branch b"
		" WHERE b.execution_no" EQ "$1 AND b.branch_no" EQ "$2"
		" AND b.owner" EQ "$3 FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.branch t SET owner = $4 FROM free"
		" WHERE t.execution_no" EQ "free.execution_no"
		" AND t.branch_no" EQ "free.branch_no",
		4, INT8OID, INT8OID, REGROLEOID, REGROLEOID);
	Datum		args[4] = {
		Int64GetDatum(key.execution_no), Int64GetDatum(key.branch_no),
		ObjectIdGetDatum(from), ObjectIdGetDatum(to)
	};

	if (sf_store_query(&plan, args, NULL, 0, NULL, NULL) == 0)
		return false;
	sf_hooks.due(key, to, GetCurrentTimestamp());
	return true;
}
