/*
 * definition_document.c
 *		Whether a document is one that sf_apply() can read: which members it has, and of which types.
 *
 * The values are the business of the functions that they are given to.
 */
#include "postgres.h"

#include "api/definition/definitions.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "db/table.h"

/* Refuse a document for what it has at a pointer. */
void
sf_definition_refuse(const char *pointer, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_DOCUMENT),
			 errmsg("the document of definitions %s", problem),
			 errdetail("It is at \"%s\".", pointer)));
}

/* Read a row of definition_kind. */
static void
append_kind(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_section = 1, COL_kind, COL_prefix, COL_is_granted, COL_is_list, COL_has_owner, COL_members};
	List	  **kinds = arg;
	SfDefinitionKind *kind = palloc0(sizeof(SfDefinitionKind));
	char	   *rest;

	kind->section = sf_row_text(tuple, desc, COL_section);
	kind->kind = sf_row_text(tuple, desc, COL_kind);
	kind->prefix = sf_row_text(tuple, desc, COL_prefix);
	kind->is_granted = sf_row_number(tuple, desc, COL_is_granted, false) != 0;
	kind->is_list = sf_row_number(tuple, desc, COL_is_list, false) != 0;
	kind->has_owner = sf_row_number(tuple, desc, COL_has_owner, false) != 0;
	for (char *name = strtok_r(sf_row_text(tuple, desc, COL_members), ",", &rest); name != NULL;
		 name = strtok_r(NULL, ",", &rest))
		kind->members = lappend(kind->members, name);
	if (kind->has_owner)
		kind->members = lappend(kind->members, "owner");
	if (kind->is_granted)
		kind->members = lappend(lappend(kind->members, "grants"), "revoked_from_public");
	*kinds = lappend(*kinds, kind);
}

/* Read the kinds of objects that a document may have, a List of SfDefinitionKind. */
List *
sf_definition_kinds(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT k.section, k.kind, k.prefix, k.grants_on IS NOT NULL AS is_granted, k.is_list, k.has_owner,"
		" pg_catalog.array_to_string(k.members, ',') AS members FROM _sfflow.definition_kind k ORDER BY k.rank");
	List	   *kinds = NIL;

	sf_db_run(InvalidOid, &plan, append_kind, &kinds, NULL, 0);
	return kinds;
}

/* Find a kind by its name; NULL: it is that of a part, such as a version. */
const SfDefinitionKind *
sf_definition_find_kind(const List *kinds, const char *kind)
{
	foreach_ptr(const SfDefinitionKind, k, kinds)
		if (strcmp(k->kind, kind) == 0)
			return k;
	return NULL;
}

/* A member of an object, or an element of a list, with its JSON pointer */
typedef struct Part
{
	JsonbValue	value;
	char	   *name;			/* key or index */
	char	   *pointer;
} Part;

/* The pointer of a member. */
static char *
pointer_to(const char *pointer, const char *key)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, pointer);
	sf_json_append_pointer(&buf, key, strlen(key));
	return buf.data;
}

/* Make a part below a pointer. */
static Part *
make_part(const char *pointer, char *name, const JsonbValue *value)
{
	Part	   *part = palloc(sizeof(Part));

	*part = (Part) {*value, name, pointer_to(pointer, name)};
	return part;
}

/* List the elements of a list; a value of another type is refused. */
static List *
elements_of(const JsonbValue *value, const char *pointer)
{
	List	   *parts = NIL;
	JsonbIterator *it = sf_json_elements(value);
	JsonbValue	element;

	if (!sf_json_is_array(value))
		sf_definition_refuse(pointer, "must have a list there");
	while (sf_json_next(&it, &element))
		parts = lappend(parts, make_part(pointer, psprintf("%d", list_length(parts)), &element));
	return parts;
}

/* List the members of an object; a value of another type is refused. */
static List *
members_of(const JsonbValue *value, const char *pointer)
{
	List	   *parts = NIL;
	SfJsonMember *members;
	int			n;

	if (!sf_json_is_object(value))
		sf_definition_refuse(pointer, "must have an object there");
	members = sf_json_members(value, &n);
	for (int i = 0; i < n; i++)
		parts = lappend(parts, make_part(pointer, pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len),
										 &members[i].value));
	return parts;
}

/* Refuse a member that an object may not have. */
static void
check_member(const Part *part, const List *allowed)
{
	SfClosest	closest = sf_closest_begin(part->name);
	StringInfoData all;

	initStringInfo(&all);
	foreach_ptr(const char, name, allowed)
	{
		if (strcmp(part->name, name) == 0)
			return;
		sf_closest_offer(&closest, name);
		appendStringInfo(&all, "%s%s", all.len == 0 ? "" : ", ", name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_DOCUMENT),
			 errmsg("the document of definitions has an unknown member \"%s\"", part->name),
			 errdetail("It is at \"%s\".", part->pointer),
			 sf_closest_errhint(&closest, psprintf("The members there are: %s.", all.data))));
}

