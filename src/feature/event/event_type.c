/*
 * event_type.c
 *		Types of events: the table, and a cache of it in each backend.
 *
 * What uses a type, a wait or an emission, keeps it from being dropped until its commit (store/role/named_lock.h).
 * The session that drops the type waits for that, and sees every wait.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/objects.h"
#include "base/error/errors.h"
#include "feature/event/event_by_key.h"
#include "store/role/owner.h"
#include "store/role/privilege.h"

/* The first columns of _sfflow.event_type; see sql/parts/feature/event.sql */
enum
{
	COL_event_type_no = 1, COL_name, COL_owner, COL_ttl, COL_remember_ids, COL_deliver, COL_created_at,
	COL_alert_unreceived
};

/* Who emits an event waits so long for a transaction that drops its type, or so */
#define EMIT_LOCK_MS	10000

/* What a name of an event begins with */
#define PREFIX		"event:"

/* Append a row of the table to a list. */
static void
read_event_type(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **types = arg;
	SfEventType *type = palloc(sizeof(SfEventType));
	bool		isnull;

	type->event_type_no = sf_row_number(tuple, desc, COL_event_type_no, 0);
	type->name = sf_row_text(tuple, desc, COL_name);
	type->owner = sf_row_number(tuple, desc, COL_owner, InvalidOid);
	type->ttl = *DatumGetIntervalP(heap_getattr(tuple, COL_ttl, desc, &isnull));
	type->deliver = sf_receivers_read(tuple, desc, COL_deliver);
	type->alerts = sf_row_number(tuple, desc, COL_alert_unreceived, 0) != 0;
	*types = lappend(*types, type);
}

SfKeyedCache sf_event_type_cache = {
	.cache = {.table = "event_type",.load = sf_keyed_cache_begin,.is_latest = true},
	.index = {"event_type", "event_type_pkey"},
	.read = sf_keyed_cache_find,
	.rows = {
		.by = {
			[SF_CACHE_BY_NUMBER] = {"event_type_pkey", INT4OID},
			[SF_CACHE_BY_NAME] = {"event_type_name_key", TEXTOID}
		},
		.append = read_event_type
	}
};

/* Find a type by its name; NULL: there is none now.  Valid until the next call. */
const SfEventType *
sf_event_type_find(const char *name)
{
	return sf_list_first(sf_keyed_cache_get(&sf_event_type_cache, &(SfCacheKey) {.by = SF_CACHE_BY_NAME,.name = name}));
}

/* Find a type by its number, likewise. */
const SfEventType *
sf_event_type_by_number(int event_type_no)
{
	return sf_list_first(sf_keyed_cache_get(&sf_event_type_cache,
											&(SfCacheKey) {.by = SF_CACHE_BY_NUMBER,.number = event_type_no}));
}

/* Find a type, and keep it from being dropped until the end of the transaction; NULL: there is none. */
const SfEventType *
sf_event_type_keep(const char *name)
{
	/* a caller may have it from the cache, which is read again below */
	name = pstrdup(name);
	if (sf_event_type_find(name) == NULL)
		return NULL;
	sf_named_lock(SF_OBJECT_EVENT, name, SF_NAMED_LOCK_KEEP);
	return sf_event_type_find(name);
}

/* The same for who emits an event, in a transaction that may have others wait: raise where its lock does not come. */
const SfEventType *
sf_event_type_keep_to_emit(const char *name)
{
	name = pstrdup(name);
	if (sf_event_type_find(name) == NULL)
		return NULL;
	if (!sf_named_lock_within(SF_OBJECT_EVENT, name, SF_NAMED_LOCK_KEEP, EMIT_LOCK_MS))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("event \"%s\" is being dropped by another transaction", name),
				 errhint("That is still open.  Try again when it has ended.")));
	return sf_event_type_find(name);
}

/* Find a type by "name" or "event:name", and raise unless the caller has a right on it. */
const SfEventType *
sf_event_type_require(const char *text, int privilege)
{
	const char *name = strncmp(text, PREFIX, strlen(PREFIX)) == 0 ? text + strlen(PREFIX) : text;
	const SfEventType *type = sf_event_type_find(name);

	sf_object_require(SF_OBJECT_EVENT, name, type == NULL ? InvalidOid : type->owner, privilege);
	if (type == NULL)
		sf_object_missing(SF_OBJECT_EVENT, name);
	return type;
}

