/*
 * console_functions.c
 *		What the console has to know of roles: whether a session may go on, and which
 *		actions to offer; what runs for longest; and sf_console_api_as().
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/role/role.h"
#include "base/version/compat.h"
#include "base/version/schema.h"
#include "sql_task/sql_task.h"
#include "store/execution/execution_list.h"
#include "store/role/privilege.h"
#include "store/state_machine/machine.h"

/*
 * sf_console_session(): a text that stays the same as long as the role that has
 * logged in is not altered, as by a new password; NULL when the role is gone or
 * could not log in anew.  The transaction that wrote the role's row tells of a
 * change, and nothing of the password.
 */
SF_SQL_FUNCTION(sfflow_sf_console_session)
{
	HeapTuple	role = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetSessionUserId()));
	char	   *version = NULL;

	if (!HeapTupleIsValid(role))
		PG_RETURN_NULL();
	if (sf_role_may_log_in(GetSessionUserId()))
		version = psprintf("%u/%u", ((Form_pg_authid) GETSTRUCT(role))->oid,
						   HeapTupleHeaderGetRawXmin(role->t_data));
	ReleaseSysCache(role);
	if (version == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(version));
}

/*
 * machine_rights(machine, owner): the rights on a machine that the current user has; OWN if it
 * is its owner.  The owner is looked up, whatever the caller says.
 */
SF_SQL_FUNCTION(sfflow_machine_rights)
{
	static const SfRight rights[] = {SF_RIGHT_START, SF_RIGHT_OPERATE};
	char	   *machine = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Oid			owner = sf_machine_owner(machine);
	Datum		names[lengthof(rights) + 1];
	int			n = 0;

	if (OidIsValid(owner) && sf_privilege_is_owner(owner))
		names[n++] = CStringGetTextDatum("OWN");
	for (size_t i = 0; i < lengthof(rights); i++)
	{
		if (OidIsValid(owner) &&
			sf_privilege_check(SF_OBJECT_STATE_MACHINE, machine, owner, rights[i]))
			names[n++] = CStringGetTextDatum(sf_privilege_name(sf_right_privilege(rights[i])));
	}
	PG_RETURN_ARRAYTYPE_P(construct_array(names, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* may_create(): whether the current user may make machines, activities and rules. */
SF_SQL_FUNCTION(sfflow_may_create)
{
	PG_RETURN_BOOL(sf_privilege_may_create());
}

/*
 * took_ms(execution_id): the milliseconds for which an execution has run, without the time between
 * its ends and its redrives; NULL: it has not begun, or the caller may not read it.
 */
SF_SQL_FUNCTION(sfflow_took_ms)
{
	char	   *id = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *machine = pnstrdup(id, strcspn(id, ":/"));
	Oid			owner = sf_machine_owner(machine);
	SfExecution *execution;
	int64		us;

	if (!OidIsValid(owner) ||
		!sf_privilege_check(SF_OBJECT_STATE_MACHINE, machine, owner, SF_RIGHT_READ))
		PG_RETURN_NULL();
	execution = sf_execution_find_head(id);
	us = execution == NULL ? SF_NO_DURATION :
		sf_execution_took_us(execution->started_at, execution->stopped_at, execution->idle_us, GetCurrentTimestamp());
	if (!sf_duration_is_known(us))
		PG_RETURN_NULL();
	PG_RETURN_INT64(us / 1000);
}

/*
 * longest_running(most): of each machine that the caller may read the executions that run
 * for longest, so many at most, and how many of its executions run; times are without that between
 * an end and a redrive.
 */
SF_SQL_FUNCTION(sfflow_longest_running)
{
	int			nmachines;
	int		   *machines = sf_object_machines(SF_ALL_MACHINES, InvalidOid, SF_RIGHT_READ, &nmachines);

	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(const SfRunningExecution, e, sf_running_list(machines, nmachines, PG_GETARG_INT32(0)))
	{
		SfColumns	row = {0};

		sf_columns_text(&row, pnstrdup(e->execution_id, strcspn(e->execution_id, ":")));
		sf_columns_text(&row, e->execution_id);
		sf_columns_time(&row, e->requested_at);
		sf_columns_time(&row, e->started_at);
		sf_columns_add(&row, Int64GetDatum(e->running), false);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* An action of the console for a role */
typedef struct ConsoleCall
{
	const char *action;
	const Jsonb *request;
	Datum		answer;
} ConsoleCall;

/* Do an action as the role of the moment. */
static void
answer(void *arg)
{
	static const Oid types[] = {TEXTOID, JSONBOID};
	ConsoleCall *call = arg;
	Oid			function = LookupFuncName(list_make2(makeString("_sfflow"), makeString("console")), lengthof(types),
										  types, false);

	call->answer = OidFunctionCall2(function, CStringGetTextDatum(call->action), JsonbPGetDatum(call->request));
}

/* sf_console_api_as(role, action, request, writes): an answer of the console, with the rights of a role. */
SF_SQL_FUNCTION(sfflow_sf_console_api_as)
{
	ConsoleCall call = {
		.action = sf_arg_text(fcinfo, 1, "action"),
		.request = sf_arg_jsonb(fcinfo, 2, "request")
	};
	bool		writes = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);

	sf_identity_work_as(sf_arg_session_role(fcinfo, 0, "sf_console_api_as"), !writes, answer, &call);
	PG_RETURN_DATUM(call.answer);
}
