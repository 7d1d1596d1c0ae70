/*
 * move_in.c
 *		On the node that executions come to: a departure is read, and becomes rows of this node.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/array.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/hooks.h"
#include "base/version/schema.h"
#include "copy/load_guard.h"
#include "db/row.h"
#include "feature/home/home.h"
#include "feature/move/move.h"
#include "run/apply/apply.h"

/* Executions that leave at a time, or else one with all that it has started */
#define BATCH	500

/* What a departure brings */
typedef struct Arrival
{
	const SfMove *move;
	char	   *departure;
	Jsonb	   *document;		/* of sf_move_describe(), and the branches that were parked */
	Jsonb	   *numbers;		/* of objects here, by columns and the other node's numbers */
	List	   *executions;		/* int64 *: numbers */
	MemoryContext context;		/* where these are */
} Arrival;

/* --- questions --- */

/* A text as JSON. */
static char *
quoted(const char *text)
{
	StringInfoData json;

	initStringInfo(&json);
	escape_json(&json, text);
	return json.data;
}

/* Ask the node where the executions are; a List of Jsonb.  Raises if it does not answer. */
static List *
ask(const SfMove *move, const char *arguments, SfNodeEffort effort)
{
	SfNodeQuestion question = {.statement = "SELECT a FROM _sfflow.key_move($1) a",.argument = arguments,
	.effort = effort};
	const SfNodeAnswer *answer = linitial(sf_node_ask(list_make1((void *) move->from), &question));
	List	   *documents = NIL;

	if (answer->error != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("node %d, where executions of key \"%s\" are, says: %s", move->from->number, move->key, answer->error),
				 errhint("Call sf_move_key() again: it goes on where it was.")));
	foreach_ptr(char, text, answer->rows)
		documents = lappend(documents, DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text))));
	return documents;
}

/* Ask what has an answer of one document. */
static Jsonb *
ask_one(const SfMove *move, const char *arguments, SfNodeEffort effort)
{
	List	   *documents = ask(move, arguments, effort);

	if (documents == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("node %d, where executions of key \"%s\" are, gives an empty answer", move->from->number, move->key)));
	return linitial(documents);
}

/* Read a document. */
static void
read_document(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(Jsonb **) arg = sf_row_jsonb(tuple, desc, 1);
}

/* Run a query that gives one document. */
#define DOCUMENT(plan, document, ...) sf_db_read(&plan, read_document, document, __VA_ARGS__)

/* --- what the nodes call alike --- */

/* The number that sf_set_node() has given the other node; SF_NO_NODE: none. */
static int
node_of(const Jsonb *document)
{
	static SfPlan plan = SF_PLAN("SELECT ($1 ->> 'node')::pg_catalog.int8");

	return (int) sf_db_number(&plan, SF_NO_NODE, SF_JSONB(document));
}

/* Raise unless two nodes can have executions of each other. */
static void
check_nodes(const SfMove *move, const Jsonb *document)
{
	static SfPlan schema = SF_PLAN("SELECT ($1 ->> 'schema')::pg_catalog.int8");
	int			here = sf_home_node_number();
	int			there = node_of(document);

	if (here == SF_NO_NODE || there == SF_NO_NODE || here == there)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("executions cannot move between nodes whose numbers are not different ones of sf_set_node()"),
				 errdetail("This node %s, the other one %s.",
						   here == SF_NO_NODE ? "has no number" : psprintf("is node %d", here),
						   there == SF_NO_NODE ? "has no number" : psprintf("is node %d", there))));
	if (sf_db_number(&schema, -1, SF_JSONB(document)) != sf_schema_of_database())
		ereport(ERROR,
				(errcode(ERRCODE_SF_SCHEMA_DIFFERS),
				 errmsg("executions cannot move between nodes whose schemas of sfflow differ"),
				 errhint("ALTER EXTENSION sfflow UPDATE on all nodes first.")));
}

/*
 * The numbers that objects of the other node have here, as far as they are here: {"column": {"number there":
 * number}}.
 */
static Jsonb *
numbers_here(const Jsonb *document)
{
	static SfPlan add = SF_PLAN("SELECT $1 || $2");
	Jsonb	   *numbers = sf_json_from_cstring("{}");

	foreach_ptr(SfMoveReference, r, sf_move_references())
	{
		SfPlan		plan = {.query = psprintf(
			"SELECT pg_catalog.jsonb_build_object('%s', coalesce(pg_catalog.jsonb_object_agg(n.key, o.%s), '{}'))"
			" FROM pg_catalog.jsonb_each_text($1 -> '%s') n JOIN _sfflow.%s o ON o.name = n.value",
			r->column, r->column, r->column, r->table)};
		Jsonb	   *some = NULL;

		if (!OidIsValid(sf_db_relation(r->table)))
			continue;
		DOCUMENT(plan, &some, SF_JSONB(document));
		SPI_freeplan(plan.plan);
		DOCUMENT(add, &numbers, SF_JSONB(numbers), SF_JSONB(some));
	}
	return numbers;
}

