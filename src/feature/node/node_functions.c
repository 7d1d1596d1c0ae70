/*
 * node_functions.c
 *		sf_add_node(), sf_drop_node(), sf_node_addresses(), and the questions of sf_all_executions() and the others.
 *
 * A question is a function of the private schema on each node, with the same arguments; what it answers is one document
 * per row.  It runs there as the role that has asked here, and on this database in its own session.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/columns.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "copy/instance.h"
#include "feature/node/node.h"
#include "store/role/privilege.h"
#include "store/state_machine/machine.h"

/* The greatest number of a node: numbers of executions have 15 bits for it */
#define MAX_NUMBER	32767

/* What may be asked, and by which statement */
static struct
{
	const char *question;
	SfPlan		plan;
}			questions[] = {
	{"executions", SF_PLAN("SELECT a FROM _sfflow.node_executions($1) a")},
	{"labelled", SF_PLAN("SELECT a FROM _sfflow.node_labelled($1) a")},
	{"jobs", SF_PLAN("SELECT a FROM _sfflow.node_jobs($1) a")},
	{"metrics", SF_PLAN("SELECT a FROM _sfflow.node_metrics($1) a")},
	{"night", SF_PLAN("SELECT a FROM _sfflow.node_night($1) a")},
	{"alerts", SF_PLAN("SELECT a FROM _sfflow.node_alerts($1) a")},
};

/* Read a row of nodes. */
static void
append_node(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_node = 1, COL_name, COL_dsn};
	List	  **nodes = arg;
	SfNode	   *node = palloc0(sizeof(SfNode));

	node->number = (int) sf_row_number(tuple, desc, COL_node, 0);
	node->name = sf_row_text(tuple, desc, COL_name);
	node->dsn = sf_row_text(tuple, desc, COL_dsn);
	*nodes = lappend(*nodes, node);
}

/* List the nodes, a List of SfNode, by their numbers. */
List *
sf_node_list(void)
{
	static SfPlan plan = SF_PLAN("SELECT n.node, n.name, n.dsn FROM _sfflow.node n ORDER BY n.node");
	List	   *nodes = NIL;

	sf_db_run(InvalidOid, &plan, append_node, &nodes, NULL, 0);
	return nodes;
}

/* Take the row of a node that answers, or why it does not. */
static void
put_row(FunctionCallInfo fcinfo, const SfNode *node, bool is_state, const char *error, Jsonb *answer)
{
	SfColumns	row = {0};

	sf_columns_add(&row, Int32GetDatum(node->number), false);
	sf_columns_add(&row, BoolGetDatum(error == NULL), !is_state);
	sf_columns_text(&row, error);
	sf_columns_jsonb(&row, answer);
	sf_columns_put(fcinfo, &row);
}

/* Read an answer. */
static void
append_answer(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **answers = arg;

	*answers = lappend(*answers, sf_row_jsonb(tuple, desc, 1));
}

/* _sfflow.ask_nodes(question, arguments): what all nodes answer, and a row per node that says whether it has. */
SF_SQL_FUNCTION(sfflow_ask_nodes)
{
	char	   *question = sf_arg_text(fcinfo, 0, "question");
	Jsonb	   *arguments = sf_arg_jsonb(fcinfo, 1, "arguments");
	SfNodeQuestion asked = {.argument = JsonbToCString(NULL, &arguments->root, VARSIZE(arguments))};
	SfPlan	   *plan = NULL;
	List	   *others = NIL;

	for (size_t i = 0; i < lengthof(questions); i++)
		if (strcmp(questions[i].question, question) == 0)
			plan = &questions[i].plan;
	if (plan == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("nodes have no answer to the question \"%s\"", question)));
	asked.statement = plan->query;
	InitMaterializedSRF(fcinfo, 0);
	/* This database first: what is wrong with the arguments is an error before anyone else is asked. */
	foreach_ptr(SfNode, node, sf_node_list())
	{
		List	   *answers = NIL;

		if (node->dsn != NULL)
		{
			others = lappend(others, node);
			continue;
		}
		sf_db_run(GetUserId(), plan, append_answer, &answers, SF_ARGS(SF_JSONB(arguments)));
		foreach_ptr(Jsonb, answer, answers)
			put_row(fcinfo, node, false, NULL, answer);
		put_row(fcinfo, node, true, NULL, NULL);
		sf_node_note(node->number, NULL);
	}
	foreach_ptr(const SfNodeAnswer, answer, sf_node_ask(others, &asked))
	{
		foreach_ptr(char, text, answer->rows)
			put_row(fcinfo, answer->node, false, NULL,
					DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text))));
		put_row(fcinfo, answer->node, true, answer->error, NULL);
	}
	return (Datum) 0;
}