/* Raise unless a role may emit events of a type, as the owner of a rule has to. */
void
sf_event_type_require_emit(const char *name, Oid owner)
{
	const SfEventType *type = sf_event_type_find(name);

	/* what the owner has no right at all on does not exist for it */
	if (type == NULL || !sf_privilege_check_role(owner, SF_OBJECT_EVENT, name, type->owner, SF_RIGHT_ANY))
		sf_object_missing(SF_OBJECT_EVENT, name);
	if (!sf_privilege_check_role(owner, SF_OBJECT_EVENT, name, type->owner, SF_RIGHT_EMIT))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the owner of the rule has no right to emit event \"%s\"", name),
				 errhint("A member of the event's owner can give it: SELECT sf_grant('EMIT', %s, %s).",
						 quote_literal_cstr(psprintf(PREFIX "%s", name)),
						 quote_literal_cstr(GetUserNameFromId(owner, false)))));
}

/* The owner of a type that the caller may change, or raise. */
Oid
sf_event_type_require_own(const char *name)
{
	return sf_event_type_require(name, SF_RIGHT_OWNER)->owner;
}

/* Insert a type of the caller; false: the name is taken. */
bool
sf_event_type_insert(const char *name, SfArg ttl, SfArg remember, SfReceivers deliver, SfArg alert)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.event_type (name, owner, ttl, remember_ids, deliver, created_at, alert_unreceived)"
		" VALUES ($1, $2, $3, $4, $5, pg_catalog.clock_timestamp(), $6) ON CONFLICT DO NOTHING");

	if (sf_db_execute(&plan, SF_TEXT(name), SF_ROLE(GetUserId()), ttl, remember, sf_receivers_arg(deliver),
					  alert) == 0)
		return false;
	sf_db_invalidate("event_type");
	return true;
}

/* Delete a type, of which there are no events any more. */
void
sf_event_type_delete(int event_type_no)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.event_type t WHERE t.event_type_no = $1");

	sf_db_execute(&plan, SF_INT4(event_type_no));
	sf_db_invalidate("event_type");
}

/* Give a type that the caller owns to another role; returns the previous owner. */
Oid
sf_event_type_set_owner(const char *name, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.event_type t SET owner = $2 WHERE t.name = $1");
	Oid			before;

	(void) sf_event_type_require_own(name);
	before = sf_object_lock_own(SF_OBJECT_EVENT, name, SF_NAMED_LOCK_CHANGE);
	sf_db_execute(&plan, SF_TEXT(name), SF_ROLE(owner));
	sf_db_invalidate("event_type");
	return before;
}

/* --- alerts --- */

/* Say in a notice of an alert what it is of. */
void
sf_event_type_notice(SfNotice *notice, const char *name)
{
	const SfEventType *type = sf_event_type_find(name);

	notice->resource = NULL;
	if (type == NULL)
		return;
	notice->owner = type->owner;
	notice->event_type = pstrdup(type->name);
}

/* The target of alerts of a type, "event:name", which the caller owns; NULL: it is none. */
const char *
sf_event_type_alert_target(const char *text)
{
	if (strncmp(text, PREFIX, strlen(PREFIX)) != 0)
		return NULL;
	(void) sf_event_type_require_own(text);
	return text;
}

/*
 * Acknowledge that no execution has received the events of a type that have ended; returns how many alerts there
 * were.
 */
int64
sf_event_type_acknowledge(const SfAcknowledge *what)
{
	const SfEventType *type;

	if (what->of != SF_ALERTS_OF_TARGET || strncmp(sf_acknowledge_target(what), PREFIX, strlen(PREFIX)) != 0 ||
		(what->kind != NULL && strcmp(what->kind, SF_ALERT_KIND_UNRECEIVED_EVENT) != 0))
		return 0;
	type = sf_event_type_find(sf_acknowledge_target(what) + strlen(PREFIX));
	return type != NULL && sf_emission_acknowledge(type) > 0;
}
