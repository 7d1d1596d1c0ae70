/*
 * start_options.c
 *		The argument options of sf_start() and sf_start_many(): what the arguments of the older forms say, by the same
 *		names, and what features add.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "api/execution/executions.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "store/feature.h"

/* Refuse an option that is unknown. */
static void
check_name(const char *name, bool many)
{
	static const char *const own[] = {"if_exists", "priority", "version", "name"};
	int			nown = many ? 2 : lengthof(own);
	SfClosest	closest = sf_closest_begin(name);
	StringInfoData all;

	initStringInfo(&all);
	for (int i = 0; i < nown; i++)
	{
		if (strcmp(name, own[i]) == 0)
			return;
		sf_closest_offer(&closest, own[i]);
		appendStringInfo(&all, "%s%s", i == 0 ? "" : ", ", own[i]);
	}
	SF_FEATURES(start_options, feature)
		for (const char *const *option = feature->start_options; *option != NULL; option++)
		{
			if (strcmp(name, *option) == 0)
				return;
			sf_closest_offer(&closest, *option);
			appendStringInfo(&all, ", %s", *option);
		}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("a start has no option \"%s\"", name),
			 sf_closest_errhint(&closest, psprintf("The options are: %s.", all.data))));
}

/* Refuse options that are no object, or have a name that is unknown. */
static void
check_names(const Jsonb *options, bool many)
{
	JsonbValue	root;
	SfJsonMember *members;
	int			n;

	sf_json_root(options, &root);
	if (!sf_json_is_object(&root))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument options must be a JSON object, not %s", sf_json_type_name(&root))));
	members = sf_json_members(&root, &n);
	for (int i = 0; i < n; i++)
		check_name(pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len), many);
}

/* An option, which null leaves out; false: it is not given. */
static bool
find(const Jsonb *options, const char *name, JsonbValue *value)
{
	Jsonb	   *option = sf_json_get(options, name);

	if (option == NULL)
		return false;
	sf_json_root(option, value);
	return value->type != jbvNull;
}

/* The text of an option; NULL: it is not given. */
static char *
find_text(const Jsonb *options, const char *name)
{
	JsonbValue	value;

	if (!find(options, name, &value))
		return NULL;
	if (value.type != jbvString)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option %s must be a string, not %s", name, sf_json_type_name(&value))));
	return pnstrdup(value.val.string.val, value.val.string.len);
}

/* The integer of an option; false: it is not given. */
static bool
find_integer(const Jsonb *options, const char *name, int *result)
{
	JsonbValue	value;
	int64		number;

	if (!find(options, name, &value))
		return false;
	if (value.type != jbvNumeric || !sf_json_to_int64(&value, &number) || number < PG_INT32_MIN || number > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option %s must be an integer", name)));
	*result = (int) number;
	return true;
}

/*
 * Find the machine of a start with options, and check the caller's right to start it.  many: names and versions are not
 * options; else *name becomes the name of the execution, NULL if none is given.
 */
SfStart
sf_start_prepare_options(const char *state_machine, const Jsonb *options, bool many, char **name)
{
	char	   *if_exists;
	int			version = 0;
	int			priority;
	SfStart		start;

	check_names(options, many);
	if_exists = find_text(options, "if_exists");
	if (find_integer(options, "version", &version) && version < 1)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option version must be at least 1")));
	start = sf_start_prepare(state_machine, version,
							 if_exists == NULL ? SF_IF_EXISTS_OF_CALL : sf_start_if_exists(if_exists), many);
	if (find_integer(options, "priority", &priority))
		sf_start_set_priority(&start, priority);
	start.options = options;
	*name = find_text(options, "name");
	return start;
}

/* sf_start(state_machine, input, options): the execution id. */
SF_SQL_FUNCTION(sfflow_sf_start_options)
{
	char	   *name;
	SfStart		start = sf_start_prepare_options(sf_arg_text(fcinfo, 0, "state_machine"),
												 sf_arg_jsonb(fcinfo, 2, "options"), false, &name);
	SfExecution *execution = sf_start_form(&start, sf_arg_jsonb(fcinfo, 1, "input"), name);
	SfStartOutcome outcome;

	sf_start_all(&start, &execution, 1, &outcome);
	PG_RETURN_TEXT_P(cstring_to_text(execution->execution_id));
}
