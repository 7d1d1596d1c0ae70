/*
 * human_task_list.c
 *		sf_list_human_tasks(), sf_count_human_tasks(): what a person has to do.
 *
 * Rights are found by set before any task is read: of each worklist the reader sees all tasks, or those that are
 * for all with the right DO and those for its roles.  The first two are ranges of human_task_order, in the order of
 * pages, so that a page costs what it has, however many tasks wait.  Those for the reader's roles are found by
 * human_task_role_role and sorted if they are few; else they are dense enough in the order of pages to be met there
 * soon.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/timestamp.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "feature/human/human.h"
#include "store/execution/execution_list.h"
#include "store/role/privilege.h"

/* Tasks for the reader's roles that are few */
#define FEW			1000

/* Which tasks of those that a reader sees are asked for: the argument, and what a condition has */
typedef enum Which
{
	WHICH_ALL = 'a',
	WHICH_MINE = 'm',			/* claimed by the person */
	WHICH_OPEN = 'o',			/* that the person may claim */
	WHICH_OVERDUE = 'd'
} Which;

/* Who asks, and what that one sees */
typedef struct Reader
{
	const char *name;			/* by which the person claims */
	const char *actor;			/* or NULL */
	List	   *whole;			/* numbers of worklists of which it sees all tasks */
	List	   *own;			/* and of those of which it sees those that are for it */
	List	   *roles;			/* Oid, that tasks name and that are the person's */
} Reader;

/* Where a page begins */
typedef struct PageKey
{
	int			negated_priority; /* so that the greatest priority comes first */
	TimestampTz due_at;			/* DT_NOEND: not said */
	int64		task_no;
} PageKey;

/* --- rights --- */

/* A worklist, and the rights that a reader has on it */
typedef struct Known
{
	int			number;
	bool		owns;
	const char *rights;			/* SF_PRIVILEGE_…, a letter each; NULL: none */
} Known;

/* Append a worklist to a list. */
static void
read_known(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_worklist_no = 1, COL_owns, COL_rights};
	Known	   *known = palloc(sizeof(Known));

	known->number = (int) sf_row_number(tuple, desc, COL_worklist_no, 0);
	known->owns = sf_row_number(tuple, desc, COL_owns, false);
	known->rights = sf_row_text(tuple, desc, COL_rights);
	*(List **) arg = lappend(*(List **) arg, known);
}

/* Has the reader a right on a worklist? */
static bool
has_right(const Known *known, SfPrivilege right)
{
	return known->owns || (known->rights != NULL && strchr(known->rights, right) != NULL);
}

/* Find what the reader sees of a worklist, or (NULL) of all. */
static void
choose_worklists(Reader *reader, const char *name, Which which)
{
	static SfPlan plan = SF_PLAN(
		"SELECT w.worklist_no, pg_catalog.pg_has_role($1::pg_catalog.oid, w.owner::pg_catalog.oid, 'USAGE') AS owns,"
		" (SELECT pg_catalog.string_agg(p.privilege::pg_catalog.text, '') FROM _sfflow.privilege p"
		"  WHERE p.object_kind = $2 AND p.object_name = w.name"
		"  AND (p.role = 0::pg_catalog.oid OR pg_catalog.pg_has_role($1::pg_catalog.oid, p.role::pg_catalog.oid, 'USAGE')))"
		"  AS rights FROM _sfflow.worklist w WHERE $3 IS NULL OR w.name = $3");
	List	   *all = NIL;

	sf_snapshot_read(&plan, read_known, &all, SF_ROLE(GetUserId()), SF_CHAR(SF_OBJECT_WORKLIST), SF_TEXT(name));
	foreach_ptr(Known, known, all)
	{
		bool		acts = reader->actor == NULL || has_right(known, SF_PRIVILEGE_ACT);

		if (which != WHICH_OPEN && reader->actor == NULL &&
			(has_right(known, SF_PRIVILEGE_ASSIGN) || has_right(known, SF_PRIVILEGE_ACT)))
			reader->whole = lappend_int(reader->whole, known->number);
		else if (acts && has_right(known, SF_PRIVILEGE_DO))
			reader->own = lappend_int(reader->own, known->number);
	}
}

