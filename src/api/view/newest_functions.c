/*
 * newest_functions.c
 *		The newest executions of a plain query over sf_executions.
 *
 * SELECT … FROM sf_executions WHERE … ORDER BY requested_at DESC LIMIT 50 would read and sort all
 * executions that fulfil the condition: the view is a security barrier, so the planner plans it
 * without knowing of the ORDER BY around it.  So the view has the condition
 *
 *		_sfflow.is_on_page(execution_no, (SELECT _sfflow.newest(NULL, …)))
 *
 * which the support function of is_on_page replaces while the view is planned.  It reads the query
 * around the view.  If that asks for the first rows in the order of requested_at, and has no
 * condition but those that newest() takes, the condition becomes
 *
 *		execution_no = ANY ((SELECT _sfflow.newest('order', 'FAILED', …, 50)))
 *
 * newest() finds the executions of such a page as sf_list_executions does, and the view reads no
 * others.  All conditions stay where they are, also those of rights, so the only thing that must be
 * right here is that the page has every row of the answer.  Of any other query the condition
 * becomes true.  Decision: docs/decisions/lists.md.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/version/schema.h"
#include "store/execution/execution_list.h"

/* Rows of a page that is worth it */
#define MAX_PAGE	10000

/* bigint = bigint, for which PostgreSQL's headers have no name */
#define INT8_EQ_OPERATOR	410

/* Arguments of newest(), in order; each stands for a condition on a column of the view */
enum
{
	ARG_STATE_MACHINE, ARG_STATUS, ARG_FROM, ARG_AFTER, ARG_BEFORE, ARG_UNTIL, ARG_MOST, NARGS
};

/* --- the page --- */

/* Read the status into a query; null: any.  False: no execution can have it. */
static bool
read_status(const char *text, SfListQuery *query)
{
	query->has_status = text != NULL;
	if (text == NULL)
		return true;
	for (SfStatus status = SF_STATUS_RUNNING; status <= SF_STATUS_ABORTED; status++)
		if (strcmp(text, sf_status_name(status)) == 0)
		{
			query->status = status;
			return true;
		}
	return false;
}

/* The time from which on executions count: that of ">=" or, a microsecond later, of ">". */
static TimestampTz
parse_from(FunctionCallInfo fcinfo)
{
	TimestampTz from = PG_ARGISNULL(ARG_FROM) ? DT_NOBEGIN : PG_GETARG_TIMESTAMPTZ(ARG_FROM);
	TimestampTz after = PG_ARGISNULL(ARG_AFTER) ? DT_NOBEGIN : PG_GETARG_TIMESTAMPTZ(ARG_AFTER);

	if (!TIMESTAMP_NOT_FINITE(after))
		after++;
	return Max(from, after);
}

/* The time up to which executions count: that of "<" or of "<=". */
static SfListPosition
parse_before(FunctionCallInfo fcinfo)
{
	SfListPosition before = {PG_ARGISNULL(ARG_BEFORE) ? DT_NOEND : PG_GETARG_TIMESTAMPTZ(ARG_BEFORE), 0};
	TimestampTz until = PG_ARGISNULL(ARG_UNTIL) ? DT_NOEND : PG_GETARG_TIMESTAMPTZ(ARG_UNTIL);

	return before.requested_at <= until ? before : (SfListPosition) {until, PG_INT64_MAX};
}

