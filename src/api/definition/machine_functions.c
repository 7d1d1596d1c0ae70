/*
 * machine_functions.c
 *		sf_create_state_machine(), sf_drop_state_machine().
 */
#include "postgres.h"

#include "miscadmin.h"

#include "api/definition/definitions.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "asl/validate/validate.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "copy/instance.h"
#include "run/execution/lifecycle.h"
#include "run/gate/gate.h"
#include "store/audit/audit.h"
#include "store/state_machine/aws_resource.h"

/* More ended executions than this are deleted only with force */
#define MAX_ENDED_TO_DROP	10000

/* Compile a definition; one that is not valid is refused with all that is wrong with it. */
static const SfProgram *
compile_definition(const char *name, const char *definition)
{
	List	   *diagnostics = NIL;
	const SfProgram *program = sf_asl_compile(definition, strlen(definition), CurrentMemoryContext,
											  &diagnostics);

	if (sf_diagnostics_have_error(diagnostics))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("%s", sf_diagnostics_print(diagnostics)),
				 errdetail("The definition of state machine \"%s\" was not stored.",
						   name),
				 errhint("SELECT * FROM sf_validate(definition) lists the problems with their places.")));
	return program;
}

/*
 * Raise the warnings about a definition.  The machine is stored all the same,
 * because a missing function or a right on it may be added later.
 */
static void
warn_of_definition(const char *name, const char *definition)
{
	foreach_ptr(const SfDiagnostic, d, sf_asl_validate(definition, strlen(definition), &sf_probe_usual))
	{
		/* not what only Step Functions would refuse */
		if (d->severity == SF_SEVERITY_WARNING &&
			strcmp(d->code, SF_CODE_ONLY_SFFLOW) != 0)
			ereport(WARNING,
					(errmsg("state machine \"%s\": %s", name, d->message),
					 d->location == NULL ? 0 : errdetail("It is at %s.", d->location)));
	}
}

/* The names of all options, a List of char *: those of the core, then those of features. */
static List *
list_options(void)
{
	static const char *const own[] = {"history", "retention", "archive", "priority", SF_OPTION_AWS};
	List	   *options = NIL;

	for (size_t i = 0; i < lengthof(own); i++)
		options = lappend(options, unconstify(char *, own[i]));
	SF_FEATURES(machine_options, feature)
		for (const char *const *name = feature->machine_options->names; *name != NULL; name++)
			options = lappend(options, unconstify(char *, *name));
	return options;
}

/* Refuse an option that is unknown. */
static void
check_option_name(const char *name)
{
	const List *options = list_options();
	SfClosest	closest = sf_closest_begin(name);
	StringInfoData all;
	ListCell   *lc;

	initStringInfo(&all);
	foreach(lc, options)
	{
		if (strcmp(name, lfirst(lc)) == 0)
			return;
		sf_closest_offer(&closest, lfirst(lc));
		/* the AWS API alone gives that one */
		if (strcmp(lfirst(lc), SF_OPTION_AWS) != 0)
			appendStringInfo(&all, "%s%s", all.len == 0 ? "" : ", ", (const char *) lfirst(lc));
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("unknown option \"%s\"", name),
			 sf_closest_errhint(&closest, psprintf("The options are: %s.", all.data))));
}

/* Refuse a priority that is no such number; NULL: there is none. */
static void
check_priority(const Jsonb *value)
{
	JsonbValue	root;
	int64		priority;

	if (value == NULL)
		return;
	sf_json_root(value, &root);
	if (root.type != jbvNumeric || !sf_json_to_int64(&root, &priority) ||
		priority < -SF_MAX_PRIORITY || priority > SF_MAX_PRIORITY)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option priority must be an integer from %d to %d", -SF_MAX_PRIORITY, SF_MAX_PRIORITY)));
}

/* Refuse options that are unknown or have no such value. */
static void
check_options(const Jsonb *options)
{
	JsonbValue	value;
	JsonbIterator *it;
	JsonbIteratorToken token;
	Jsonb	   *aws;
	char	   *level;

	if (!JB_ROOT_IS_OBJECT(options))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument options must be a JSON object")));
	it = JsonbIteratorInit(unconstify(JsonbContainer *, &options->root));
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			check_option_name(pnstrdup(value.val.string.val, value.val.string.len));
	}
	sf_retention_check(options);
	aws = sf_json_get(options, SF_OPTION_AWS);
	if (aws != NULL && !JB_ROOT_IS_OBJECT(aws))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option aws must be a JSON object")));
	check_priority(sf_json_get(options, "priority"));
	if (sf_json_get(options, "history") == NULL)
		return;
	level = sf_json_get_cstring(options, "history");
	if (level == NULL || (strcmp(level, "ALL") != 0 &&
						  strcmp(level, "TASKS") != 0 &&
						  strcmp(level, "NONE") != 0))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option history must be \"ALL\", \"TASKS\" or \"NONE\"")));
}

