/*
 * start_key_functions.c
 *		sf_leave_start_key().
 */
#include "postgres.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/version/schema.h"
#include "feature/start_key/start_key.h"
#include "store/audit/audit.h"

/* sf_leave_start_key(execution_id): whether it had a place that it keeps after its end. */
SF_SQL_FUNCTION(sfflow_sf_leave_start_key)
{
	char	   *id = sf_arg_text(fcinfo, 0, "execution_id");
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_WAIT, SF_RIGHT_OPERATE);

	if (!sf_start_key_leave(sf_start_key_find(execution->execution_no)))
		PG_RETURN_BOOL(false);
	sf_audit_note_execution(execution, "leave_start_key", NULL, NULL);
	PG_RETURN_BOOL(true);
}