/* The metrics of a machine */
typedef struct Metrics
{
	char	   *machine;
	Jsonb	   *document;
} Metrics;

/* Read a row of _sfflow.metric_document. */
static void
append_metrics(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_state_machine = 1, COL_document};
	List	  **found = arg;
	Metrics    *metrics = palloc(sizeof(Metrics));

	metrics->machine = sf_row_text(tuple, desc, COL_state_machine);
	metrics->document = sf_row_jsonb(tuple, desc, COL_document);
	*found = lappend(*found, metrics);
}

/* _sfflow.node_metrics(arguments): counters and histograms of the machines that the caller may read. */
SF_SQL_FUNCTION(sfflow_node_metrics)
{
	static SfPlan plan = SF_PLAN("SELECT d.state_machine, d.document FROM _sfflow.metric_document d");
	List	   *found = NIL;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	sf_db_run(InvalidOid, &plan, append_metrics, &found, NULL, 0);
	foreach_ptr(const Metrics, metrics, found)
	{
		SfColumns	row = {0};

		if (!sf_privilege_is_administrator() &&
			!sf_privilege_check(SF_OBJECT_STATE_MACHINE, metrics->machine, sf_machine_owner(metrics->machine),
								SF_RIGHT_READ))
			continue;
		sf_columns_jsonb(&row, metrics->document);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* _sfflow.nodes_seen(): when each node has answered last. */
SF_SQL_FUNCTION(sfflow_nodes_seen)
{
	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(const SfNode, node, sf_node_list())
	{
		SfNodeSeen	seen = sf_node_seen(node->number);
		SfColumns	row = {0};

		sf_columns_add(&row, Int32GetDatum(node->number), false);
		sf_columns_add(&row, TimestampTzGetDatum(seen.answered_at), seen.answered_at == DT_NOBEGIN);
		sf_columns_add(&row, TimestampTzGetDatum(seen.failed_at), seen.failed_at == DT_NOBEGIN);
		sf_columns_text(&row, seen.failed_at == DT_NOBEGIN ? NULL : seen.error);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* _sfflow.node_number(arguments): the number of sf_set_node(), or null: there is none. */
SF_SQL_FUNCTION(sfflow_node_number)
{
	static SfPlan plan = SF_PLAN("SELECT i.node FROM _sfflow.instance i");
	int64		number = sf_db_number(&plan, SF_NO_NODE);

	PG_RETURN_DATUM(JsonbPGetDatum(sf_json_from_cstring(number == SF_NO_NODE ? "null" : psprintf(INT64_FORMAT, number))));
}

/* Read the number that a node draws its numbers with, or SF_NO_NODE. */
static int
number_of(const char *answer)
{
	return strcmp(answer, "null") == 0 ? SF_NO_NODE : atoi(answer);
}

/* Raise if a node that is to be added draws the same numbers as this database, or as a node that answers. */
static void
check_numbers(int number, char *name, char *dsn)
{
	static SfPlan plan = SF_PLAN("SELECT _sfflow.node_number('{}')::pg_catalog.text");
	SfNodeQuestion question = {.statement = "SELECT a FROM _sfflow.node_number($1) a",.argument = "{}",.is_unnoted = true};
	SfNode		added = {.number = number,.name = name,.dsn = dsn};
	List	   *asked = list_make1(&added);
	int			numbers[SF_MAX_NODE + 1] = {0};
	int			own = number_of(sf_list_first(sf_db_list(&plan, sf_row_append_text, NULL, 0)));

	if (dsn == NULL)
		return;
	foreach_ptr(SfNode, node, sf_node_list())
		if (node->number != number && node->dsn != NULL)
			asked = lappend(asked, node);
	foreach_ptr(const SfNodeAnswer, answer, sf_node_ask(asked, &question))
	{
		int			drawn = answer->rows == NIL ? SF_NO_NODE : number_of(linitial(answer->rows));

		if (drawn != SF_NO_NODE && answer->node->number == number && drawn == own)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_OPTION),
					 errmsg("node %d cannot be added: sf_set_node() has given it the number %d, which this database has", number, drawn),
					 errhint("Numbers of their executions would not differ: call sf_set_node() with another number there.")));
		if (drawn >= 0 && drawn <= SF_MAX_NODE && ++numbers[drawn] == 2)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_OPTION),
					 errmsg("node %d cannot be added: two nodes have the number %d of sf_set_node()", number, drawn),
					 errhint("Numbers of their executions would not differ: call sf_set_node() with another number there.")));
	}
}

