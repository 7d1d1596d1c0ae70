/*
 * access.c
 *		Read and write the private tables as their owner, through SPI.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "store/access.h"
#include "store/privilege.h"

/* Take on the identity of the extension's owner and connect to SPI. */
void
sf_access_enter(SfAccess *access)
{
	GetUserIdAndSecContext(&access->user, &access->security_context);
	SetUserIdAndSecContext(sf_privilege_extension_owner(),
						   access->security_context | SECURITY_LOCAL_USERID_CHANGE);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

/* Disconnect from SPI and be again who called. */
void
sf_access_leave(const SfAccess *access)
{
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	SetUserIdAndSecContext(access->user, access->security_context);
}

/* Prepare a statement unless this session has done so before. */
static void
prepare(SfStatement *statement)
{
	SPIPlanPtr	plan;

	if (statement->plan != NULL)
		return;
	plan = SPI_prepare(statement->sql, statement->nargs, statement->types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s: %s",
			 SPI_result_code_string(SPI_result), statement->sql);
	if (SPI_keepplan(plan) != 0)
		elog(ERROR, "SPI_keepplan failed");
	statement->plan = plan;
}

/* Execute a statement and return the number of its rows. */
uint64
sf_access_execute(SfStatement *statement, Datum *values, const char *nulls,
				  bool read_only)
{
	int			rc;

	prepare(statement);
	rc = SPI_execute_plan(statement->plan, values, nulls, read_only, 0);
	if (rc < 0)
		elog(ERROR, "SPI_execute_plan failed: %s: %s",
			 SPI_result_code_string(rc), statement->sql);
	return SPI_processed;
}

/* Open a cursor over a read-only statement. */
Portal
sf_access_open(SfStatement *statement, Datum *values, const char *nulls)
{
	Portal		portal;

	prepare(statement);
	portal = SPI_cursor_open(NULL, statement->plan, values, nulls, true);
	if (portal == NULL)
		elog(ERROR, "SPI_cursor_open failed: %s: %s",
			 SPI_result_code_string(SPI_result), statement->sql);
	return portal;
}
