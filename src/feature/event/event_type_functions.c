/*
 * event_type_functions.c
 *		sf_create_event(), sf_drop_event().
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "feature/event/event_by_key.h"
#include "store/audit/audit.h"
#include "store/role/privilege.h"

/* sf_create_event(name, ttl, remember_ids, deliver, alert_unreceived) */
SF_SQL_FUNCTION(sfflow_sf_create_event)
{
	static SfPlan same = SF_PLAN(
		"SELECT t.owner FROM _sfflow.event_type t WHERE t.name = $1 AND t.ttl = $2 AND t.remember_ids = $3"
		" AND t.deliver = $4 AND t.alert_unreceived = $5");
	char	   *name = sf_arg_text(fcinfo, 0, "name");
	SfReceivers deliver = sf_receivers_parse(sf_arg_text(fcinfo, 3, "deliver"));
	SfArg		ttl = sf_emission_duration(fcinfo, 1, "ttl");
	SfArg		remember = sf_emission_duration(fcinfo, 2, "remember_ids");
	SfArg		alert = SF_BOOL(!PG_ARGISNULL(4) && PG_GETARG_BOOL(4));
	Oid			owner;

	sf_name_check(name, "event name");
	if (!sf_privilege_may_create())
		sf_deny_create();
	if (sf_event_type_insert(name, ttl, remember, deliver, alert))
	{
		sf_privilege_anchor(GetUserId());
		sf_audit_note("create", SF_OBJECT_EVENT, name, psprintf("event:%s", name), NULL, NULL);
		PG_RETURN_VOID();
	}
	/* the same call again is no error, as with activities */
	owner = sf_db_number(&same, InvalidOid, SF_TEXT(name), ttl, remember, sf_receivers_arg(deliver), alert);
	if (!OidIsValid(owner) || !sf_privilege_is_owner(owner))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("event \"%s\" exists with other settings, or of another owner", name)));
	PG_RETURN_VOID();
}

/* sf_drop_event(name): with its events; nothing may wait for them. */
SF_SQL_FUNCTION(sfflow_sf_drop_event)
{
	static SfPlan count = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM _sfflow.awaited_event w WHERE w.event_type_no = $1");
	char	   *name = pstrdup(sf_event_type_require(sf_arg_text(fcinfo, 0, "name"), SF_RIGHT_OWNER)->name);
	SfEventType type;
	int64		waits;

	(void) sf_object_lock_own(SF_OBJECT_EVENT, name, SF_NAMED_LOCK_DROP);
	/* another one may have its name by now */
	type = *sf_event_type_require(name, SF_RIGHT_OWNER);
	type.name = name;
	waits = sf_snapshot_number_now(&count, 0, SF_INT4(type.event_type_no));
	if (waits > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("event \"%s\" is waited for by " INT64_FORMAT " branches", type.name, waits),
				 errhint("Stop their executions first; sf_event_waits shows them.")));
	sf_privilege_delete_of_object(SF_OBJECT_EVENT, type.name);
	sf_audit_delete_of_object(SF_OBJECT_EVENT, type.name);
	SF_TELL(on_object_dropped, SF_OBJECT_EVENT, type.name);
	sf_emission_delete_type(type.event_type_no);
	sf_event_type_delete(type.event_type_no);
	sf_audit_note("drop", SF_OBJECT_ALL, "*", psprintf("event:%s", type.name), NULL, NULL);
	sf_privilege_unanchor(type.owner);
	PG_RETURN_VOID();
}