/* Raise unless the versions of machines that executions have are here as they are there. */
static void
check_versions(const SfMove *move, const Jsonb *document, const Jsonb *numbers)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.format('\"%s\", version %s', coalesce($1 #>> ARRAY['machine_no', u.no], u.no), u.version)"
		" FROM (SELECT pg_catalog.split_part(v.key, '/', 1) AS no, pg_catalog.split_part(v.key, '/', 2) AS version, v.value AS digest"
		"  FROM pg_catalog.jsonb_each_text($1 -> 'versions') v) u"
		" LEFT JOIN _sfflow.state_machine_version h"
		"  ON h.machine_no = ($2 #>> ARRAY['machine_no', u.no])::pg_catalog.int4 AND h.version = u.version::pg_catalog.int4"
		" WHERE pg_catalog.md5(pg_catalog.jsonb_build_array(h.definition::pg_catalog.text, h.execution_id_path, h.options)::pg_catalog.text)"
		"  IS DISTINCT FROM u.digest OR h.version IS NULL ORDER BY 1 LIMIT 1");
	const char *missing = sf_list_first(sf_db_texts(&plan, SF_JSONB(document), SF_JSONB(numbers)));

	if (missing != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("state machine %s, of executions of key \"%s\", is not on this node, or has another definition here",
						missing, move->key),
				 errhint("Nodes have the same versions by sf_apply_all(), or by sf_apply() of the same documents.")));
}

/* --- rows --- */

/* Raise if rows name an object that is not here. */
static void
check_names(const Arrival *arrival, const char *relation, const SfMoveReference *reference, SfArg bodies)
{
	SfPlan		plan = {.query = psprintf(
		"SELECT coalesce($3 #>> ARRAY['%s', x.no], x.no) FROM"
		" (SELECT DISTINCT (b::_sfflow.%s).%s::pg_catalog.text AS no FROM pg_catalog.unnest($1) b) x"
		" WHERE x.no IS NOT NULL AND NOT ($2 -> '%s') ? x.no LIMIT 1", reference->column, relation, reference->column,
										  reference->column)};
	const char *missing = sf_list_first(sf_db_texts(&plan, bodies, SF_JSONB(arrival->numbers), SF_JSONB(arrival->document)));

	SPI_freeplan(plan.plan);
	if (missing != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("%s \"%s\", of an execution of key \"%s\", is not on this node", reference->table, missing,
						arrival->move->key),
				 errhint("Create it, and call sf_move_key() again.")));
}

/* Find a table whose rows move by its name in an answer; InvalidOid: there is none. */
static Oid
find_table(const char *relation)
{
	/* a name that is looked up is a constant (sf_db_relation) */
	foreach_ptr(SfMoveTable, table, sf_move_tables())
		if (strcmp(table->name, relation) == 0)
			return sf_db_relation(table->name);
	return InvalidOid;
}

/* Insert rows of a table, with numbers of this node. */
static void
insert_rows(const Arrival *arrival, const char *relation, SfArg bodies)
{
	Oid			table = find_table(relation);
	StringInfoData members;
	SfPlan		plan = {NULL};

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_SF_SCHEMA_DIFFERS),
				 errmsg("executions of key \"%s\" have rows of a table %s, which this node does not have", arrival->move->key, relation)));
	initStringInfo(&members);
	foreach_ptr(SfMoveReference, r, sf_move_references())
	{
		if (get_attnum(table, r->column) == InvalidAttrNumber)
			continue;
		check_names(arrival, relation, r, bodies);
		appendStringInfo(&members, "%s'%s', $2 -> '%s' -> (b::_sfflow.%s).%s::pg_catalog.text", members.len > 0 ? ", " : "",
						 r->column, r->column, relation, r->column);
	}
	plan.query = psprintf(
		"INSERT INTO _sfflow.%s SELECT p.* FROM pg_catalog.unnest($1) b"
		" CROSS JOIN LATERAL pg_catalog.jsonb_populate_record(b::_sfflow.%s,"
		" CASE WHEN $2 IS NOT NULL THEN pg_catalog.jsonb_build_object(%s) END) p", relation, relation, members.data);
	sf_db_execute(&plan, bodies, SF_JSONB(arrival->numbers));
	SPI_freeplan(plan.plan);
}

