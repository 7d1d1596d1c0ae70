/*
 * start_key_option.c
 *		The option "start_key" of a state machine: {"key": "$.customer", "mode": "debounce", "delay": 5,
 *		"max_delay": 60}.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/compat.h"
#include "feature/start_key/start_key.h"
#include "store/state_machine/program_cache.h"

/* Seconds of a delay, at most: ten years */
#define MAX_SECONDS		(10 * 366 * 86400.0)

static const char *const mode_names[] = {
	[SF_START_KEY_DEBOUNCE] = "debounce",
	[SF_START_KEY_SINGLE] = "single",
	[SF_START_KEY_FIFO] = "fifo",
};

/* A member of the option */
typedef struct Member
{
	const char *name;
	bool		for_all;		/* modes; else for one: */
	SfStartKeyMode mode;
} Member;

static const Member members[] = {
	{"key",.for_all = true},
	{"mode",.for_all = true},
	{"delay",.mode = SF_START_KEY_DEBOUNCE},
	{"max_delay",.mode = SF_START_KEY_DEBOUNCE},
	{"waiting",.mode = SF_START_KEY_SINGLE},
	{"on_failure",.mode = SF_START_KEY_FIFO},
};

/* Raise that a member of the option is not as it has to be. */
static void pg_attribute_noreturn()
refuse(const char *name, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("option start_key: \"%s\" %s", name, problem)));
}

/* Refuse a member that is unknown, or of another mode. */
static void
check_member(const char *name, SfStartKeyMode mode)
{
	SfClosest	closest = sf_closest_begin(name);

	for (size_t i = 0; i < lengthof(members); i++)
	{
		sf_closest_offer(&closest, members[i].name);
		if (strcmp(name, members[i].name) != 0)
			continue;
		if (!members[i].for_all && members[i].mode != mode)
			refuse(name, psprintf("is for mode %s alone", mode_names[members[i].mode]));
		return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("option start_key has no \"%s\"", name),
			 sf_closest_errhint(&closest, "It has key, mode, delay, max_delay, waiting and on_failure.")));
}

/* Read the mode. */
static SfStartKeyMode
read_mode(const Jsonb *given)
{
	const char *mode = sf_json_get_cstring(given, "mode");

	for (size_t i = 0; mode != NULL && i < lengthof(mode_names); i++)
		if (strcmp(mode, mode_names[i]) == 0)
			return (SfStartKeyMode) i;
	refuse("mode", "must be one of debounce, single, fifo");
}

/* Read a span in seconds; 0: it is not given. */
static int64
read_seconds(const Jsonb *given, const char *name)
{
	Jsonb	   *value = sf_json_get(given, name);
	JsonbValue	root;
	double		seconds;

	if (value == NULL)
		return 0;
	sf_json_root(value, &root);
	if (root.type != jbvNumeric)
		refuse(name, "must be a number of seconds");
	seconds = DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(root.val.numeric)));
	if (!(seconds > 0 && seconds <= MAX_SECONDS))
		refuse(name, psprintf("must be more than 0 and at most %.0f seconds", MAX_SECONDS));
	return Max((int64) (seconds * USECS_PER_SEC), 1);
}

/* Read which of two words a member is; not given: the first one, false. */
static bool
read_word(const Jsonb *given, const char *name, const char *first, const char *second)
{
	const char *word;

	if (sf_json_get(given, name) == NULL)
		return false;
	word = sf_json_get_cstring(given, name);
	if (word != NULL && strcmp(word, second) == 0)
		return true;
	if (word == NULL || strcmp(word, first) != 0)
		refuse(name, psprintf("must be \"%s\" or \"%s\"", first, second));
	return false;
}

/* Read how long a start waits for others. */
static SfDebounce
read_debounce(const Jsonb *given)
{
	SfDebounce	debounce = {read_seconds(given, "delay"), read_seconds(given, "max_delay")};

	if (debounce.delay_us == 0)
		refuse("delay", "must be given for mode debounce");
	if (debounce.max_delay_us != SF_NO_MAX_DELAY && debounce.max_delay_us < debounce.delay_us)
		refuse("max_delay", "must not be less than \"delay\"");
	return debounce;
}