/* Append a role to a list. */
static void
append_role(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(List **) arg = lappend_oid(*(List **) arg, (Oid) sf_row_number(tuple, desc, 1, InvalidOid));
}

/* Find the roles that tasks name, as far as they are the reader's, or of the person for whom it acts. */
static void
find_roles(Reader *reader)
{
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE named (role) AS ("
		" (SELECT r.role FROM _sfflow.human_task_role r ORDER BY r.role LIMIT 1)"
		" UNION ALL SELECT (SELECT r.role FROM _sfflow.human_task_role r WHERE r.role > n.role ORDER BY r.role LIMIT 1)"
		"  FROM named n WHERE n.role IS NOT NULL)"
		" SELECT n.role::pg_catalog.oid FROM named n WHERE n.role IS NOT NULL"
		" AND (pg_catalog.pg_has_role($1::pg_catalog.oid, n.role::pg_catalog.oid, 'USAGE')"
		"  OR pg_catalog.pg_has_role($2::pg_catalog.oid, n.role::pg_catalog.oid, 'USAGE'))");
	Oid			actor = reader->actor == NULL ? InvalidOid : get_role_oid(reader->actor, true);

	sf_snapshot_read(&plan, append_role, &reader->roles, SF_ROLE(GetUserId()),
					 SF_ROLE(OidIsValid(actor) ? actor : GetUserId()));
}

/* Find out what the caller sees, or a person for whom it acts. */
static Reader
make_reader(const char *worklist, Which which, const char *actor)
{
	Reader		reader = {.actor = actor,.name = sf_person_of_caller(actor).name};

	if (worklist != NULL)
		(void) sf_worklist_require(worklist, SF_RIGHT_ANY);
	choose_worklists(&reader, worklist, which);
	if (reader.own != NIL)
		find_roles(&reader);
	return reader;
}

/* An int4[] of worklists */
static SfArg
worklists_arg(const List *worklists)
{
	int		   *numbers = palloc(sizeof(int) * list_length(worklists));

	for (int i = 0; i < list_length(worklists); i++)
		numbers[i] = list_nth_int(worklists, i);
	return sf_query_arg(INT4ARRAYOID, sf_int_array_datum(numbers, list_length(worklists)), false);
}

/* --- pages --- */

/* A task is for one of the roles $3 by now. */
#define IS_BY_NOW	"(r.from_at IS NULL OR r.from_at <= pg_catalog.clock_timestamp()) AND r.role = ANY ($3)"
#define IS_FOR_ROLE \
	"EXISTS (SELECT FROM _sfflow.human_task_role r WHERE r.execution_no = t.execution_no AND r.branch_no = t.branch_no" \
	" AND " IS_BY_NOW ")"

/* What orders a page, as human_task_order has it */
#define ORDER_KEY	"(- t.priority), COALESCE(t.due_at, 'infinity'), t.task_no"
#define KEY			"t.task_no, (- t.priority) AS negated_priority, COALESCE(t.due_at, 'infinity') AS due"

/* A task is behind the key, and one that is asked for. */
#define IS_WANTED \
	"ROW(" ORDER_KEY ") > ROW($4, $5, $6) AND ($8 <> 'o' OR t.claimed_by IS NULL)" \
	" AND ($8 <> 'd' OR t.due_at < pg_catalog.now())"

/* The columns of a page of tasks that were found. */
#define PAGE(found) \
	"WITH page AS MATERIALIZED (" found " ORDER BY negated_priority, due, task_no LIMIT $7)" \
	" SELECT t.task_no AS task, w.name AS worklist, e.execution_id, t.state, t.title, t.priority, t.created_at," \
	"  t.due_at, t.claimed_by, t.claimed_at, COALESCE((SELECT pg_catalog.array_agg(r.role::pg_catalog.text ORDER BY r.role::pg_catalog.text)" \
	"   FROM _sfflow.human_task_role r WHERE r.execution_no = t.execution_no AND r.branch_no = t.branch_no" \
	"   AND (r.from_at IS NULL OR r.from_at <= pg_catalog.clock_timestamp())), '{}')," \
	"  _sfflow.human_not_by(t.not_starter, t.not_states) FROM page f JOIN _sfflow.human_task t ON t.task_no = f.task_no" \
	" JOIN _sfflow.worklist w ON w.worklist_no = t.worklist_no" \
	" JOIN _sfflow.execution e ON e.execution_no = t.execution_no ORDER BY f.negated_priority, f.due, f.task_no"

