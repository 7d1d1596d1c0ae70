/*
 * move_out.c
 *		On the node that executions leave: departures.
 *
 * An execution goes with all that it has started, in one departure.  It is taken if no session holds one of its
 * branches: locks are tried and never waited for.  What a worker runs just now goes with a later departure.  Who
 * has tried to lock a row meanwhile finds it gone, as after a purge.
 *
 * Those of the key that stand in one line, as that of a start key, go together or not at all: were they on two nodes,
 * either would run one.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "db/row.h"
#include "feature/home/home.h"
#include "feature/move/move.h"
#include "store/feature.h"
#include "store/feature_tables.h"
#include "store/purge/purge.h"

/* Bytes of rows that one answer has */
#define ANSWER_BYTES	8000000

/* --- what there is --- */

/* Read a document. */
static void
read_document(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(Jsonb **) arg = sf_row_jsonb(tuple, desc, 1);
}

/* The names of the objects that a column may name, by their numbers: {"column": {"number": "name"}}. */
static Jsonb *
names_of(const SfMoveReference *reference)
{
	SfPlan		plan = {.query = psprintf(
		"SELECT pg_catalog.jsonb_build_object('%s', coalesce(pg_catalog.jsonb_object_agg(o.%s, o.name), '{}'))"
		" FROM _sfflow.%s o", reference->column, reference->column, reference->table)};
	Jsonb	   *document = NULL;

	sf_db_run(InvalidOid, &plan, read_document, &document, NULL, 0);
	SPI_freeplan(plan.plan);
	return document;
}

/* Of this node, and of the versions of the machines of executions: digests by "machine_no/version" */
#define LOOK(executions) \
	"SELECT pg_catalog.jsonb_build_object('node', (SELECT i.node FROM _sfflow.instance i), 'schema', $2," \
	" 'versions', (SELECT coalesce(pg_catalog.jsonb_object_agg(u.machine_no || '/' || u.version," \
	"  pg_catalog.md5(pg_catalog.jsonb_build_array(v.definition::pg_catalog.text, v.execution_id_path, v.options)::pg_catalog.text)), '{}')" \
	"  FROM (SELECT DISTINCT e.machine_no, e.version FROM " executions ") u" \
	"  JOIN _sfflow.state_machine_version v ON v.machine_no = u.machine_no AND v.version = u.version))"

/*
 * What executions (NIL: all of a key) need of a node: names of objects, and digests of the versions of their
 * machines.
 */
Jsonb *
sf_move_describe(const char *key, const List *numbers)
{
	static SfPlan of_key = SF_PLAN(LOOK("_sfflow.execution_key k"
		"   JOIN _sfflow.execution e ON e.execution_no = k.execution_no WHERE k.key = $1"));
	static SfPlan of_some = SF_PLAN(LOOK("_sfflow.execution e WHERE e.execution_no = ANY ($1)"));
	static SfPlan add = SF_PLAN("SELECT $1 || $2");
	Jsonb	   *document = NULL;

	sf_db_read(numbers == NIL ? &of_key : &of_some, read_document, &document,
			   numbers == NIL ? SF_TEXT(key) : sf_query_int8s(numbers), SF_INT4(sf_schema_of_database()));
	foreach_ptr(SfMoveReference, r, sf_move_references())
		if (OidIsValid(sf_db_relation(r->table)))
			sf_db_read(&add, read_document, &document, SF_JSONB(document), SF_JSONB(names_of(r)));
	return document;
}

/* --- which executions go --- */

/* Collects numbers of rows. */
typedef struct Pair
{
	int64		root;
	int64		execution_no;
} Pair;

/* Read two numbers. */
static void
append_pair(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_root = 1, COL_execution_no};
	List	  **pairs = arg;
	Pair	   *pair = palloc(sizeof(Pair));

	pair->root = sf_row_number(tuple, desc, COL_root, 0);
	pair->execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	*pairs = lappend(*pairs, pair);
}

/* List some executions of a key that no other one has started, behind a number, but not some. */
static List *
list_roots(const char *key, int64 behind, const List *but, int most)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.execution_no FROM _sfflow.execution_key k"
		" JOIN _sfflow.execution e ON e.execution_no = k.execution_no"
		" WHERE k.key = $1 AND k.execution_no > $2"
		" AND NOT EXISTS (SELECT FROM pg_catalog.unnest($4) AS b(n) WHERE b.n = k.execution_no)"
		" AND NOT EXISTS (SELECT FROM _sfflow.execution p WHERE p.execution_no = e.parent_execution_no)"
		" ORDER BY k.execution_no LIMIT $3");

	return sf_db_numbers(&plan, SF_TEXT(key), SF_INT8(behind), SF_INT4(most), sf_query_int8s(but));
}

