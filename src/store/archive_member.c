/*
 * archive_member.c
 *		Keep executions as they are that a program is writing into an archive.
 */
#include "postgres.h"

#include "base/errors.h"
#include "store/archive_member.h"

/* Is a program writing an execution, whose row the caller has locked, into an archive? */
bool
sf_archive_has(int64 execution_no)
{
	static SfPlan plan = SF_PLAN("SELECT 1 FROM _sfflow.archive_member a WHERE a.execution_no = $1");

	return sf_store_number(&plan, 0, SF_INT8(execution_no)) == 1;
}

/* Refuse to change an execution, whose row the caller has locked, that a program is writing into an archive. */
void
sf_archive_require_free(const SfExecution *execution)
{
	if (sf_archive_has(execution->execution_no))
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("execution \"%s\" is being archived, and is deleted after that", execution->execution_id),
				 errhint("When it is gone, sf_start() begins another execution of this name.")));
}
