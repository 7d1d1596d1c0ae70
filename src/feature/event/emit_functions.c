/*
 * emit_functions.c
 *		sf_emit(), sf_emit_many(), sf_withdraw_event(), and what rules emit and start.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/compat.h"
#include "base/version/schema.h"
#include "feature/event/event_by_key.h"
#include "feature/rule/watcher.h"
#include "run/task/origin.h"
#include "store/feature.h"
#include "store/role/privilege.h"

/* Longest id, in bytes: it stands in an index */
#define MAX_ID			256

/* What the id of an event begins with that was given none */
#define OWN_ID			"sf-"

/* An event that is emitted */
typedef struct Emit
{
	char	   *key;
	char	   *id;				/* or NULL */
	Jsonb	   *payload;		/* or NULL */
	const Interval *ttl;		/* NULL: that of the type */
	SfReceivers deliver;
} Emit;

/* --- arguments --- */

/* The text of a key, or an id, that is a string or a number; NULL: it is neither. */
char *
sf_emission_text(const JsonbValue *value)
{
	StringInfoData buf;

	if (value->type == jbvString)
		return pnstrdup(value->val.string.val, value->val.string.len);
	if (value->type != jbvNumeric)
		return NULL;
	initStringInfo(&buf);
	sf_json_append_text(&buf, value);
	return buf.data;
}

/* Read an interval that is not negative. */
SfArg
sf_emission_duration(FunctionCallInfo fcinfo, int n, const char *name)
{
	(void) sf_arg_duration_ms(fcinfo, n, name);
	return sf_query_arg(INTERVALOID, PG_GETARG_DATUM(n), false);
}

/* Raise unless a text has as many bytes as it may have. */
static void
check_length(const char *text, const char *name, int most)
{
	if (text[0] == '\0' || strlen(text) > (size_t) most)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument %s must have 1 to %d bytes", name, most)));
}

/* Check what an event is emitted with. */
static void
check(const Emit *emit)
{
	check_length(emit->key, "key", SF_EVENT_KEY_MAX);
	if (emit->payload != NULL)
		sf_arg_check_size(emit->payload, "payload");
	if (emit->id == NULL)
		return;
	check_length(emit->id, "id", MAX_ID);
	if (strncmp(emit->id, OWN_ID, strlen(OWN_ID)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument id must not begin with \"" OWN_ID "\""),
				 errdetail("Events that are given no id have such ones.")));
}

/* --- emitting --- */

/* Tell rules of an event. */
static void
tell_rules(const SfEventType *type, const Emit *emit, const char *id)
{
	SfNotice	notice = {
		.kind = SF_CHANGE_EMISSION,.at = GetCurrentTimestamp(),.owner = type->owner,.event_type = pstrdup(type->name)
	};
	const SfOrigin *task = sf_origin_of(SF_ORIGIN_TASK);
	SfJsonBuilder json;

	if (!sf_feature_wants_notice(SF_CHANGE_EMISSION, NULL))
		return;
	if (task != NULL)
		notice.execution = sf_execution_read(sf_origin_task(task)->execution_no, SF_LOCK_NONE, false);
	if (notice.execution != NULL)
		notice.resource = sf_public_name(SF_NAME_EXECUTION, notice.execution->execution_id);
	sf_json_begin_object(&json);
	sf_json_add_string(&json, "key", emit->key);
	sf_json_add_string(&json, "id", id);
	if (emit->payload == NULL)
		sf_json_add_null(&json, "payload");
	else
		sf_json_add(&json, "payload", emit->payload);
	sf_notice_add_text(&json, "executionArn", notice.resource);
	sf_notice_tell(&notice, &json);
}

/* Insert an event, and return its id; NULL: there is one with this id. */
static char *
insert(const SfEventType *type, const Emit *emit)
{
	int64		event_no = sf_emission_insert(type, emit->key, emit->id, emit->deliver,
										  emit->ttl == NULL ? &type->ttl : emit->ttl, emit->payload);
	char	   *id;

	if (event_no == 0)
		return NULL;
	sf_hooks.sweep_soon();
	id = emit->id != NULL ? emit->id : psprintf(OWN_ID INT64_FORMAT, event_no);
	tell_rules(type, emit, id);
	return id;
}

/* Find a type that the caller may emit events of, and keep it. */
static const SfEventType *
type_to_emit(const char *name)
{
	const SfEventType *type = sf_event_type_require(name, SF_RIGHT_EMIT);

	type = sf_event_type_keep_to_emit(type->name);
	if (type == NULL)
		sf_object_missing(SF_OBJECT_EVENT, name);
	return type;
}

