/*
 * audit_list.c
 *		Pages of what operators did, newest first.
 *
 * A page of all objects reads the newest rows of the table, and leaves out those that
 * the reader may not see.  Where other roles have written so much that PROBE rows do not
 * fill the page, it is merged from the newest rows of each object that the reader may see,
 * which an index has in their order.  So what strangers do costs a page PROBE rows at most.
 */
#include "postgres.h"

#include "store/audit_list.h"
#include "store/execution_list.h"

#define ROW SfAuditRow
SF_RESULT_TYPE(row_type, SF_AUDIT_FIELDS);

/* Rows that are worth reading before a page is merged from its objects */
#define PROBE		"5000"

/*
 * The arguments of both queries: $1 the reader, $2 kind and $3 name of the object,
 * $4 target, $5 action, $6 role, $7 first time, $8 time before which, $9 limit.
 */
#define HAS_ROLE(role) \
	"pg_catalog.pg_has_role($1, " role "::pg_catalog.oid, 'USAGE')"

/* The names of objects of a kind on which the reader was given a right */
#define GRANTED(kind, right) \
	"(SELECT p.object_name FROM _sfflow.privilege p WHERE p.object_kind = '" kind "'" \
	" AND p.privilege = '" right "' AND (" HAS_ROLE("p.role") " OR p.role::pg_catalog.oid = 0))"

/* As the view _sfflow.auditable has them for its reader */
#define VISIBLE \
	"WITH visible AS MATERIALIZED (SELECT v.kind, v.name FROM (" \
	"  SELECT 'm'::pg_catalog.\"char\", m.name FROM _sfflow.state_machine m" \
	"  WHERE " HAS_ROLE("m.owner") " OR (SELECT " HAS_ROLE("n.nspowner") " FROM pg_catalog.pg_namespace n" \
	"   WHERE n.nspname = '_sfflow') OR m.name = ANY " GRANTED("m", "R") \
	"  UNION ALL SELECT 'a', t.name FROM _sfflow.activity t" \
	"  WHERE " HAS_ROLE("t.owner") " OR t.name = ANY " GRANTED("a", "W") \
	"  UNION ALL SELECT 's', s.name FROM _sfflow.schedule s WHERE " HAS_ROLE("s.owner") \
	"  UNION ALL SELECT 'r', r.name FROM _sfflow.rule r WHERE " HAS_ROLE("r.owner") \
	"  UNION ALL SELECT 'c', c.name FROM _sfflow.calendar c" \
	"  UNION ALL SELECT '*', '*' FROM pg_catalog.pg_namespace n" \
	"  WHERE n.nspname = '_sfflow' AND " HAS_ROLE("n.nspowner") ") AS v (kind, name)" \
	"  WHERE $3 IS NULL OR (v.kind = $2 AND v.name = $3)) "

#define IN_TIME \
	"a.at >= $7 AND a.at < $8 "

#define MATCHES \
	"($4 IS NULL OR a.target = $4) AND ($5 IS NULL OR a.action = $5)" \
	" AND ($6 IS NULL OR a.role = $6) "

#define COLUMNS \
	"a.at, a.action, a.target, a.execution_no, a.role, a.session_role, a.reason, a.details"

/* Of actions that stand at the same time a page has all, since its last time is the key of the next one */
#define NEWEST(limit) \
	" ORDER BY a.at DESC FETCH FIRST (" limit ") ROWS WITH TIES"

/* The rows of a page, with the ids of executions */
#define PAGE \
	"SELECT a.at, a.action, a.target, (SELECT e.execution_id FROM _sfflow.execution e" \
	" WHERE e.execution_no = a.execution_no), a.role, a.session_role, a.reason, a.details FROM "

static SfPlan newest = SF_PLAN(
	VISIBLE PAGE
	"(SELECT a.object_kind, a.object_name, " COLUMNS " FROM _sfflow.audit a WHERE " IN_TIME NEWEST(PROBE) ") a"
	/* CASE: row by row in a hash table, until the page is full; a join would read and sort all */
	" WHERE CASE WHEN (a.object_kind, a.object_name) = ANY (SELECT v.kind, v.name FROM visible v) THEN true END"
	" AND " MATCHES NEWEST("$9"));

static SfPlan by_object = SF_PLAN(
	VISIBLE PAGE
	"(SELECT a.* FROM visible v CROSS JOIN LATERAL ("
	"  SELECT " COLUMNS " FROM _sfflow.audit a"
	"  WHERE a.object_kind = v.kind AND a.object_name = v.name"
	"  AND " IN_TIME " AND " MATCHES NEWEST("$9") ") a" NEWEST("$9") ") a ORDER BY a.at DESC");

/* Run one of the queries. */
static List *
run(SfPlan *plan, const SfAuditQuery *q)
{
	return sf_scan_rows(plan, &row_type, sf_query_arg(OIDOID, ObjectIdGetDatum(q->reader), false),
						SF_CHAR(q->kind), SF_TEXT(q->object), SF_TEXT(q->target), SF_TEXT(q->action),
						SF_TEXT(q->role), SF_TIME(q->from), SF_TIME(q->before), SF_INT8(q->limit));
}

/* Read a page: the newest actions that a query asks for, as SfAuditRow. */
List *
sf_audit_list(const SfAuditQuery *query)
{
	int			nest = sf_execution_list_plans_begin();
	List	   *rows = query->object != NULL ? NIL : run(&newest, query);

	if (list_length(rows) < query->limit)
		rows = run(&by_object, query);
	sf_execution_list_plans_end(nest);
	return rows;
}