/*
 * Tasks of the worklists $1, and of $2 those for all or for the roles $3; by these roles ($9), or in the order of
 * pages.
 */
static SfPlan by_order = SF_PLAN(PAGE(
	"SELECT x.task_no, x.negated_priority, x.due FROM (SELECT w.worklist_no, a.for_all, a.for_all OR w.whole AS is_free"
	"  FROM (SELECT pg_catalog.unnest($1) AS worklist_no, true AS whole UNION ALL SELECT pg_catalog.unnest($2), false) w"
	"  CROSS JOIN LATERAL (VALUES (true), (false)) AS a (for_all) WHERE a.for_all OR w.whole OR NOT $9) s"
	" CROSS JOIN LATERAL (SELECT " KEY " FROM _sfflow.human_task t WHERE t.worklist_no = s.worklist_no"
	"  AND t.for_all = s.for_all AND " IS_WANTED " AND (s.is_free OR " IS_FOR_ROLE ")"
	"  ORDER BY " ORDER_KEY " LIMIT $7) x"
	" UNION ALL (SELECT " KEY " FROM (SELECT DISTINCT r.execution_no, r.branch_no FROM _sfflow.human_task_role r"
	"  WHERE $9 AND " IS_BY_NOW ") r JOIN _sfflow.human_task t ON t.execution_no = r.execution_no"
	"  AND t.branch_no = r.branch_no WHERE t.worklist_no = ANY ($2) AND NOT t.for_all AND " IS_WANTED ")"));

/* Those of these that the person $9 has claimed */
static SfPlan by_claim = SF_PLAN(PAGE(
	"SELECT " KEY " FROM _sfflow.human_task t WHERE t.claimed_by = $9 AND " IS_WANTED
	" AND (t.worklist_no = ANY ($1) OR (t.worklist_no = ANY ($2) AND (t.for_all OR " IS_FOR_ROLE ")))"));

/* Has the reader few tasks by its roles? */
static bool
has_few(const Reader *reader)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM (SELECT FROM _sfflow.human_task_role r WHERE r.role = ANY ($1) LIMIT $2) x");
	List	   *count = NIL;

	if (reader->roles == NIL)
		return true;
	sf_snapshot_read(&plan, sf_row_append_number, &count, sf_query_oids(reader->roles), SF_INT4(FEW));
	return *(int64 *) linitial(count) < FEW;
}

/* Read the argument which. */
static Which
parse_which(const char *text)
{
	static const char *const words[] = {"all", "mine", "open", "overdue"};
	static const Which which[] = {WHICH_ALL, WHICH_MINE, WHICH_OPEN, WHICH_OVERDUE};

	return text == NULL ? WHICH_ALL : which[sf_argument_word("which", text, words, lengthof(words))];
}

/* Read the argument after_key. */
static PageKey
parse_key(const char *text)
{
	PageKey		key = {PG_INT32_MIN, DT_NOBEGIN, 0};
	int			end = 0;

	if (text != NULL && (sscanf(text, "%d." INT64_FORMAT "." INT64_FORMAT "%n", &key.negated_priority, &key.due_at,
								&key.task_no, &end) != 3 || text[end] != '\0'))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument after_key must not be \"%s\"", text),
				 errhint("It is the page_key of the last row of the page before.")));
	return key;
}

/* Put a row of a page into the result of a function. */
static void
put_task(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_task = 1, COL_worklist, COL_execution_id, COL_state, COL_title, COL_priority, COL_created_at,
		COL_due_at};
	FunctionCallInfo fcinfo = arg;
	SfColumns	row = {0};
	bool		isnull;

	for (int i = 1; i <= desc->natts; i++)
	{
		Datum		value = heap_getattr(tuple, i, desc, &isnull);

		sf_columns_add(&row, value, isnull);
	}
	sf_columns_text(&row, psprintf("%d." INT64_FORMAT "." INT64_FORMAT,
								   -(int) sf_row_number(tuple, desc, COL_priority, 0),
								   sf_row_number(tuple, desc, COL_due_at, DT_NOEND),
								   sf_row_number(tuple, desc, COL_task, 0)));
	sf_columns_put(fcinfo, &row);
}