/* sf_emit(name, key, payload, id, ttl, deliver): the id. */
SF_SQL_FUNCTION(sfflow_sf_emit)
{
	const SfEventType *type = type_to_emit(sf_arg_text(fcinfo, 0, "name"));
	Emit		emit = {
		.key = sf_arg_text(fcinfo, 1, "key"),
		.payload = sf_arg_jsonb_or_null(fcinfo, 2),
		.id = sf_arg_text_or_null(fcinfo, 3),
		.deliver = PG_ARGISNULL(5) ? type->deliver : sf_receivers_parse(sf_arg_text(fcinfo, 5, "deliver"))
	};
	char	   *id;

	if (!PG_ARGISNULL(4))
		emit.ttl = DatumGetIntervalP(sf_emission_duration(fcinfo, 4, "ttl").value);
	check(&emit);
	id = insert(type, &emit);
	if (id == NULL)
		ereport(NOTICE,
				(errmsg("event \"%s\" with id \"%s\" was emitted before", type->name, emit.id)));
	PG_RETURN_TEXT_P(cstring_to_text(id == NULL ? emit.id : id));
}

/* Raise for an event of an array, or (0) of a rule. */
static void pg_attribute_noreturn()
refuse_element(int n, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("%s %s", n == 0 ? "the input that the rule makes" : psprintf("element %d of argument events", n), what),
			 errhint("It is an object with \"key\", and maybe \"payload\" and \"id\".")));
}

/* Take a member of an element. */
static void
read_member(Emit *emit, const SfJsonMember *member, int n)
{
	char	   *name = pnstrdup(member->key.val.string.val, member->key.val.string.len);
	char	  **text = strcmp(name, "key") == 0 ? &emit->key : strcmp(name, "id") == 0 ? &emit->id : NULL;

	if (strcmp(name, "payload") == 0)
	{
		emit->payload = member->value.type == jbvNull ? NULL : sf_json_make(&member->value);
		return;
	}
	if (text == NULL)
		refuse_element(n, psprintf("has a member \"%s\"", name));
	*text = sf_emission_text(&member->value);
	if (*text == NULL && member->value.type != jbvNull)
		refuse_element(n, psprintf("has a member \"%s\" that is neither a string nor a number", name));
}

/* Read an event of an array, or (0) of a rule. */
static Emit
read_element(Jsonb *element, int n)
{
	Emit		emit = {0};
	JsonbValue	root;
	SfJsonMember *members;
	int			count;

	sf_json_root(element, &root);
	if (!sf_json_is_object(&root))
		refuse_element(n, "is no object");
	members = sf_json_members(&root, &count);
	for (int i = 0; i < count; i++)
		read_member(&emit, &members[i], n);
	if (emit.key == NULL)
		refuse_element(n, "has no key");
	check(&emit);
	return emit;
}

/* sf_emit_many(name, events): how many are new. */
SF_SQL_FUNCTION(sfflow_sf_emit_many)
{
	const SfEventType *type = type_to_emit(sf_arg_text(fcinfo, 0, "name"));
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	int64		fresh = 0;

	if (PG_ARGISNULL(1))
		PG_RETURN_INT64(0);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), JSONBOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		Emit		emit;

		CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			refuse_element(i + 1, "is null");
		emit = read_element(DatumGetJsonbP(elements[i]), i + 1);
		emit.deliver = type->deliver;
		fresh += insert(type, &emit) != NULL;
	}
	PG_RETURN_INT64(fresh);
}

/*
 * sf_withdraw_event(name, key, id): was it still to be given?  Sweeps of the key wait until the transaction has
 * ended.
 */
SF_SQL_FUNCTION(sfflow_sf_withdraw_event)
{
	const SfEventType *type = type_to_emit(sf_arg_text(fcinfo, 0, "name"));
	char	   *key = sf_arg_text(fcinfo, 1, "key");
	char	   *id = sf_arg_text(fcinfo, 2, "id");

	(void) sf_event_key_lock(type->event_type_no, key, SF_EVENT_KEY_LOCK_SHARED);
	PG_RETURN_BOOL(sf_emission_withdraw(type, key, id, GetCurrentTimestamp()));
}

/* --- rules --- */

/* Emit what a rule says, as the owner of the rule; unless it gives an id, that of the event that matched is used. */
void
sf_emission_by_rule(const char *name, Oid owner, Jsonb *event, char *id)
{
	const SfEventType *type;
	Emit		emit = read_element(event, 0);

	sf_event_type_require_emit(name, owner);
	type = sf_event_type_keep_to_emit(name);
	if (type == NULL)
		sf_object_missing(SF_OBJECT_EVENT, name);
	if (emit.id == NULL)
		emit.id = id;
	emit.deliver = type->deliver;
	(void) insert(type, &emit);
}

/*
 * An execution begins, or has another input before it does: if a rule starts it for an event of sf_emit(), it has
 * received that one.
 */
void
sf_emission_starts(const SfExecution *execution)
{
	const SfOrigin *rule = sf_origin_of(SF_ORIGIN_RULE);
	const Jsonb *event = rule == NULL ? NULL : sf_origin_rule(rule)->event;
	const SfEventType *type;
	Jsonb	   *detail;

	if (event == NULL || strcmp(sf_json_get_cstring(event, "source"), "sfflow.events") != 0)
		return;
	type = sf_event_type_find(sf_json_get_cstring(event, "detail-type"));
	detail = sf_json_get(event, "detail");
	if (type != NULL)
		sf_emission_note_start(execution->execution_no, type, sf_json_get_cstring(detail, "key"),
							   sf_json_get_cstring(detail, "id"));
}