/* Refuse an execution_id_path that is no reference path into the input. */
static void
check_id_path(const char *path)
{
	SfError		error;

	if (path == NULL)
		return;
	if (strncmp(path, "$$", 2) != 0 && path[0] == '$' && path[1] != '\0' &&
		sf_expr_compile(path, SF_EXPR_PATH | SF_EXPR_REFERENCE, &error) != NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("execution_id_path \"%s\" is not a reference path into the input",
					path),
			 errhint("It names one place, as \"$.id\" does.")));
}

/* Tell whether two versions are the same, byte for byte. */
static bool
same_version(const SfMachine *a, const SfMachine *b)
{
	bool		same_path = (a->execution_id_path == NULL) == (b->execution_id_path == NULL) &&
		(a->execution_id_path == NULL ||
		 strcmp(a->execution_id_path, b->execution_id_path) == 0);

	return same_path && strcmp(a->definition, b->definition) == 0 &&
		sf_json_is_equal(a->options, b->options);
}

/* Does a machine have the version whose number is wanted?  One that is another version is refused. */
static bool
has_version(const SfMachine *wanted)
{
	SfMachine  *same = sf_machine_read(wanted->name, wanted->version, true);

	if (same != NULL && !same_version(same, wanted))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("version %d of state machine \"%s\" exists with another definition or other options",
						wanted->version, wanted->name),
				 errdetail("A version never changes."),
				 errhint("Give what is new the next number.")));
	return same != NULL;
}

/*
 * Add a version to the machine of this name; false: it is the same as the last one, or as the one with the
 * number that is wanted, if one is.
 */
static bool
replace(SfMachine *wanted, bool or_replace)
{
	SfMachine  *there = sf_machine_read(wanted->name, SF_NO_VERSION, true);

	if (there == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("state machine \"%s\" was created or dropped at the same time",
						wanted->name),
				 errhint("Try again.")));
	there = sf_machine_lock_current(there, true);
	if (there == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("state machine \"%s\" was dropped at the same time",
						wanted->name)));
	if (!sf_privilege_check(SF_OBJECT_STATE_MACHINE, there->name, there->owner,
							SF_RIGHT_ANY))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("the name \"%s\" of a state machine is taken", wanted->name),
				 errdetail("Names are of the whole database, whoever sees them.")));
	sf_object_require(SF_OBJECT_STATE_MACHINE, there->name, there->owner,
					  SF_RIGHT_OWNER);
	wanted->machine_no = there->machine_no;
	wanted->current_version = there->current_version;
	if (wanted->version != SF_NO_VERSION)
	{
		if (has_version(wanted))
			return false;
		sf_machine_add_version(wanted);
		return true;
	}
	if (same_version(there, wanted))
	{
		wanted->version = there->version;
		return false;
	}
	if (!or_replace)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("state machine \"%s\" exists with another definition or other options",
						wanted->name),
				 errhint("Use or_replace => true to add a version; running executions keep theirs.")));
	wanted->version = there->current_version + 1;
	sf_machine_add_version(wanted);
	return true;
}

/* Raise unless the caller may create a machine, or has it already. */
static void
require_create(const char *name)
{
	SfMachine  *there;

	if (sf_privilege_may_create())
		return;
	there = sf_machine_read(name, SF_NO_VERSION, false);
	if (there == NULL || !sf_privilege_is_owner(there->owner))
		sf_deny_create();
}

/* Record that a machine was created, or has a new version. */
static void
note_definition(const SfMachine *machine)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_int(&json, "version", machine->version);
	sf_audit_note(machine->version == 1 ? "create" : "replace", SF_OBJECT_STATE_MACHINE,
				  machine->name, machine->name, NULL, sf_json_end(&json));
}