/* Raise if one of the executions that come has an id that is here already. */
static void
check_ids(const Arrival *arrival, SfArg bodies)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.execution_id FROM pg_catalog.unnest($1) b"
		" JOIN _sfflow.execution e ON e.execution_id = (b::_sfflow.execution).execution_id LIMIT 1");
	const char *id = sf_list_first(sf_db_texts(&plan, bodies));

	if (id != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_ALREADY_EXISTS),
				 errmsg("execution \"%s\" is on this node, too", id),
				 errdetail("Executions of key \"%s\" that come from node %d stay on their way.", arrival->move->key,
						   arrival->move->from->number),
				 errhint("Delete the one that is here (sf_purge), and call sf_move_key() again.")));
}

/* Note the numbers of executions that have come. */
static void
note_executions(Arrival *arrival, SfArg bodies)
{
	static SfPlan plan = SF_PLAN("SELECT (b::_sfflow.execution).execution_no FROM pg_catalog.unnest($1) b");

	List	   *numbers = sf_db_numbers(&plan, bodies);
	MemoryContext before = MemoryContextSwitchTo(arrival->context);

	foreach_ptr(const int64, number, numbers)
	{
		int64	   *copy = palloc(sizeof(int64));

		*copy = *number;
		arrival->executions = lappend(arrival->executions, copy);
	}
	MemoryContextSwitchTo(before);
}

/* Insert the rows of one table that a List of texts has. */
static void
insert_texts(Arrival *arrival, const char *relation, List *texts)
{
	Datum	   *values = palloc(sizeof(Datum) * list_length(texts));
	int			n = 0;
	SfArg		bodies;

	foreach_ptr(char, text, texts)
		values[n++] = CStringGetTextDatum(text);
	bodies = sf_query_arg(TEXTARRAYOID, PointerGetDatum(construct_array(values, n, TEXTOID, -1, false, TYPALIGN_INT)), false);
	if (strcmp(relation, "execution") == 0)
		check_ids(arrival, bodies);
	insert_rows(arrival, relation, bodies);
	if (strcmp(relation, "execution") == 0)
		note_executions(arrival, bodies);
}

/* Up to where the rows of a departure were read */
typedef struct Position
{
	char		relation[NAMEDATALEN];
	int			row_no;
} Position;

/* Read rows of a departure behind a position, as many as an answer has, and insert them; false: there are no more. */
static bool
read_some(Arrival *arrival, Position *behind)
{
	List	   *texts = NIL;
	List	   *rows = ask(arrival->move,
						   psprintf("{\"do\": \"rows\", \"departure\": \"%s\", \"relation\": \"%s\", \"row_no\": %d}",
									arrival->departure, behind->relation, behind->row_no), SF_NODE_WRITES);

	foreach_ptr(Jsonb, row, rows)
	{
		char	   *relation = sf_move_text(row, "relation");

		if (texts != NIL && strcmp(relation, behind->relation) != 0)
		{
			insert_texts(arrival, behind->relation, texts);
			texts = NIL;
		}
		texts = lappend(texts, sf_move_text(row, "body"));
		strlcpy(behind->relation, relation, NAMEDATALEN);
		behind->row_no = (int) sf_move_number(row, "row_no");
	}
	if (texts != NIL)
		insert_texts(arrival, behind->relation, texts);
	return rows != NIL;
}

/* Read the rows of a departure, and insert them; what an answer takes of memory is free when the next one comes. */
static void
read_rows(Arrival *arrival)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext outer = MemoryContextSwitchTo(context);
	Position	behind = {"", 0};

	while (read_some(arrival, &behind))
	{
		MemoryContextReset(context);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
}

/* --- what the rows mean here --- */

/* Tell workers of a branch that is due. */
static void
tell_due(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_owner, COL_due_at};
	SfBranchKey key = {sf_row_number(tuple, desc, COL_execution_no, 0), sf_row_number(tuple, desc, COL_branch_no, 0)};

	sf_hooks.due(key, (Oid) sf_row_number(tuple, desc, COL_owner, InvalidOid),
				 sf_row_number(tuple, desc, COL_due_at, 0));
}