/* sf_add_node(node, name, dsn): a node, or another name or address of one; without a dsn it is this database. */
SF_SQL_FUNCTION(sfflow_sf_add_node)
{
	static SfPlan taken = SF_PLAN(
		"SELECT n.node FROM _sfflow.node n WHERE n.node <> $1"
		" AND (n.name = $2 OR n.dsn IS NULL AND $3 IS NULL) LIMIT 1");
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.node AS n (node, name, dsn, added_at) VALUES ($1, $2, $3, $4)"
		" ON CONFLICT (node) DO UPDATE SET name = EXCLUDED.name, dsn = EXCLUDED.dsn");
	int			number = sf_arg_count(fcinfo, 0, "node", 0, 0);
	char	   *name = sf_arg_text(fcinfo, 1, "name");
	char	   *dsn = sf_arg_text_or_null(fcinfo, 2);
	char	   *problem = dsn == NULL ? NULL : sf_node_dsn_problem(dsn);
	int64		other;

	if (PG_ARGISNULL(0) || number > MAX_NUMBER)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument node must be a number from 0 to %d", MAX_NUMBER)));
	if (*name == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("the name of a node must not be empty")));
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument dsn is not one of a node: %s", problem),
				 errhint("A node is asked as the role that asks; libpq finds passwords in a file (passfile).")));
	other = sf_db_number(&taken, SF_NO_NODE, SF_INT4(number), SF_TEXT(name), SF_TEXT(dsn));
	if (other != SF_NO_NODE)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("node %d has this name already, or is this database", (int) other)));
	check_numbers(number, name, dsn);
	sf_db_execute(&plan, SF_INT4(number), SF_TEXT(name), SF_TEXT(dsn), SF_TIME(GetCurrentTimestamp()));
	sf_node_forget(number);
	PG_RETURN_VOID();
}

/* sf_drop_node(node): it is not asked any more. */
SF_SQL_FUNCTION(sfflow_sf_drop_node)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.node n WHERE n.node = $1");
	static SfPlan applied = SF_PLAN("DELETE FROM _sfflow.node_applied a WHERE a.node = $1");
	int			number = sf_arg_count(fcinfo, 0, "node", 0, 0);

	sf_db_execute(&applied, SF_INT4(number));
	if (sf_db_execute(&plan, SF_INT4(number)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("node %d does not exist", number)));
	sf_node_forget(number);
	PG_RETURN_VOID();
}

/* sf_node_addresses(): the addresses of the nodes. */
SF_SQL_FUNCTION(sfflow_sf_node_addresses)
{
	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(const SfNode, node, sf_node_list())
	{
		SfColumns	row = {0};

		sf_columns_add(&row, Int32GetDatum(node->number), false);
		sf_columns_text(&row, node->name);
		sf_columns_text(&row, node->dsn);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}
