/*
 * archive_feature.c
 *		What archives have in the registry: their tables, and a row of sf_health.
 */
#include "postgres.h"

#include "feature/archive/batch.h"
#include "store/feature.h"
#include "store/role/privilege.h"
#include "store/task/task.h"

static const SfFeatureTable tables[] = {
	{"archive_member",.of_execution = SF_ROWS_STAY,.freezes = "archived"},
	{NULL}
};

/* An activity is dropped: forget its archive, unless a program is writing it. */
static void
object_dropped(SfObjectKind kind, const char *name)
{
	SfActivity *activity = kind == SF_OBJECT_ACTIVITY ? sf_activity_read(name) : NULL;

	if (activity == NULL)
		return;
	if (sf_archive_batch_unconfirmed(activity->activity_no) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("activity \"%s\" has executions that are being archived", name),
				 errhint("Let sfworker --archive confirm them; sf_archive_batches shows them.")));
	sf_archive_batch_delete_of(activity->activity_no);
}

/* Raise unless machines of the caller may have an activity as their archive. */
static void
check_archive(const char *name)
{
	const SfActivity *activity = sf_activity_read(name);

	if (activity == NULL || !sf_privilege_check(SF_OBJECT_ACTIVITY, name, activity->owner, SF_RIGHT_WORK))
		ereport(ERROR,
				(errcode(ERRCODE_SF_ACTIVITY_DOES_NOT_EXIST),
				 errmsg("activity \"%s\" of option archive does not exist, or you have no right to WORK for it", name),
				 errhint("sf_create_activity() creates one, its owner grants WORK with sf_grant().")));
}

/* Read how many archives there are, and how many are behind. */
static void
read_counts(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_archives = 1, COL_problems};
	int64	   *counts = arg;

	counts[0] = sf_row_number(tuple, desc, COL_archives, 0);
	counts[1] = sf_row_number(tuple, desc, COL_problems, 0);
}

/* Show how many archives are behind, if there are archives. */
static void
put_health(SfHealthPut put, void *arg)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) AS archives, pg_catalog.count(l.problem) AS problems FROM _sfflow.archive_lag l");
	int64		counts[2] = {0, 0};

	sf_db_run(InvalidOid, &plan, read_counts, counts, NULL, 0);
	if (counts[0] > 0)
		put(arg, "archive", counts[1] == 0,
			psprintf(INT64_FORMAT " of " INT64_FORMAT " archives are behind%s", counts[1], counts[0],
					 counts[1] == 0 ? "" : ", and their executions are kept: is sfworker --archive running? See sf_alerts"));
}

const SfFeature sf_archive_feature = {
	.name = "archive",
	.tables = tables,
	.check_archive = check_archive,
	.on_object_dropped = object_dropped,
	.put_health = put_health,
};