/* sf_list_human_tasks(worklist, which, page_size, after_key, actor) */
SF_SQL_FUNCTION(sfflow_sf_list_human_tasks)
{
	Which		which = parse_which(sf_arg_text_or_null(fcinfo, 1));
	int			size = sf_arg_page_size(fcinfo, 2);
	PageKey		key = parse_key(sf_arg_text_or_null(fcinfo, 3));
	Reader		reader = make_reader(sf_arg_text_or_null(fcinfo, 0), which, sf_arg_text_or_null(fcinfo, 4));
	SfArg		last;
	int			nest;

	InitMaterializedSRF(fcinfo, 0);
	if (reader.whole == NIL && reader.own == NIL)
		return (Datum) 0;
	nest = sf_execution_list_plans_begin();
	last = which == WHICH_MINE ? SF_TEXT(reader.name) : SF_BOOL(has_few(&reader));
	sf_snapshot_read(which == WHICH_MINE ? &by_claim : &by_order, put_task, fcinfo, worklists_arg(reader.whole),
					 worklists_arg(reader.own), sf_query_oids(reader.roles), SF_INT4(key.negated_priority),
					 SF_TIME(key.due_at), SF_INT8(key.task_no), SF_INT4(size), SF_CHAR(which), last);
	sf_execution_list_plans_end(nest);
	return (Datum) 0;
}

/* --- counts --- */

/* Put a worklist and its counts into the result of a function. */
static void
put_count(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_name = 1, COL_tasks};
	SfColumns	row = {0};

	sf_columns_text(&row, sf_row_text(tuple, desc, COL_name));
	for (int i = COL_tasks; i <= desc->natts; i++)
		sf_columns_add(&row, Int64GetDatum(sf_row_number(tuple, desc, i, 0)), false);
	sf_columns_put(arg, &row);
}

/*
 * sf_count_human_tasks(actor).  A reader that sees all tasks of a worklist may claim those for its roles alone, if
 * it has the right DO ($4): these are read by their roles, once, and not task by task.
 */
SF_SQL_FUNCTION(sfflow_sf_count_human_tasks)
{
	static SfPlan plan = SF_PLAN(
		"WITH mine AS MATERIALIZED (SELECT DISTINCT r.execution_no, r.branch_no FROM _sfflow.human_task_role r"
		"  WHERE " IS_BY_NOW ")"
		" SELECT w.name, c.tasks, c.mine, c.open, c.overdue FROM (SELECT pg_catalog.unnest($1) AS worklist_no UNION ALL SELECT pg_catalog.unnest($2)) s"
		" JOIN _sfflow.worklist w ON w.worklist_no = s.worklist_no"
		" LEFT JOIN LATERAL (SELECT t.worklist_no, pg_catalog.count(*) AS tasks,"
		"   pg_catalog.count(*) FILTER (WHERE t.claimed_by = $5) AS mine,"
		"   pg_catalog.count(*) FILTER (WHERE t.claimed_by IS NULL AND t.worklist_no = ANY ($4)"
		"    AND (t.for_all OR m.branch_no IS NOT NULL)) AS open,"
		"   pg_catalog.count(*) FILTER (WHERE t.due_at < pg_catalog.now()) AS overdue"
		"  FROM _sfflow.human_task t LEFT JOIN mine m ON m.execution_no = t.execution_no AND m.branch_no = t.branch_no"
		"  WHERE t.worklist_no = ANY ($1) OR (t.worklist_no = ANY ($2) AND (t.for_all OR m.branch_no IS NOT NULL))"
		"  GROUP BY t.worklist_no) c ON c.worklist_no = s.worklist_no ORDER BY w.name");
	const char *actor = sf_arg_text_or_null(fcinfo, 0);
	Reader		doer = make_reader(NULL, WHICH_OPEN, actor);
	Reader		reader = make_reader(NULL, WHICH_ALL, actor);

	InitMaterializedSRF(fcinfo, 0);
	sf_snapshot_read(&plan, put_count, fcinfo, worklists_arg(reader.whole), worklists_arg(reader.own),
					 sf_query_oids(doer.roles), worklists_arg(doer.own), SF_TEXT(reader.name));
	return (Datum) 0;
}
