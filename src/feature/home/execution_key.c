/*
 * execution_key.c
 *		The key of an execution: option "key" of a start, option "key_path" of a state machine, or that of its parent.
 *
 * An execution with a key begins where the key is at home, or not at all: a start anywhere else is an error that
 * names the node.  Item executions and nested ones are on the node of their parent, and have its key,
 * whatever the options of their machine say.
 *
 * Only executions with a key have a row.  Each backend knows whether there are any (table_cache.h), so that without
 * keys the start of one of these reads nothing.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "db/keyed_cache.h"
#include "db/row.h"
#include "expr/expr.h"
#include "feature/home/home.h"

/* The number of what is compiled; the registry sets it */
int			sf_home_option;

/* --- options --- */

/* Compile the option of a version in the current memory context, or raise; NULL: it has none. */
void *
sf_home_compile_options(const Jsonb *options, const SfProgram *program)
{
	Jsonb	   *given = sf_json_get(options, "key_path");
	SfInputValue *path;
	JsonbValue	text;
	const char *problem;

	if (given == NULL)
		return NULL;
	sf_json_root(given, &text);
	path = sf_input_value_compile(&text, program->language == SF_QL_JSONATA, &problem);
	if (path == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option key_path %s", problem)));
	return path;
}

/* Refuse a start for its key. */
static void pg_attribute_noreturn()
refuse(const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_EXECUTION_INPUT),
			 errmsg("the key of the execution %s", problem),
			 errhint("It comes from option key_path of the state machine, or from option key of the start.")));
}

/* The value as a key; NULL: none. */
static char *
key_text(const Jsonb *value)
{
	JsonbValue	root;
	char	   *text = NULL;

	sf_json_root(value, &root);
	if (root.type == jbvNull)
		return NULL;
	if (root.type == jbvString)
		text = pnstrdup(root.val.string.val, root.val.string.len);
	else if (root.type == jbvNumeric)
		text = sf_json_to_cstring(value);
	else
		refuse(psprintf("must be a string or a number, not %s", sf_json_type_name(&root)));
	if (*text == '\0' || pg_mbstrlen(text) > SF_MAX_HOME_KEY)
		refuse(psprintf("must have from 1 to %d characters", SF_MAX_HOME_KEY));
	return text;
}

/* The key that a start gives an execution, or the option of its version (NULL: none); NULL: it has none. */
static char *
evaluate(const SfExecution *execution, const SfInputValue *path)
{
	Jsonb	   *value = execution->start.options == NULL ? NULL : sf_json_get(execution->start.options, "key");
	SfError		error;

	if (value != NULL)
		return key_text(value);
	if (path == NULL)
		return NULL;
	if (!sf_input_value_find(path, execution->input, &value, &error))
		refuse(psprintf("cannot be evaluated: %s", error.cause == NULL ? error.name : error.cause));
	return key_text(value);
}

/* --- rows --- */

static SfKeyedCache cache = {
	.cache = {.table = "execution_key",.load = sf_keyed_cache_begin,.is_latest = true},
	.index = {"execution_key", "execution_key_pkey"}
};

/* Read a key. */
static void
read_key(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(char **) arg = sf_row_text(tuple, desc, 1);
}

/* Find the key of an execution; NULL: it has none. */
static char *
find(int64 execution_no)
{
	static SfPlan plan = SF_PLAN("SELECT k.key FROM _sfflow.execution_key k WHERE k.execution_no = $1");
	char	   *key = NULL;

	if (sf_keyed_cache_is_any(&cache))
		sf_db_read(&plan, read_key, &key, SF_INT8(execution_no));
	return key;
}

/* Keep the key of an execution. */
static void
insert(int64 execution_no, const char *key)
{
	static SfPlan plan = SF_PLAN("INSERT INTO _sfflow.execution_key (execution_no, key) VALUES ($1, $2)");

	sf_db_execute(&plan, SF_INT8(execution_no), SF_TEXT(key));
	if (!sf_keyed_cache_is_any(&cache))
		sf_db_invalidate("execution_key");
}

/* --- starts --- */

/* Raise unless a key is at home here, with its executions; where Citus does not say, it is. */
static void
require_here(const char *key)
{
	uint64		changes = sf_home_changes();
	SfHome		home;

	if (sf_home_claim_known(key))
		return;
	home = sf_home_find(key);
	if (home.place == SF_HOME_UNKNOWN)
		return;
	if (home.place == SF_HOME_HERE)
	{
		sf_home_claim(key, home.group, changes);
		return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_NOT_AT_HOME),
			 errmsg("key \"%s\" is at home on node %d, not on this one", key, home.group),
			 sf_error_node(home.group),
			 errdetail("Node %d is host=%s port=%d.", home.group, home.host, home.port),
			 errhint("Start the execution there, or by a function that Citus delegates to the node of the key.")));
}

/*
 * Give an execution that is to begin its key, by the compiled option of its version (or NULL); raise if it is
 * elsewhere.
 */
void
sf_home_prepare(SfExecution *execution, const void *option)
{
	char	   *key;

	if (sf_execution_has_parent(execution))
		key = find(execution->parent_execution_no);
	else
	{
		key = evaluate(execution, option);
		if (key != NULL)
			require_here(key);
	}
	SF_OF_START(execution, sf_home_option) = key;
}

/* An execution begins: keep its key. */
void
sf_home_beginning(const SfExecution *execution, SfBranch *root)
{
	const char *key = SF_OF_START(execution, sf_home_option);

	if (key != NULL)
		insert(execution->execution_no, key);
}

/* Keep an execution from being moved with its key until the end of the transaction. */
void
sf_home_keep(int64 execution_no)
{
	const char *key = find(execution_no);

	if (key != NULL)
		sf_home_lock(key, true);
}
