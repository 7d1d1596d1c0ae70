/*
 * definition_functions.c
 *		sf_export_definitions(), sf_apply(): what is defined, as one document.
 *
 * A document falls into parts (sql/parts/definition/definitions.sql): objects, and versions, aliases and rights of
 * them.  Each part of a document is compared with the part of the same name in what the caller could export now.  If
 * they differ, _sfflow.apply_definition() calls the function that a user would call, as the role that is to own the
 * object. So there is one set of checks, and the caller gets no rights by this.  A dry run does the same in a
 * subtransaction, which is rolled back.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "api/columns.h"
#include "api/definition/definitions.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "store/state_machine/applied_definitions.h"
#include "store/state_machine/machine.h"

/* The longest value of a member that a change tells */
#define LONGEST_VALUE	60

/* What can change by itself */
typedef struct Part
{
	char	   *kind;
	char	   *name;
	char	   *pointer;		/* into the document; NULL: it is there, and the document may lack it */
	char	   *parent;			/* object that it is of, or NULL */
	char	   *owner;			/* role, or NULL: nothing is said of it */
	char	   *needs;			/* part of this kind that has to be there before, or NULL */
	Jsonb	   *body;
	bool		is_scoped;		/* of what is there: the document has what it is in */
	bool		is_done;
} Part;

/* What became of a part */
typedef struct DonePart
{
	const char *kind;
	const char *name;
	const char *what;
	char	   *changes;		/* or NULL */
} DonePart;

/* A call of sf_apply */
typedef struct Apply
{
	const Jsonb *document;
	Oid			caller;
	bool		is_dry_run;
	bool		removes;
	List	   *kinds;
	List	   *wanted;			/* Part, in the order of the calls */
	List	   *there;
	Part	  **wanted_by_name;
	Part	  **there_by_name;
	List	   *done;
} Apply;

/* --- parts --- */

/* Columns of parts */
enum {COL_kind = 1, COL_name, COL_parent, COL_owner, COL_needs, COL_body, COL_pointer, COL_is_scoped};

/* Read a part of the document. */
static void
append_wanted(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **parts = arg;
	Part	   *part = palloc0(sizeof(Part));

	part->kind = sf_row_text(tuple, desc, COL_kind);
	part->name = sf_row_text(tuple, desc, COL_name);
	part->parent = sf_row_text(tuple, desc, COL_parent);
	part->owner = sf_row_text(tuple, desc, COL_owner);
	part->needs = sf_row_text(tuple, desc, COL_needs);
	part->body = sf_row_jsonb(tuple, desc, COL_body);
	part->pointer = sf_row_text(tuple, desc, COL_pointer);
	*parts = lappend(*parts, part);
}

/* Read a part of what is there. */
static void
append_there(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **parts = arg;
	Part	   *part;

	append_wanted(tuple, desc, arg);
	part = llast(*parts);
	part->pointer = NULL;
	part->is_scoped = sf_row_number(tuple, desc, COL_is_scoped, false) != 0;
}

/* Order parts by kind and name. */
static int
compare_parts(const void *a, const void *b)
{
	const Part *left = *(Part *const *) a;
	const Part *right = *(Part *const *) b;
	int			order = strcmp(left->kind, right->kind);

	return order != 0 ? order : strcmp(left->name, right->name);
}

/* The same parts, to be found by kind and name. */
static Part **
sort_parts(const List *parts)
{
	Part	  **sorted = palloc(sizeof(Part *) * Max(1, list_length(parts)));
	int			n = 0;

	foreach_ptr(Part, part, parts)
		sorted[n++] = part;
	qsort(sorted, n, sizeof(Part *), compare_parts);
	return sorted;
}

/* Find a part; NULL: there is none. */
static Part *
find_part(Part **sorted, const List *parts, const char *kind, const char *name)
{
	Part		wanted = {.kind = unconstify(char *, kind),.name = unconstify(char *, name)};
	Part	   *key = &wanted;
	Part	  **found = bsearch(&key, sorted, list_length(parts), sizeof(Part *), compare_parts);

	return found == NULL ? NULL : *found;
}

/* Refuse a document that has a part twice. */
static void
refuse_duplicates(const Apply *apply)
{
	for (int i = 1; i < list_length(apply->wanted); i++)
		if (compare_parts(&apply->wanted_by_name[i - 1], &apply->wanted_by_name[i]) == 0)
			sf_definition_refuse(apply->wanted_by_name[i]->pointer,
								 psprintf("has %s \"%s\" twice", apply->wanted_by_name[i]->kind,
										  apply->wanted_by_name[i]->name));
}