/* An array of the numbers of executions */
static Datum
array_of(const List *executions)
{
	Datum	   *numbers = palloc(sizeof(Datum) * Max(1, list_length(executions)));
	int			n = 0;

	foreach_ptr(const SfListedExecution, e, executions)
		numbers[n++] = Int64GetDatum(e->execution_no);
	return PointerGetDatum(construct_array(numbers, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/*
 * newest(state_machine, status, from, after, before, until, most): the numbers of the newest
 * executions that the caller may read and that fulfil the conditions; null: any.
 */
SF_SQL_FUNCTION(sfflow_newest)
{
	const char *name = sf_arg_text_or_null(fcinfo, ARG_STATE_MACHINE);
	int			only = name == NULL ? SF_ALL_MACHINES : sf_execution_list_machine(name);
	SfListQuery query = {
		.from = parse_from(fcinfo),
		.before = parse_before(fcinfo)
	};

	if (PG_ARGISNULL(ARG_MOST))
		PG_RETURN_NULL();
	query.max_rows = PG_GETARG_INT32(ARG_MOST);
	if (query.max_rows <= 0 || only == SF_NO_MACHINE ||
		!read_status(sf_arg_text_or_null(fcinfo, ARG_STATUS), &query))
		return array_of(NIL);
	query.machines = sf_object_machines(only, InvalidOid, SF_RIGHT_READ, &query.nmachines);
	return array_of(sf_execution_list(&query));
}

/* is_on_page(execution_no, page): is it among those of the page?  Without a page any is. */
SF_SQL_FUNCTION(sfflow_is_on_page)
{
	ArrayType  *page;
	const int64 *numbers;
	int			n;

	if (PG_ARGISNULL(1))
		PG_RETURN_BOOL(true);
	page = PG_GETARG_ARRAYTYPE_P(1);
	/* anyone may call this; nulls take no room in an array, and a page has none */
	if (PG_ARGISNULL(0) || array_contains_nulls(page))
		PG_RETURN_BOOL(false);
	numbers = (const int64 *) ARR_DATA_PTR(page);
	n = ArrayGetNItems(ARR_NDIM(page), ARR_DIMS(page));
	for (int i = 0; i < n; i++)
		if (numbers[i] == PG_GETARG_INT64(0))
			PG_RETURN_BOOL(true);
	PG_RETURN_BOOL(false);
}

/* --- the query around the view --- */

/* What a query asks of the view */
typedef struct Asked
{
	int			varno;			/* of the view in the query */
	const List *columns;		/* of the view */
	Node	   *args[NARGS];	/* of newest(); NULL: no condition */
} Asked;

/* Does an expression hold a parameter that only the executor of a part of the plan sets? */
static bool
has_exec_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && castNode(Param, node)->paramkind != PARAM_EXTERN)
		return true;
	return expression_tree_walker(node, has_exec_param, context);
}

/* Tell whether an expression has one value for the time of a query, which can be had before any row. */
static bool
is_known_before(Node *node)
{
	return !contain_var_clause(node) && !contain_subplans(node) && !has_exec_param(node, NULL) &&
		!contain_volatile_functions(node);
}

/* Tell whether an expression is a column of the view. */
static bool
is_column(const Asked *asked, const Node *node, const char *name)
{
	const Var  *var = (const Var *) node;
	const TargetEntry *column;

	if (!IsA(node, Var) || var->varno != asked->varno || var->varlevelsup != 0 ||
		var->varattno <= 0 || var->varattno > list_length(asked->columns))
		return false;
	column = list_nth(asked->columns, var->varattno - 1);
	return column->resname != NULL && strcmp(column->resname, name) == 0;
}

/* Find the argument for a comparison of a column with a value; false: there is none. */
static bool
find_argument(const Asked *asked, const Node *column, Oid operator, int *arg)
{
	static const struct
	{
		int			arg;
		RegProcedure function;
		const char *column;
	}			comparisons[] = {
		{ARG_STATE_MACHINE, F_TEXTEQ, "state_machine"},
		{ARG_STATUS, F_TEXTEQ, "status"},
		{ARG_FROM, F_TIMESTAMPTZ_GE, "requested_at"},
		{ARG_AFTER, F_TIMESTAMPTZ_GT, "requested_at"},
		{ARG_BEFORE, F_TIMESTAMPTZ_LT, "requested_at"},
		{ARG_UNTIL, F_TIMESTAMPTZ_LE, "requested_at"},
	};
	RegProcedure function = get_opcode(operator);

	for (size_t i = 0; i < lengthof(comparisons); i++)
		if (function == comparisons[i].function && is_column(asked, column, comparisons[i].column))
		{
			*arg = comparisons[i].arg;
			return true;
		}
	return false;
}

/* Read a condition as an argument; false: newest() does not know it. */
static bool
read_condition(Asked *asked, Node *condition)
{
	OpExpr	   *op = (OpExpr *) condition;
	Node	   *value;
	int			arg;

	if (!IsA(condition, OpExpr) || list_length(op->args) != 2 ||
		(OidIsValid(op->inputcollid) && !get_collation_isdeterministic(op->inputcollid)))
		return false;
	if (find_argument(asked, linitial(op->args), op->opno, &arg))
		value = lsecond(op->args);
	else if (find_argument(asked, lsecond(op->args), get_commutator(op->opno), &arg))
		value = linitial(op->args);
	else
		return false;
	if (asked->args[arg] != NULL || !is_known_before(value))
		return false;
	asked->args[arg] = value;
	return true;
}

/* Read all conditions; false: there are others. */
static bool
read_conditions(Asked *asked, Node *quals)
{
	if (quals == NULL)
		return true;
	if (!IsA(quals, List))
		return false;
	foreach_ptr(Node, condition, (List *) quals)
		if (!read_condition(asked, condition))
			return false;
	return true;
}

/* Tell whether the rows of the answer are those of the view: each gives one, and none is changed. */
static bool
is_plain(const Query *query)
{
	return query->commandType == CMD_SELECT && !query->hasAggs && !query->hasWindowFuncs &&
		!query->hasTargetSRFs && query->groupClause == NIL && query->groupingSets == NIL &&
		query->havingQual == NULL && query->distinctClause == NIL && query->rowMarks == NIL &&
		query->setOperations == NULL;
}

/* Find the view, which must be alone in FROM. */
static bool
find_view(const Query *query, Asked *asked)
{
	const RangeTblRef *ref = list_length(query->jointree->fromlist) == 1 ?
		linitial(query->jointree->fromlist) : NULL;
	const RangeTblEntry *rte;

	if (ref == NULL || !IsA(ref, RangeTblRef))
		return false;
	rte = rt_fetch(ref->rtindex, query->rtable);
	asked->varno = ref->rtindex;
	return rte->rtekind == RTE_SUBQUERY && rte->security_barrier && !rte->inh;
}

/* Tell whether a query wants the newest first: ORDER BY requested_at DESC, and nothing else. */
static bool
wants_newest(const Query *query, const Asked *asked)
{
	const SortGroupClause *sort;

	if (list_length(query->sortClause) != 1)
		return false;
	sort = linitial(query->sortClause);
	return get_opcode(sort->sortop) == F_TIMESTAMPTZ_GT &&
		is_column(asked, (Node *) get_sortgroupclause_tle(unconstify(SortGroupClause *, sort),
														  query->targetList)->expr, "requested_at");
}

/* How many rows a query wants, with those that it skips; 0: not known, or very many */
static int
rows_wanted(const Query *query)
{
	const Const *limit = (const Const *) query->limitCount;
	const Const *offset = (const Const *) query->limitOffset;
	int64		n,
				skipped;

	if (limit == NULL || !IsA(limit, Const) || limit->constisnull || query->limitOption != LIMIT_OPTION_COUNT)
		return 0;
	n = DatumGetInt64(limit->constvalue);
	if (offset != NULL && !IsA(offset, Const))
		return 0;
	skipped = offset == NULL || offset->constisnull ? 0 : DatumGetInt64(offset->constvalue);
	return n > 0 && n <= MAX_PAGE && skipped >= 0 && skipped <= MAX_PAGE - n ? n + skipped : 0;
}

/* Find out what the query around the view asks for; false: no page. */
static bool
read_query(const PlannerInfo *root, Asked *asked)
{
	const Query *query;
	int			n;

	if (root == NULL || root->parent_root == NULL)
		return false;
	query = root->parent_root->parse;
	asked->columns = root->parse->targetList;
	n = rows_wanted(query);
	if (n == 0 || !is_plain(query) || !find_view(query, asked) || !wants_newest(query, asked) ||
		!read_conditions(asked, query->jointree->quals))
		return false;
	asked->args[ARG_MOST] = (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(n),
											   false, true);
	return true;
}

/* The condition that the execution is one of those that the call of newest() in a subquery gives. */
static Node *
make_condition(Node *execution_no, SubLink *link, const Asked *asked)
{
	SubLink    *copied = copyObject(link);
	Query	   *subselect = castNode(Query, copied->subselect);
	FuncExpr   *call = castNode(FuncExpr, linitial_node(TargetEntry, subselect->targetList)->expr);
	ScalarArrayOpExpr *any = makeNode(ScalarArrayOpExpr);
	ListCell   *cell;

	foreach(cell, call->args)
		if (asked->args[foreach_current_index(cell)] != NULL)
			lfirst(cell) = copyObject(asked->args[foreach_current_index(cell)]);
	any->opno = INT8_EQ_OPERATOR;
	any->opfuncid = F_INT8EQ;
	any->useOr = true;
	any->args = list_make2(execution_no, copied);
	any->location = -1;
	return (Node *) any;
}

/* Support function of is_on_page(): what its call becomes in the plan of the view. */
SF_SQL_FUNCTION(sfflow_is_on_page_support)
{
	SupportRequestSimplify *request = (SupportRequestSimplify *) PG_GETARG_POINTER(0);
	Asked		asked = {0};
	Node	   *link;

	if (!IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(NULL);
	link = lsecond(request->fcall->args);
	if (!IsA(link, SubLink))
		PG_RETURN_POINTER(NULL);
	if (!read_query(request->root, &asked))
		PG_RETURN_POINTER(makeBoolConst(true, false));
	PG_RETURN_POINTER(make_condition(linitial(request->fcall->args), (SubLink *) link, &asked));
}