/* Validate a machine and store it; a version of 0 is set to the next one. */
static void
store_machine(SfMachine *machine, bool or_replace)
{
	const SfProgram *program;
	bool		stored;

	if (!OidIsValid(machine->owner))
		machine->owner = GetUserId();
	sf_name_check(machine->name, "state machine name");
	require_create(machine->name);
	check_options(machine->options);
	check_id_path(machine->execution_id_path);
	program = compile_definition(machine->name, machine->definition);
	SF_FEATURES(machine_options, feature)
		(void) feature->machine_options->compile(machine->options, program);

	sf_instance_adopt_new();
	if (sf_machine_insert(machine))
	{
		sf_privilege_anchor(machine->owner);
		stored = true;
	}
	else
		stored = replace(machine, or_replace);
	if (!stored)
		return;
	/* a document may add an older version, which no start takes by itself */
	if (machine->version == machine->current_version)
		SF_TELL(on_version_made, machine->machine_no, machine->name, program);
	note_definition(machine);
	warn_of_definition(machine->name, machine->definition);
}

/*
 * Validate a machine and store it for the caller, or the owner that is given; its version
 * is set.  The name, the definition, the id path and the options are given.
 */
void
sf_object_create_machine(SfMachine *machine, bool or_replace)
{
	machine->version = 0;
	store_machine(machine, or_replace);
}

/* The same for a version whose number is given, too; it is refused if there is another one with this number. */
void
sf_object_put_version(SfMachine *machine)
{
	store_machine(machine, true);
}

/*
 * sf_create_state_machine(name, definition, execution_id_path, or_replace,
 * options): validate and store; the version.
 */
SF_SQL_FUNCTION(sfflow_sf_create_state_machine)
{
	SfMachine	machine = {0};

	machine.name = sf_arg_text(fcinfo, 0, "name");
	machine.definition = sf_arg_text(fcinfo, 1, "definition");
	machine.execution_id_path = sf_arg_text_or_null(fcinfo, 2);
	machine.options = sf_arg_jsonb(fcinfo, 4, "options");
	sf_object_create_machine(&machine, !PG_ARGISNULL(3) && PG_GETARG_BOOL(3));
	PG_RETURN_INT32(machine.version);
}

/*
 * Delete a machine with its versions and executions; see store/purge/dropped.c.  One that has running
 * executions, or very many ended ones, is refused unless also (SF_DROP_…) says so.
 */
void
sf_object_drop_machine(const SfMachine *machine, uint32 also)
{
	int64		running = 0;
	int64		ended = 0;

	sf_machine_lock_starts(machine->machine_no, true);
	machine = sf_object_lock_owned_machine(machine);
	sf_execution_check_all_seen(machine->machine_no);
	if ((also & SF_DROP_WITH_RUNNING) == 0)
		running = sf_machine_count_running(machine->machine_no);
	if ((also & SF_DROP_WITH_MANY) == 0)
		ended = sf_machine_count_ended(machine->machine_no);
	if (running > 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_STATE_MACHINE_IN_USE),
				 errmsg("state machine \"%s\" has " INT64_FORMAT " running executions",
						machine->name, running),
				 errhint("Stop them, or use force => true.")));
	if (ended > MAX_ENDED_TO_DROP)
		ereport(ERROR,
				(errcode(ERRCODE_SF_STATE_MACHINE_IN_USE),
				 errmsg("state machine \"%s\" has " INT64_FORMAT " ended executions",
						machine->name, ended),
				 errhint("Delete them in batches with sf_purge(), or use force => true.")));
	sf_privilege_delete_of_object(SF_OBJECT_STATE_MACHINE, machine->name);
	sf_aws_resource_delete(SF_OBJECT_STATE_MACHINE, machine->name);
	sf_audit_delete_of_object(SF_OBJECT_STATE_MACHINE, machine->name);
	sf_audit_note("drop", SF_OBJECT_ALL, "*", machine->name, NULL, NULL);
	sf_machine_delete(machine->machine_no);
	sf_privilege_unanchor(machine->owner);
}

/* sf_drop_state_machine(name, force): with its versions and executions. */
SF_SQL_FUNCTION(sfflow_sf_drop_state_machine)
{
	char	   *name = sf_arg_text(fcinfo, 0, "name");
	bool		force = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);

	sf_object_drop_machine(sf_arg_machine(name, SF_RIGHT_OWNER), force ? SF_DROP_WITH_RUNNING | SF_DROP_WITH_MANY : 0);
	PG_RETURN_VOID();
}