/* Refuse what is no string. */
static void
require_string(const Part *part)
{
	if (part->value.type != jbvString)
		sf_definition_refuse(part->pointer, "must have a string there");
}

/* Refuse a list of anything but strings. */
static void
require_strings(const Part *part)
{
	foreach_ptr(const Part, element, elements_of(&part->value, part->pointer))
		require_string(element);
}

/* Refuse a definition that is neither an object nor text. */
static void
check_definition(const Part *part)
{
	if (sf_json_is_array(&part->value))
		require_strings(part);
	else if (!sf_json_is_object(&part->value))
		require_string(part);
}

/* Refuse versions of a machine whose numbers are none, or that lack a definition. */
static void
check_versions(const Part *versions)
{
	const List *allowed = list_make3("definition", "execution_id_path", "options");

	foreach_ptr(const Part, version, members_of(&versions->value, versions->pointer))
	{
		bool		is_defined = false;

		if (version->name[0] == '0' || strlen(version->name) > 9 ||
			strspn(version->name, "0123456789") != strlen(version->name))
			sf_definition_refuse(version->pointer, "must have the number of a version there, from 1 on");
		foreach_ptr(const Part, member, members_of(&version->value, version->pointer))
		{
			check_member(member, allowed);
			if (strcmp(member->name, "definition") != 0)
				continue;
			check_definition(member);
			is_defined = true;
		}
		if (!is_defined)
			sf_definition_refuse(version->pointer, "must have a definition there");
	}
}

/* Check a member of any object, or of the document, that says something of rights; false: it says nothing of them. */
static bool
check_rights(const Part *member)
{
	if (strcmp(member->name, "grants") == 0)
	{
		foreach_ptr(const Part, privilege, members_of(&member->value, member->pointer))
			require_strings(privilege);
		return true;
	}
	if (strcmp(member->name, "revoked_from_public") != 0)
		return false;
	require_strings(member);
	return true;
}

/* Check an object of a kind. */
static void
check_object(const Part *object, const SfDefinitionKind *kind)
{
	bool		has_versions = false;
	bool		has_definition = false;

	foreach_ptr(const Part, member, members_of(&object->value, object->pointer))
	{
		check_member(member, kind->members);
		if (check_rights(member))
			continue;
		if (strcmp(member->name, "owner") == 0)
			require_string(member);
		else if (strcmp(member->name, "versions") == 0)
		{
			check_versions(member);
			has_versions = true;
		}
		else if (strcmp(member->name, "definition") == 0)
		{
			check_definition(member);
			has_definition = true;
		}
		else if (strcmp(member->name, "aliases") == 0)
			foreach_ptr(const Part, alias, members_of(&member->value, member->pointer))
				(void) members_of(&alias->value, alias->pointer);
	}
	if (has_versions && has_definition)
		sf_definition_refuse(object->pointer, "must have either versions or a definition there");
}

/* Check a member of the document that is no section; false: it is unknown. */
static bool
check_head(const Part *member)
{
	int64		number;

	if (check_rights(member))
		return true;
	if (strcmp(member->name, "name") == 0 || strcmp(member->name, "digest") == 0)
		require_string(member);
	else if (strcmp(member->name, "revision") == 0)
	{
		if (member->value.type != jbvNumeric || !sf_json_to_int64(&member->value, &number) || number < 0)
			sf_definition_refuse(member->pointer, "must have an integer there that is not negative");
	}
	else
		return strcmp(member->name, "format") == 0;
	return true;
}

/* Check the section of a kind. */
static void
check_section(const Part *section, const SfDefinitionKind *kind)
{
	foreach_ptr(const Part, object, kind->is_list ? elements_of(&section->value, section->pointer) :
				members_of(&section->value, section->pointer))
		check_object(object, kind);
}

/* Refuse a document that is of another format, or has members that are unknown or of wrong types. */
void
sf_definition_check(const Jsonb *document, const List *kinds)
{
	List	   *allowed = list_make5("format", "revision", "name", "digest", "grants");
	JsonbValue	root;
	JsonbValue	format;
	int64		number;

	sf_json_root(document, &root);
	if (!sf_json_is_object(&root) || !sf_json_member(&root, "format", 6, &format) || format.type != jbvNumeric ||
		!sf_json_to_int64(&format, &number) || number != SF_DEFINITIONS_FORMAT)
		sf_definition_refuse("/format", psprintf("must be an object with \"format\": %d", SF_DEFINITIONS_FORMAT));
	allowed = lappend(allowed, "revoked_from_public");
	foreach_ptr(const SfDefinitionKind, kind, kinds)
		allowed = lappend(allowed, kind->section);
	foreach_ptr(const Part, member, members_of(&root, ""))
	{
		const SfDefinitionKind *of = NULL;

		foreach_ptr(const SfDefinitionKind, kind, kinds)
			if (strcmp(kind->section, member->name) == 0)
				of = kind;
		if (of != NULL)
			check_section(member, of);
		else if (!check_head(member))
			check_member(member, allowed);
	}
}