/* Read the parts of the document, and those that are there. */
static void
read_parts(Apply *apply)
{
	static SfPlan wanted = SF_PLAN(
		"SELECT p.kind, p.name, p.parent, p.owner, p.needs, p.body, p.pointer"
		" FROM _sfflow.definition_parts($1, $2, $3) p ORDER BY p.rank,"
		" CASE p.kind WHEN 'version' THEN p.parent END COLLATE \"C\","
		" CASE p.kind WHEN 'version' THEN pg_catalog.length(p.name) END, p.name COLLATE \"C\"");
	static SfPlan there = SF_PLAN(
		"SELECT p.kind, p.name, p.parent, p.owner, p.needs, p.body, NULL::pg_catalog.text AS pointer, p.is_scoped"
		" FROM _sfflow.defined_parts($1, $2, $3) p ORDER BY p.rank, p.name COLLATE \"C\"");
	SfArg		administers = SF_BOOL(sf_privilege_is_administrator());

	sf_db_read(&wanted, append_wanted, &apply->wanted, SF_JSONB(apply->document),
			   SF_TEXT(GetUserNameFromId(apply->caller, false)), administers);
	sf_db_read(&there, append_there, &apply->there, SF_JSONB(apply->document),
			   sf_query_arg(OIDOID, ObjectIdGetDatum(apply->caller), false), administers);
	apply->wanted_by_name = sort_parts(apply->wanted);
	apply->there_by_name = sort_parts(apply->there);
	refuse_duplicates(apply);
}

/* --- what differs --- */

/* A value, cut; nothing: "none". */
static char *
print_value(const JsonbValue *value)
{
	StringInfoData buf;

	if (value == NULL)
		return pstrdup("none");
	initStringInfo(&buf);
	if (sf_json_append_text_within(&buf, value, LONGEST_VALUE))
		return buf.data;
	return psprintf("%.*s...", pg_mbcliplen(buf.data, buf.len, LONGEST_VALUE), buf.data);
}

/* Add a difference to the text of changes. */
static bool
print_difference(const char *pointer, const JsonbValue *before, const JsonbValue *after, void *arg)
{
	StringInfo	changes = arg;

	CHECK_FOR_INTERRUPTS();
	appendStringInfo(changes, "%s%s: %s -> %s", changes->len == 0 ? "" : "; ", pointer + (*pointer == '/'),
					 print_value(before), print_value(after));
	return changes->len < 1000;
}

/* Say what of a part is to change, or NULL. */
static char *
print_changes(const Part *before, const Jsonb *after, const char *owner)
{
	StringInfoData changes;

	initStringInfo(&changes);
	if (owner != NULL)
		appendStringInfo(&changes, "owner: %s -> %s", before->owner, owner);
	sf_json_differences(before->body, after, print_difference, &changes);
	return changes.data;
}

/* --- calls --- */

/* Say in the context of an error, or a warning, where in the document that is. */
static void
add_context(void *arg)
{
	errcontext("definitions at \"%s\"", (const char *) arg);
}

/* Call apply_definition or remove_definition as a role. */
static void
call(SfPlan *plan, Oid role, const char *kind, const char *name, const char *parent, const Jsonb *body)
{
	sf_db_run(role, plan, NULL, NULL, SF_ARGS(SF_TEXT(kind), SF_TEXT(name), SF_TEXT(parent), SF_JSONB(body)));
}

static SfPlan apply_plan = SF_PLAN("SELECT _sfflow.apply_definition($1, $2, $3, $4)");
static SfPlan remove_plan = SF_PLAN("SELECT _sfflow.remove_definition($1, $2, $3, $4)");

/* Find the role of an owner, which the caller must be able to become. */
static Oid
acting_role(const Apply *apply, const char *owner)
{
	Oid			role;

	if (owner == NULL)
		return apply->caller;
	role = get_role_oid(owner, false);
	if (role != apply->caller && !SF_CAN_SET_ROLE(apply->caller, role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be able to SET ROLE \"%s\"", owner),
				 errdetail("What it owns is defined as this role.")));
	return role;
}

/* Give an object to another role. */
static void
set_owner(const Apply *apply, const char *prefix, const char *name, const char *owner)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "owner", owner);
	call(&apply_plan, apply->caller, "owner", psprintf("%s%s", prefix, name), NULL, sf_json_end(&json));
}

/*
 * Make a part that is not there, or change it.  An administrator makes what a role is to own that may not
 * create anything, and gives it away.
 */