/* Have executions that have come go on: what was parked asks again, and features take them in. */
static void
resume_arrived(const Arrival *arrival)
{
	static SfPlan due = SF_PLAN(
		"SELECT b.execution_no, b.branch_no, b.owner, b.due_at FROM _sfflow.branch b"
		" WHERE b.execution_no = ANY ($1) AND b.due_at IS NOT NULL");
	SfArg		array = sf_query_int8s(arrival->executions);

	sf_apply_arrived(array, sf_json_get(arrival->document, "parked"));
	sf_move_note_back(array);
	SF_TELL(on_arrived, array, node_of(arrival->document));
	sf_feature_invalidate_cached();
	sf_db_read(&due, tell_due, NULL, array);
}

/* Read the rows of a departure past the guard of loads, which lets nothing else write these tables. */
static void
read_rows_guarded(Arrival *arrival)
{
	sf_load_guard_set_moving(true);
	PG_TRY();
	{
		read_rows(arrival);
	}
	PG_FINALLY();
	{
		sf_load_guard_set_moving(false);
	}
	PG_END_TRY();
}

/* Insert what a departure brings, and note that it has arrived. */
static void
arrive(SfMove *move, char *departure, Jsonb *document)
{
	static SfPlan note = SF_PLAN(
		"INSERT INTO _sfflow.key_arrival (departure, key, from_node, executions, arrived_at)"
		" VALUES ($1::pg_catalog.uuid, $2, $3, $4, pg_catalog.clock_timestamp())");
	Arrival		arrival = {.move = move,.departure = departure,.document = document,.context = CurrentMemoryContext};

	arrival.numbers = numbers_here(document);
	check_versions(move, document, arrival.numbers);
	read_rows_guarded(&arrival);
	sf_db_execute(&note, SF_TEXT(departure), SF_TEXT(move->key), SF_INT4(move->from->number),
				  SF_INT4(list_length(arrival.executions)));
	resume_arrived(&arrival);
	move->moved += list_length(arrival.executions);
	SF_DEBUG_POINT("move-arrives");
}

/* --- steps --- */

/*
 * Raise unless the nodes have numbers, and this one has what the executions of the key need; once in a call, before
 * any leaves.
 */
static void
check_once(SfMove *move)
{
	Jsonb	   *document;

	if (move->checked)
		return;
	document = ask_one(move, psprintf("{\"do\": \"look\", \"key\": %s}", quoted(move->key)), SF_NODE_WRITES);
	check_nodes(move, document);
	check_versions(move, document, numbers_here(document));
	move->checked = true;
}

/*
 * Say in the row of the key that its executions come from the other node, before any of them leaves it; false: it
 * says so already, or there is no row.
 */
static bool
store_source(SfMove *move)
{
	SfHomeRow	row;

	if (!sf_home_tells())
		return false;
	row = sf_home_row_find(move->key);
	if (row.found && row.group == sf_home_group() && row.from_group == move->from->number)
		return false;
	sf_home_row_set(move->key, sf_home_group(), move->from->number);
	return true;
}

/* Move some executions of a key here, in this transaction: the caller commits, and calls again until move->done. */
void
sf_move_some(SfMove *move)
{
	static SfPlan arrived = SF_PLAN(
		"SELECT coalesce(pg_catalog.jsonb_agg(a.departure), '[]') FROM _sfflow.key_arrival a"
		" WHERE a.key = $1 AND a.from_node = $2");
	static SfPlan told = SF_PLAN(
		"DELETE FROM _sfflow.key_arrival a WHERE a.key = $1 AND a.from_node = $2"
		" AND $3 @> pg_catalog.to_jsonb(a.departure)");
	Jsonb	   *arrivals = NULL;
	Jsonb	   *answer;
	char	   *departure;

	check_once(move);
	sf_home_lock(move->key, false);
	if (store_source(move))
		return;
	DOCUMENT(arrived, &arrivals, SF_TEXT(move->key), SF_INT4(move->from->number));
	answer = ask_one(move, psprintf("{\"do\": \"depart\", \"key\": %s, \"to\": %d, \"most\": %d, \"arrived\": %s}",
									quoted(move->key), sf_home_node_number(), BATCH,
									sf_json_to_cstring(arrivals)), SF_NODE_WRITES_LONG);
	sf_db_execute(&told, SF_TEXT(move->key), SF_INT4(move->from->number), SF_JSONB(arrivals));
	departure = sf_json_get_cstring(answer, "departure");
	move->left = sf_move_number(answer, "left");
	if (departure != NULL)
	{
		check_nodes(move, answer);
		arrive(move, departure, answer);
		return;
	}
	move->done = move->left == 0;
	if (move->done && sf_home_tells())
		sf_home_row_set(move->key, sf_home_group(), SF_NO_GROUP);
}
