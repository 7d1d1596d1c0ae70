/*
 * tags.c
 *		Tags of state machines and activities.
 *
 * They are stored as an object, {"key": "value"}, and shown as a list of objects.
 */
#include "postgres.h"

#include "api/objects.h"
#include "aws_api/operations.h"
#include "aws_api/request/call.h"
#include "base/version/compat.h"
#include "store/state_machine/aws_resource.h"

#define MAX_TAGS	50

/* The tags of a request laid over those before (NULL: none); NULL: there are none at all. */
Jsonb *
sf_tags_read(const SfCall *call, const Jsonb *before)
{
	Jsonb	   *given = sf_request_document(call, "tags");
	JsonbValue	list,
				tag;
	JsonbIterator *it;
	SfJsonBuilder json;
	Jsonb	   *tags;

	if (given == NULL)
		return unconstify(Jsonb *, before);
	sf_json_root(given, &list);
	sf_json_begin_object(&json);
	for (it = sf_json_elements(&list); sf_json_next(&it, &tag);)
	{
		Jsonb	   *document = sf_json_make(&tag);

		sf_json_add_string(&json, sf_json_get_cstring(document, "key"), sf_json_get_cstring(document, "value"));
	}
	tags = sf_json_merge(before, sf_json_end(&json));
	if (JB_ROOT_COUNT(tags) > MAX_TAGS)
		sf_refusal_raise(SF_REFUSAL_TOO_MANY_TAGS, "A resource may have at most %d tags.", MAX_TAGS);
	return tags;
}

/* The object that tags are of */
typedef struct Tagged
{
	SfObjectKind kind;
	const char *name;
	Oid			owner;
} Tagged;

/* Raise the error for an ARN of nothing that has tags. */
static void pg_attribute_noreturn()
not_found(const SfCall *call)
{
	sf_refusal_raise(SF_REFUSAL_RESOURCE_NOT_FOUND, "%s", call->subject);
}

/* Find the object in a request; versions, aliases and executions have no tags. */
static Tagged
read_tagged(SfCall *call, SfRight needed)
{
	bool		is_activity = strstr(sf_request_text(call, "resourceArn"), ":activity:") != NULL;
	SfActivity *activity;
	SfMachine  *machine;
	Tagged		tagged = {.kind = is_activity ? SF_OBJECT_ACTIVITY : SF_OBJECT_STATE_MACHINE};

	tagged.name = sf_request_id(call, "resourceArn",
								is_activity ? SF_NAME_ACTIVITY : SF_NAME_STATE_MACHINE);
	activity = is_activity ? sf_activity_read(tagged.name) : NULL;
	machine = is_activity ? NULL : sf_machine_read(tagged.name, SF_NO_VERSION, false);
	if (activity == NULL && machine == NULL)
		not_found(call);
	tagged.owner = is_activity ? activity->owner : machine->owner;
	if (!sf_privilege_check(tagged.kind, tagged.name, tagged.owner, SF_RIGHT_ANY))
		not_found(call);
	sf_object_require(tagged.kind, tagged.name, tagged.owner, needed);
	return tagged;
}

/* Find the object whose tags the caller changes: it stays there until the end of the transaction. */
static Tagged
lock_tagged(SfCall *call)
{
	Tagged		tagged = read_tagged(call, SF_RIGHT_OWNER);

	tagged.owner = sf_object_lock(tagged.kind, tagged.name, SF_NAMED_LOCK_KEEP);
	if (!OidIsValid(tagged.owner) || !sf_privilege_check(tagged.kind, tagged.name, tagged.owner, SF_RIGHT_ANY))
		not_found(call);
	sf_object_require(tagged.kind, tagged.name, tagged.owner, SF_RIGHT_OWNER);
	return tagged;
}

/* ListTagsForResource. */
void
sf_operation_list_tags(SfCall *call)
{
	Tagged		tagged = read_tagged(call, SF_RIGHT_ANY);
	Jsonb	   *tags = sf_aws_resource_tags(tagged.kind, tagged.name);
	SfJsonMember *members = NULL;
	JsonbValue	object;
	int			n = 0;

	sf_json_open_array(&call->answer, "tags");
	if (tags != NULL)
	{
		sf_json_root(tags, &object);
		members = sf_json_members(&object, &n);
	}
	for (int i = 0; i < n; i++)
	{
		sf_json_open_object(&call->answer, NULL);
		sf_json_add_value(&call->answer, "key", &members[i].key);
		sf_json_add_value(&call->answer, "value", &members[i].value);
		sf_json_close_object(&call->answer);
	}
	sf_json_close_array(&call->answer);
}

/* TagResource: a tag with the same key is replaced. */
void
sf_operation_tag(SfCall *call)
{
	Tagged		tagged = lock_tagged(call);
	Jsonb	   *before = sf_aws_resource_tags(tagged.kind, tagged.name);

	sf_aws_resource_write(tagged.kind, tagged.name,
						  sf_tags_read(call, before != NULL ? before : sf_json_empty_object()), NULL);
}

/* Tell whether a list of strings has one. */
static bool
is_listed(const JsonbValue *list, const JsonbValue *wanted)
{
	JsonbValue	value;

	for (JsonbIterator *it = sf_json_elements(list); sf_json_next(&it, &value);)
		if (value.type == jbvString && sf_json_value_is_equal(&value, wanted))
			return true;
	return false;
}

/* UntagResource: keys without a tag are ignored. */
void
sf_operation_untag(SfCall *call)
{
	Tagged		tagged = lock_tagged(call);
	Jsonb	   *before = sf_aws_resource_tags(tagged.kind, tagged.name);
	Jsonb	   *keys = sf_request_document(call, "tagKeys");
	JsonbValue	object,
				list;
	SfJsonMember *members;
	SfJsonBuilder json;
	int			n;

	if (before == NULL)
		return;
	sf_json_root(keys, &list);
	sf_json_root(before, &object);
	members = sf_json_members(&object, &n);
	sf_json_begin_object(&json);
	for (int i = 0; i < n; i++)
		if (!is_listed(&list, &members[i].key))
			sf_json_add_value(&json, pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len),
							  &members[i].value);
	sf_aws_resource_write(tagged.kind, tagged.name, sf_json_end(&json), NULL);
}