static void
put(const Apply *apply, const Part *part, const Part *before, const Jsonb *full)
{
	const SfDefinitionKind *kind = sf_definition_find_kind(apply->kinds, part->kind);
	const char *owner = part->owner != NULL ? part->owner : before != NULL ? before->owner : NULL;
	Oid			role = acting_role(apply, owner);
	bool		is_version = strcmp(part->kind, "version") == 0;
	bool		gives = before == NULL && role != apply->caller && sf_privilege_is_administrator() &&
		(is_version || (kind != NULL && kind->prefix != NULL)) &&
		!sf_privilege_check_role(role, SF_OBJECT_ALL, "*", InvalidOid, SF_RIGHT_CREATE);

	call(&apply_plan, gives ? apply->caller : role, part->kind, part->name, part->parent, full);
	if (gives)
		set_owner(apply, is_version ? "" : kind->prefix, is_version ? part->parent : part->name, owner);
}

/* A part in the form in which it is exported, and with all defaults */
typedef struct Forms
{
	Jsonb	   *normal;
	Jsonb	   *full;
} Forms;

/* Read both forms. */
static void
read_forms(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_body = 1, COL_full};
	Forms	   *forms = arg;

	forms->normal = sf_row_jsonb(tuple, desc, COL_body);
	forms->full = sf_row_jsonb(tuple, desc, COL_full);
}

/* Bring a part of the document into both forms. */
static Forms
bring_into_form(const Part *part, const Part *before)
{
	static SfPlan plan = SF_PLAN(
		"SELECT n.body, pg_catalog.jsonb_concat(coalesce(k.defaults, '{}'), n.body) AS full"
		" FROM _sfflow.normal_definition($1, $2, $3) AS n (body)"
		" LEFT JOIN _sfflow.definition_kind k ON k.kind = $1");
	Forms		forms = {0};

	sf_db_read(&plan, read_forms, &forms, SF_TEXT(part->kind), SF_JSONB(part->body),
			   SF_JSONB(before == NULL ? NULL : before->body));
	return forms;
}

/* Note what became of a part. */
static void
note(Apply *apply, const Part *part, const char *what, char *changes)
{
	DonePart   *done = palloc(sizeof(DonePart));

	*done = (DonePart) {part->kind, part->name, what, changes};
	apply->done = lappend(apply->done, done);
}

/* Refuse a state machine that is not there, and has no version in the document. */
static void
require_version(const Apply *apply, const Part *part)
{
	foreach_ptr(const Part, version, apply->wanted)
		if (strcmp(version->kind, "version") == 0 && strcmp(version->parent, part->name) == 0)
			return;
	sf_definition_refuse(part->pointer, psprintf("has no version of state machine \"%s\", which does not exist", part->name));
}

/* Make the database agree with a part of the document. */
static void
agree(Apply *apply, const Part *part)
{
	const SfDefinitionKind *kind = sf_definition_find_kind(apply->kinds, part->kind);
	const Part *before = find_part(apply->there_by_name, apply->there, part->kind, part->name);
	Forms		forms = bring_into_form(part, before);
	bool		differs = before == NULL || !sf_json_is_equal(forms.normal, before->body);
	bool		is_machine = kind != NULL && strcmp(kind->section, "state_machines") == 0;
	bool		moves = before != NULL && kind != NULL && kind->prefix != NULL && part->owner != NULL &&
		before->owner != NULL && strcmp(part->owner, before->owner) != 0;

	if (before == NULL && is_machine)
		require_version(apply, part);
	if (moves)
		set_owner(apply, kind->prefix, part->name, part->owner);
	/* a machine comes with its first version */
	if (differs && !is_machine)
		put(apply, part, before, forms.full);
	note(apply, part, before == NULL ? "created" : differs || moves ? "changed" : "unchanged",
		 before == NULL || !(differs || moves) ? NULL : print_changes(before, forms.normal, moves ? part->owner : NULL));
}

/* Apply a part, and before it what it needs. */
static void
apply_part(Apply *apply, Part *part)
{
	ErrorContextCallback context = {error_context_stack, add_context, part->pointer};
	Part	   *needed = part->needs == NULL ? NULL :
		find_part(apply->wanted_by_name, apply->wanted, part->kind, part->needs);

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (part->is_done)
		return;
	part->is_done = true;
	if (needed != NULL)
		apply_part(apply, needed);
	error_context_stack = &context;
	agree(apply, part);
	error_context_stack = context.previous;
}

/* --- what the document lacks --- */

/* Is a part that is there to be removed?  Versions stay: executions may run by them. */
static bool
is_to_go(const Apply *apply, const Part *part)
{
	return part->is_scoped && !part->is_done && strcmp(part->kind, "version") != 0 &&
		find_part(apply->wanted_by_name, apply->wanted, part->kind, part->name) == NULL;
}