/* List families in the order of their roots, family by family, up to a number of executions: pairs. */
static List *
list_members(const List *roots, SfArg most)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.n, f.execution_no FROM pg_catalog.unnest($1) AS r(n) CROSS JOIN LATERAL ("
		" WITH RECURSIVE f (execution_no) AS (SELECT r.n"
		"  UNION ALL SELECT c.execution_no FROM f JOIN _sfflow.execution c ON c.parent_execution_no = f.execution_no)"
		" SELECT f.execution_no FROM f) f LIMIT $2");
	List	   *family = NIL;

	sf_db_read(&plan, append_pair, &family, sf_query_int8s(roots), most);
	return family;
}

/* List families altogether. */
static List *
list_whole(const List *roots)
{
	return list_members(roots, SF_NULL(INT8OID));
}

/*
 * List families in the order of their roots, family by family, up to a number of executions, but the first one
 * altogether: pairs of the root and the execution.  Roots that are not among them are taken out of the list.
 */
static List *
list_families(List **roots, int most)
{
	List	   *family = list_members(*roots, SF_INT8(most));
	int64		last;

	if (list_length(family) < most)
		return family;
	/* the last one may have more */
	last = ((Pair *) llast(family))->root;
	while (*(int64 *) llast(*roots) != last)
		*roots = list_delete_last(*roots);
	if (list_length(*roots) > 1)
	{
		*roots = list_delete_last(*roots);
		while (((Pair *) llast(family))->root == last)
			family = list_delete_last(family);
		return family;
	}
	return list_whole(*roots);
}

/* The numbers of the executions of pairs */
static List *
numbers_of(const List *pairs)
{
	List	   *numbers = NIL;

	foreach_ptr(Pair, pair, pairs)
		numbers = lappend(numbers, &pair->execution_no);
	return numbers;
}

/* --- what goes together --- */

/* List all that stands in the lines of some executions, as SfTie. */
static List *
list_ties(const List *numbers, bool locked)
{
	return SF_PROVIDER(ties_of) == NULL || numbers == NIL ? NIL :
		SF_PROVIDER(ties_of)->ties_of(sf_query_int8s(numbers), locked);
}

/* List those of tied executions that have a key, by the one that has started all, and are not among some: pairs. */
static List *
list_others(const char *key, const List *ties, const List *but)
{
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE up (tied, execution_no, parent_execution_no) AS ("
		" SELECT e.execution_no, e.execution_no, e.parent_execution_no FROM _sfflow.execution e"
		"  WHERE e.execution_no = ANY ($1)"
		"  AND NOT EXISTS (SELECT FROM pg_catalog.unnest($2) AS b(n) WHERE b.n = e.execution_no)"
		" UNION ALL SELECT u.tied, p.execution_no, p.parent_execution_no"
		"  FROM up u JOIN _sfflow.execution p ON p.execution_no = u.parent_execution_no)"
		" SELECT u.execution_no, u.tied FROM up u JOIN _sfflow.execution_key k ON k.execution_no = u.execution_no"
		" WHERE k.key = $3 AND NOT EXISTS (SELECT FROM pg_catalog.unnest($2) AS b(n) WHERE b.n = u.execution_no)"
		" AND NOT EXISTS (SELECT FROM _sfflow.execution p WHERE p.execution_no = u.parent_execution_no)"
		" ORDER BY u.execution_no");
	List	   *numbers = NIL;
	List	   *others = NIL;

	foreach_ptr(SfTie, tie, ties)
		numbers = lappend(numbers, &tie->execution_no);
	sf_db_read(&plan, append_pair, &others, sf_query_int8s(numbers), sf_query_int8s(but), SF_TEXT(key));
	return others;
}

/*
 * Add to some families, with their roots, all families of the key that are tied to them, to these and so on, but
 * what is taken already; returns the roots that were added.
 */
static List *
add_tied(const char *key, List **roots, List **family, const List *taken)
{
	List	   *added = NIL;
	List	   *last = *family;

	while (last != NIL)
	{
		List	   *more = NIL;

		CHECK_FOR_INTERRUPTS();
		foreach_ptr(Pair, other, list_others(key, list_ties(numbers_of(last), false),
											 list_concat_copy(numbers_of(*family), taken)))
			if (more == NIL || *(int64 *) llast(more) != other->root)
				more = lappend(more, &other->root);
		last = more == NIL ? NIL : list_whole(more);
		added = list_concat(added, more);
		*roots = list_concat(*roots, more);
		*family = list_concat(*family, last);
	}
	return added;
}

