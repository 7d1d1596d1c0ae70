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

#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "store/audit/audit.h"
#include "store/execution/execution_list.h"
#include "store/feature.h"
#include "store/role/privilege.h"

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

/* The objects of a kind (%c) on which the reader was given a right that the condition names */
#define GRANTED(right) \
	"(SELECT p.object_name FROM _sfflow.privilege p WHERE p.object_kind = '%c'" right \
	" AND (" HAS_ROLE("p.role") " OR p.role::pg_catalog.oid = 0))"

#define WITH_RIGHT	" AND p.privilege = '%c'"

/* What the reader may see of the core, with the letters of kinds and rights as %c; that of features comes between */
#define VISIBLE_BEGIN \
	"WITH visible AS MATERIALIZED (SELECT v.kind, v.name FROM (" \
	"  SELECT '%c'::pg_catalog.\"char\", m.name FROM _sfflow.state_machine m" \
	"  WHERE " HAS_ROLE("m.owner") " OR (SELECT " HAS_ROLE("n.nspowner") " FROM pg_catalog.pg_namespace n" \
	"   WHERE n.nspname = '_sfflow') OR m.name = ANY " GRANTED(WITH_RIGHT) \
	"  UNION ALL SELECT '%c', t.name FROM _sfflow.activity t" \
	"  WHERE " HAS_ROLE("t.owner") " OR t.name = ANY " GRANTED(WITH_RIGHT)
#define VISIBLE_END \
	"  UNION ALL SELECT '%c', '*' FROM pg_catalog.pg_namespace n" \
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

#define FROM_NEWEST \
	PAGE \
	"(SELECT a.object_kind, a.object_name, " COLUMNS " FROM _sfflow.audit a WHERE " IN_TIME NEWEST(PROBE) ") a" \
	/* CASE: row by row in a hash table, until the page is full; a join would read and sort all */ \
	" WHERE CASE WHEN (a.object_kind, a.object_name) = ANY (SELECT v.kind, v.name FROM visible v) THEN true END" \
	" AND " MATCHES NEWEST("$9")

#define FROM_OBJECTS \
	PAGE \
	"(SELECT a.* FROM visible v CROSS JOIN LATERAL (" \
	"  SELECT " COLUMNS " FROM _sfflow.audit a" \
	"  WHERE a.object_kind = v.kind AND a.object_name = v.name" \
	"  AND " IN_TIME " AND " MATCHES NEWEST("$9") ") a" NEWEST("$9") ") a ORDER BY a.at DESC"

static SfPlan newest;
static SfPlan by_object;

/*
 * Write the queries: the objects that the reader may see, as the view _sfflow.auditable has them, and a page of
 * what was done.
 */
static void
write_queries(void)
{
	StringInfoData visible;

	initStringInfo(&visible);
	appendStringInfo(&visible, VISIBLE_BEGIN, SF_OBJECT_STATE_MACHINE, SF_OBJECT_STATE_MACHINE, SF_PRIVILEGE_READ,
					 SF_OBJECT_ACTIVITY, SF_OBJECT_ACTIVITY, SF_PRIVILEGE_WORK);
	SF_OBJECTS(object)
	{
		appendStringInfo(&visible, " UNION ALL SELECT '%c', o.name FROM _sfflow.%s o", object->kind, object->table);
		if (!object->all_know)
			appendStringInfoString(&visible, " WHERE " HAS_ROLE("o.owner"));
		if (object->is_granted)
			appendStringInfo(&visible, " OR o.name = ANY " GRANTED(""), object->kind);
	}
	appendStringInfo(&visible, VISIBLE_END, SF_OBJECT_ALL);
	by_object.query = MemoryContextStrdup(TopMemoryContext, psprintf("%s" FROM_OBJECTS, visible.data));
	newest.query = MemoryContextStrdup(TopMemoryContext, psprintf("%s" FROM_NEWEST, visible.data));
}

/* Run one of the queries. */
static List *
run(SfPlan *plan, const SfAuditQuery *query)
{
	return sf_snapshot_rows(plan, &row_type, sf_query_arg(OIDOID, ObjectIdGetDatum(query->reader), false),
							SF_CHAR(query->kind), SF_TEXT(query->object), SF_TEXT(query->target),
							SF_TEXT(query->action),
							SF_TEXT(query->role), SF_TIME(query->from), SF_TIME(query->before),
							SF_INT8(query->max_rows));
}

/* Read a page: the newest actions that a query asks for, as SfAuditRow. */
List *
sf_audit_list(const SfAuditQuery *query)
{
	int			nest;
	List	   *rows;

	if (newest.query == NULL)
		write_queries();
	nest = sf_execution_list_plans_begin();
	rows = query->object != NULL ? NIL : run(&newest, query);

	if (list_length(rows) < query->max_rows)
		rows = run(&by_object, query);
	sf_execution_list_plans_end(nest);
	return rows;
}