/* The number of what is compiled; the registry sets it */
int			sf_start_key_option;

/* Compile the option of a version in the current memory context, or raise; NULL: it has none. */
void *
sf_start_key_compile(const Jsonb *options, const SfProgram *program)
{
	Jsonb	   *given = sf_json_get(options, "start_key");
	Jsonb	   *key;
	SfStartKeyOption *option;
	JsonbValue	root;
	SfJsonMember *all;
	int			n;

	if (given == NULL)
		return NULL;
	sf_json_root(given, &root);
	if (!sf_json_is_object(&root))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option start_key must be a JSON object")));
	option = palloc0(sizeof(SfStartKeyOption));
	option->mode = read_mode(given);
	all = sf_json_members(&root, &n);
	for (int i = 0; i < n; i++)
		check_member(pnstrdup(all[i].key.val.string.val, all[i].key.val.string.len), option->mode);

	key = sf_json_get(given, "key");
	if (key != NULL)
	{
		JsonbValue	text;
		const char *problem;

		sf_json_root(key, &text);
		option->key = sf_input_value_compile(&text, program->language == SF_QL_JSONATA, &problem);
		if (option->key == NULL)
			refuse("key", problem);
	}
	switch (option->mode)
	{
		case SF_START_KEY_DEBOUNCE:
			option->debounce = read_debounce(given);
			break;
		case SF_START_KEY_SINGLE:
			option->keeps_first = read_word(given, "waiting", "replace", "keep");
			break;
		case SF_START_KEY_FIFO:
			option->stops_at_failure = read_word(given, "on_failure", "continue", "stop");
			break;
	}
	return option;
}

/* Refuse a start for its key. */
static void pg_attribute_noreturn()
refuse_key(const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_EXECUTION_INPUT),
			 errmsg("the start key %s", problem),
			 errhint("It comes from option start_key of the state machine, or from option start_key of the start.")));
}

/* The value as a key; NULL: none. */
static char *
key_text(const Jsonb *value)
{
	JsonbValue	root;
	char	   *text = NULL;

	if (value == NULL)
		return NULL;
	sf_json_root(value, &root);
	if (root.type == jbvNull)
		return NULL;
	if (root.type == jbvString)
		text = pnstrdup(root.val.string.val, root.val.string.len);
	else if (root.type == jbvNumeric || root.type == jbvBool)
		text = sf_json_to_cstring(value);
	else
		refuse_key(psprintf("must be a string, a number or a boolean, not %s", sf_json_type_name(&root)));
	if (pg_mbstrlen(text) > SF_MAX_START_KEY)
		refuse_key(psprintf("has more than %d characters", SF_MAX_START_KEY));
	return text;
}

/*
 * The key of an execution that is to begin: that of its start, or of the option of its version (NULL: none); NULL:
 * it has none.
 */
char *
sf_start_key_eval(const SfExecution *execution, const SfStartKeyOption *option)
{
	Jsonb	   *given = execution->start.options == NULL ? NULL : sf_json_get(execution->start.options, "start_key");
	Jsonb	   *value;
	SfError		error;

	if (given != NULL && option == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option start_key needs a state machine with the option start_key"),
				 errdetail("It says what becomes of starts with the same key.")));
	if (given != NULL)
		return key_text(given);
	if (option == NULL || option->key == NULL)
		return NULL;
	if (!sf_input_value_find(option->key, execution->input, &value, &error))
		refuse_key(psprintf("cannot be evaluated: %s", error.cause == NULL ? error.name : error.cause));
	return key_text(value);
}

/* What the version of an execution says of keys of starts; NULL: nothing. */
const SfStartKeyOption *
sf_start_key_option_of(const SfExecution *execution)
{
	return sf_execution_is_of_item(execution) ? NULL :
		sf_program_cache_find(execution->machine_no, execution->version)->compiled[sf_start_key_option];
}