/*
 * Leave out of families that are locked those that are tied to what stays, and those that are tied to these; returns
 * the executions of the others.
 */
static List *
leave_out_tied(const char *key, const List *family, const List *taken)
{
	/* a graph of families and lines: what stays reaches all that has to stay with it */
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE f (root, execution_no) AS (SELECT * FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2))),"
		" t (line, execution_no) AS (SELECT * FROM ROWS FROM (pg_catalog.unnest($3), pg_catalog.unnest($4))),"
		" e (is_line, n, other) AS (SELECT true, t.line, f.root FROM t JOIN f ON f.execution_no = t.execution_no"
		"  UNION SELECT false, f.root, t.line FROM t JOIN f ON f.execution_no = t.execution_no),"
		" stays (is_line, n) AS (SELECT true, t.line FROM t WHERE t.execution_no IN (SELECT pg_catalog.unnest($5))"
		"  UNION SELECT NOT e.is_line, e.other FROM stays s JOIN e ON e.is_line = s.is_line AND e.n = s.n)"
		" SELECT f.execution_no FROM f WHERE f.root NOT IN (SELECT s.n FROM stays s WHERE NOT s.is_line)"
		" ORDER BY f.execution_no");
	List	   *numbers = numbers_of(family);
	List	   *ties = list_ties(numbers, true);
	List	   *roots = NIL;
	List	   *lines = NIL;
	List	   *tied = NIL;
	List	   *staying;

	if (ties == NIL)
		return numbers;
	foreach_ptr(Pair, pair, family)
		roots = lappend(roots, &pair->root);
	staying = numbers_of(list_others(key, ties, list_concat_copy(numbers, taken)));
	foreach_ptr(SfTie, tie, ties)
	{
		lines = lappend(lines, &tie->line);
		tied = lappend(tied, &tie->execution_no);
		if (tie->is_busy)
			staying = lappend(staying, &tie->execution_no);
	}
	return sf_db_numbers(&plan, sf_query_int8s(roots), sf_query_int8s(numbers), sf_query_int8s(lines),
						 sf_query_int8s(tied), sf_query_int8s(staying));
}

/*
 * Lock the executions of families, and the branches of all, as far as they are free; list those of the families that
 * are so altogether, and of which none is frozen, as one of a batch of an archive is: pairs.
 */
static List *
lock_families(const List *roots, const List *family)
{
	static SfPlan lock = SF_PLAN(
		"SELECT e.execution_no FROM _sfflow.execution e WHERE e.execution_no = ANY ($1)"
		" ORDER BY e.execution_no FOR UPDATE SKIP LOCKED");
	static SfPlan lock_branches = SF_PLAN(
		"SELECT b.execution_no FROM _sfflow.branch b WHERE b.execution_no = ANY ($1)"
		" ORDER BY b.execution_no, b.branch_no FOR UPDATE SKIP LOCKED");
	/* a new snapshot: with its rows locked, no one adds to a family */
	static SfPlan whole = SF_PLAN(
		"WITH RECURSIVE f (root, execution_no) AS (SELECT r.n, r.n FROM pg_catalog.unnest($1) AS r(n)"
		"  UNION ALL SELECT f.root, c.execution_no FROM f"
		"  JOIN _sfflow.execution c ON c.parent_execution_no = f.execution_no),"
		" got AS (SELECT l.n AS execution_no FROM pg_catalog.unnest($2) AS l(n)),"
		" locked AS (SELECT l.n AS execution_no, pg_catalog.count(*) AS branches FROM pg_catalog.unnest($3) AS l(n) GROUP BY l.n),"
		" free AS (SELECT f.root FROM f LEFT JOIN got g ON g.execution_no = f.execution_no"
		"  LEFT JOIN locked h ON h.execution_no = f.execution_no"
		"  GROUP BY f.root HAVING pg_catalog.bool_and(g.execution_no IS NOT NULL AND f.execution_no <> ALL ($4)"
		"  AND coalesce(h.branches, 0) ="
		"  (SELECT pg_catalog.count(*) FROM _sfflow.branch b WHERE b.execution_no = f.execution_no)))"
		" SELECT f.root, f.execution_no FROM f JOIN free r ON r.root = f.root ORDER BY f.execution_no");
	List	   *numbers = numbers_of(family);
	List	   *locked;
	List	   *branches;
	List	   *frozen = NIL;
	List	   *free = NIL;

	locked = sf_db_numbers(&lock, sf_query_int8s(numbers));
	branches = sf_db_numbers(&lock_branches, sf_query_int8s(numbers));
	foreach_ptr(SfFrozen, f, sf_feature_frozen(locked))
		frozen = lappend(frozen, &f->execution_no);
	sf_db_read(&whole, append_pair, &free, sf_query_int8s(roots), sf_query_int8s(locked), sf_query_int8s(branches),
			   sf_query_int8s(frozen));
	return free;
}

