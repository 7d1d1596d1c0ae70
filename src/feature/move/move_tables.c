/*
 * move_tables.c
 *		Which rows go with an execution that is moved, and which numbers in them mean another thing on another node.
 */
#include "postgres.h"

#include "feature/move/move.h"

const SfMoveReference sf_move_references[] = {
	{"machine_no", "state_machine"},
	{"activity_no", "activity"},
	{"event_type_no", "event_type"},
	{"worklist_no", "worklist"},
	{NULL}
};

/*
 * Tables of executions whose rows stay behind.  What a branch was parked for is looked at anew (held).  An archive that
 * is being written has its executions again in one of the other node (archive_member).
 */
static const char *const staying[] = {"held", "archive_member"};

/* Do the rows of a table stay behind? */
static bool
stays(const char *name)
{
	for (size_t i = 0; i < lengthof(staying); i++)
		if (strcmp(staying[i], name) == 0)
			return true;
	return false;
}

/* Add a table. */
static List *
add(List *tables, const char *name, const char *join)
{
	SfMoveTable *table = palloc(sizeof(SfMoveTable));

	table->name = name;
	table->join = join;
	return lappend(tables, table);
}

/* List the tables whose rows go with an execution, as SfMoveTable. */
List *
sf_move_tables(void)
{
	List	   *tables = NIL;

	tables = add(tables, "execution", NULL);
	tables = add(tables, "branch", NULL);
	tables = add(tables, "open_execution",
				 " WHERE d.machine_no = x.machine_no AND d.status = ANY ('{RUNNING,FAILED,TIMED_OUT,ABORTED}')"
				 " AND d.requested_at = x.requested_at AND");
	SF_TABLES(table)
		if (table->of_execution && !stays(table->name))
			tables = add(tables, table->name, table->purge);
	return tables;
}