/* Remove a part that the document lacks, and before it what needs it. */
static void
remove_part(Apply *apply, Part *part)
{
	ErrorContextCallback context = {error_context_stack, add_context, psprintf("%s \"%s\", which the document lacks", part->kind, part->name)};
	const SfDefinitionKind *kind = sf_definition_find_kind(apply->kinds, part->kind);

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (!is_to_go(apply, part))
		return;
	part->is_done = true;
	foreach_ptr(Part, other, apply->there)
		if (other->needs != NULL && strcmp(other->kind, part->kind) == 0 && strcmp(other->needs, part->name) == 0)
			remove_part(apply, other);
	error_context_stack = &context;
	/* what cannot be given away has the owner in its name */
	call(&remove_plan, kind != NULL && kind->prefix == NULL ? acting_role(apply, part->owner) : apply->caller,
		 part->kind, part->name, part->parent, part->body);
	error_context_stack = context.previous;
	note(apply, part, "removed", NULL);
}

/* --- the whole --- */

/* Refuse a document that is older than the one of its name that the caller has applied last; note this one. */
static void
note_revision(const Apply *apply)
{
	char	   *given = sf_json_get_cstring(apply->document, "name");
	JsonbValue	root;
	JsonbValue	value;
	int64		revision = 0;
	int64		newer;

	sf_json_root(apply->document, &root);
	if (!sf_json_member(&root, "revision", 8, &value))
		return;
	(void) sf_json_to_int64(&value, &revision);
	if (!sf_applied_note(apply->caller, given == NULL ? "" : given, revision, apply->document, &newer))
		ereport(ERROR,
				(errcode(ERRCODE_SF_OLDER_REVISION),
				 errmsg("revision " INT64_FORMAT " of the document of definitions is older than the one that was applied",
						revision),
				 errdetail("Revision " INT64_FORMAT " was applied.", newer)));
}

/* Apply a document; false, so that the subtransaction of a dry run is rolled back. */
static bool
apply_all(void *arg)
{
	Apply	   *apply = arg;

	note_revision(apply);
	read_parts(apply);
	foreach_ptr(Part, part, apply->wanted)
		apply_part(apply, part);
	for (int i = list_length(apply->there) - 1; apply->removes && i >= 0; i--)
		remove_part(apply, list_nth(apply->there, i));
	return false;
}

/* sf_apply(definitions, dry_run, remove): what became of each part of the document. */
SF_SQL_FUNCTION(sfflow_sf_apply)
{
	Apply		apply = {
		.document = sf_arg_jsonb(fcinfo, 0, "definitions"),
		.caller = GetUserId(),
		.is_dry_run = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1),
		.removes = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2),
		.kinds = sf_definition_kinds()
	};
	ErrorData  *error;

	sf_definition_check(apply.document, apply.kinds);
	if (!apply.is_dry_run)
		(void) apply_all(&apply);
	else if ((error = sf_subtransaction_run(apply_all, NULL, &apply)) != NULL)
		ReThrowError(error);
	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(const DonePart, done, apply.done)
	{
		SfColumns	row = {0};

		sf_columns_text(&row, done->kind);
		sf_columns_text(&row, done->name);
		sf_columns_text(&row, done->what);
		sf_columns_text(&row, done->changes);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* Read a document. */
static void
read_document(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(Jsonb **) arg = sf_row_jsonb(tuple, desc, 1);
}

/* sf_export_definitions(): all that the caller may administer. */
SF_SQL_FUNCTION(sfflow_sf_export_definitions)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.jsonb_concat(d.document,"
		" pg_catalog.jsonb_build_object('digest', _sfflow.definitions_digest(d.document)))"
		" FROM (SELECT _sfflow.definitions_of($1, $2) AS document) d");
	Jsonb	   *document = NULL;

	sf_db_read(&plan, read_document, &document,
			   sf_query_arg(OIDOID, ObjectIdGetDatum(GetUserId()), false), SF_BOOL(sf_privilege_is_administrator()));
	PG_RETURN_JSONB_P(document);
}

/*
 * _sfflow.put_version(name, version, definition, execution_id_path, options): a version of this number, as
 * sf_create_state_machine() makes one.
 */
SF_SQL_FUNCTION(sfflow_put_version)
{
	SfMachine	machine = {
		.name = sf_arg_text(fcinfo, 0, "name"),
		.version = sf_arg_count(fcinfo, 1, "version", 1, 1),
		.definition = sf_arg_text(fcinfo, 2, "definition"),
		.execution_id_path = sf_arg_text_or_null(fcinfo, 3),
		.options = sf_arg_jsonb(fcinfo, 4, "options")
	};

	sf_object_put_version(&machine);
	PG_RETURN_VOID();
}