/*
 * Lock executions of a key that may go, with all that they have started: families, until there are so many of both,
 * but those that are tied to each other altogether.
 */
static List *
lock_some(const char *key, int most)
{
	List	   *taken = NIL;
	List	   *added = NIL;
	int64		behind = 0;

	while (list_length(taken) < most)
	{
		List	   *roots = list_roots(key, behind, added, most - list_length(taken));
		List	   *family;

		CHECK_FOR_INTERRUPTS();
		if (roots == NIL)
			break;
		family = list_families(&roots, most - list_length(taken));
		behind = *(int64 *) llast(roots);
		added = list_concat(added, add_tied(key, &roots, &family, taken));
		taken = list_concat(taken, leave_out_tied(key, lock_families(roots, family), taken));
	}
	return taken;
}

/* --- departures --- */

/* Copy the rows of executions in a table into a departure. */
static void
copy_rows(const char *departure, const SfMoveTable *table, SfArg numbers)
{
	SfPlan		plan = {.query = psprintf(
		"WITH x AS MATERIALIZED (SELECT e.execution_no, e.machine_no, e.status, e.requested_at, e.labels"
		" FROM _sfflow.execution e WHERE e.execution_no = ANY ($2))"
		" INSERT INTO _sfflow.departing_row (departure, relation, row_no, body)"
		" SELECT $1::pg_catalog.uuid, '%s', pg_catalog.row_number() OVER (), d::pg_catalog.text FROM _sfflow.%s d, x%s"
		" d.execution_no = x.execution_no", table->name, table->name, table->join == NULL ? " WHERE" : table->join)};

	sf_db_execute(&plan, SF_TEXT(departure), numbers);
	SPI_freeplan(plan.plan);
}

/* Have executions leave; returns the id of their departure. */
static char *
leave(const char *key, int to_node, const List *numbers)
{
	static SfPlan insert = SF_PLAN(
		"INSERT INTO _sfflow.key_departure (departure, key, to_node, executions, document, departed_at)"
		" SELECT pg_catalog.gen_random_uuid(), $1, $2, $3, $4 || pg_catalog.jsonb_build_object('parked',"
		"  (SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(h.execution_no, h.branch_no)), '[]')"
		"   FROM _sfflow.parked h WHERE h.execution_no = ANY ($5))), pg_catalog.clock_timestamp()"
		" RETURNING departure::pg_catalog.text");
	static SfPlan note = SF_PLAN(
		"INSERT INTO _sfflow.moved_execution (execution_no, node, moved_at)"
		" SELECT n, $2, pg_catalog.clock_timestamp() FROM pg_catalog.unnest($1) n"
		" ON CONFLICT (execution_no) DO UPDATE SET node = EXCLUDED.node, moved_at = EXCLUDED.moved_at");
	SfArg		array = sf_query_int8s(numbers);
	List	   *ids = sf_db_texts(&insert, SF_TEXT(key), SF_INT4(to_node), SF_INT4(list_length(numbers)),
								  SF_JSONB(sf_move_describe(key, numbers)), array);
	char	   *departure = linitial(ids);

	foreach_ptr(SfMoveTable, table, sf_move_tables())
		copy_rows(departure, table, array);
	SF_TELL(on_departing, array);
	sf_db_execute(&note, array, SF_INT4(to_node));
	if (sf_purge_delete_dropped(numbers) != list_length(numbers))
		elog(ERROR, "executions that are moved were not deleted");
	/* so that backends look again where a key is at home */
	sf_feature_invalidate_cached();
	return departure;
}

/* Forget departures that have arrived, and after a month where executions have gone. */
static void
forget(const Jsonb *arrived)
{
	static SfPlan rows = SF_PLAN(
		"DELETE FROM _sfflow.departing_row d"
		" USING pg_catalog.jsonb_array_elements_text($1) a WHERE d.departure = a::pg_catalog.uuid");
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.key_departure d"
		" USING pg_catalog.jsonb_array_elements_text($1) a WHERE d.departure = a::pg_catalog.uuid");
	static SfPlan old = SF_PLAN(
		"DELETE FROM _sfflow.moved_execution m WHERE m.moved_at < pg_catalog.clock_timestamp() - '30 days'::pg_catalog.interval");

	sf_db_execute(&rows, SF_JSONB(arrived));
	sf_db_execute(&plan, SF_JSONB(arrived));
	sf_db_execute(&old);
}

/*
 * Have some executions of a key leave for a node, or return a departure for it that has not arrived.  No start of
 * the key is open meanwhile: those that were are waited for, and others find that the key is at home elsewhere.
 */
Jsonb *
sf_move_depart(const char *key, int to_node, const Jsonb *arrived, int most)
{
	static SfPlan open = SF_PLAN(
		"SELECT d.departure::pg_catalog.text FROM _sfflow.key_departure d WHERE d.key = $1 AND d.to_node = $2"
		" ORDER BY d.departed_at LIMIT 1");
	static SfPlan tell = SF_PLAN(
		"SELECT pg_catalog.jsonb_build_object('departure', $1, 'left',"
		" (SELECT pg_catalog.count(*) FROM _sfflow.execution_key k WHERE k.key = $2)"
		" + (SELECT coalesce(pg_catalog.sum(o.executions), 0) FROM _sfflow.key_departure o WHERE o.key = $2"
		"  AND o.departure::pg_catalog.text IS DISTINCT FROM $1))"
		" || coalesce((SELECT d.document || pg_catalog.jsonb_build_object('executions', d.executions)"
		" FROM _sfflow.key_departure d WHERE d.departure = $1::pg_catalog.uuid), '{}')");
	static SfPlan elsewhere = SF_PLAN(
		"SELECT d.to_node::pg_catalog.int8 FROM _sfflow.key_departure d WHERE d.key = $1 AND d.to_node <> $2 LIMIT 1");
	List	   *numbers;
	char	   *departure;
	int64		other;
	Jsonb	   *answer = NULL;

	sf_home_lock(key, false);
	forget(arrived);
	other = sf_db_number(&elsewhere, SF_NO_NODE, SF_TEXT(key), SF_INT4(to_node));
	if (other != SF_NO_NODE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("executions of key \"%s\" have left this node for node %d", key, (int) other),
				 errhint("Call sf_move_key() for this key on node %d first.", (int) other)));
	departure = sf_list_first(sf_db_texts(&open, SF_TEXT(key), SF_INT4(to_node)));
	if (departure == NULL)
	{
		numbers = lock_some(key, most);
		if (numbers != NIL)
			departure = leave(key, to_node, numbers);
	}
	sf_db_read(&tell, read_document, &answer, SF_TEXT(departure), SF_TEXT(key));
	SF_DEBUG_POINT("move-departs");
	return answer;
}

/* Read a document of a list. */
static void
append_document(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **documents = arg;

	*documents = lappend(*documents, sf_row_jsonb(tuple, desc, 1));
}

/* Rows of a departure behind one, a List of Jsonb: as many as an answer should have. */
List *
sf_move_rows(const char *departure, const char *relation, int row_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.jsonb_build_object('relation', r.relation, 'row_no', r.row_no, 'body', r.body) FROM"
		" (SELECT d.relation, d.row_no, d.body, pg_catalog.sum(pg_catalog.octet_length(d.body))"
		"  OVER (ORDER BY d.relation, d.row_no) - pg_catalog.octet_length(d.body) AS before"
		"  FROM _sfflow.departing_row d WHERE d.departure = $1::pg_catalog.uuid AND (d.relation, d.row_no) > ($2, $3)"
		"  ORDER BY d.relation, d.row_no LIMIT 5000) r"
		" WHERE r.before < $4 ORDER BY r.relation, r.row_no");
	List	   *rows = NIL;

	sf_db_read(&plan, append_document, &rows, SF_TEXT(departure), SF_TEXT(relation), SF_INT4(row_no),
			   SF_INT8(ANSWER_BYTES));
	return rows;
}

/* The node to which an execution was moved that is not here; SF_NO_NODE: none is known. */
int
sf_move_left_to(int64 execution_no)
{
	static SfPlan plan = SF_PLAN("SELECT m.node FROM _sfflow.moved_execution m WHERE m.execution_no = $1");

	return (int) sf_db_number(&plan, SF_NO_NODE, SF_INT8(execution_no));
}

/* Executions that had left may be here again. */
void
sf_move_note_back(SfArg numbers)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.moved_execution m WHERE m.execution_no = ANY ($1)");

	sf_db_execute(&plan, numbers);
}
