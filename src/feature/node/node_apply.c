/*
 * node_apply.c
 *		sf_apply_all(): a document of definitions for all nodes, and which of them lacks one.
 *
 * The coordinator applies a document first, in the transaction of the call, and keeps it with its revision.  The row is
 * locked until that transaction has committed, so calls with documents of one name follow each other on all nodes.  A
 * node commits on its own.  It refuses a document that is older than the one that it has (sf_apply), so what
 * arrives late undoes nothing.
 *
 * Versions of state machines come from the coordinator: what is sent has all versions of the machines that the document
 * names, with the numbers that they have here, so that a node that has missed a document gets the same numbers.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/columns.h"
#include "api/definition/definitions.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "feature/node/node.h"

/* A document that is sent */
typedef struct Document
{
	char	   *role;
	char	   *name;
	int64		revision;
	char	   *digest;
	bool		removes;
	Jsonb	   *sent;			/* with revision and versions */
} Document;

/* Read a row of node_document. */
static void
append_document(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_role = 1, COL_name, COL_revision, COL_digest, COL_removes, COL_document};
	List	  **documents = arg;
	Document   *document = palloc0(sizeof(Document));

	document->role = sf_row_text(tuple, desc, COL_role);
	document->name = sf_row_text(tuple, desc, COL_name);
	document->revision = sf_row_number(tuple, desc, COL_revision, 0);
	document->digest = sf_row_text(tuple, desc, COL_digest);
	document->removes = sf_row_number(tuple, desc, COL_removes, 0) != 0;
	document->sent = sf_row_jsonb(tuple, desc, COL_document);
	*documents = lappend(*documents, document);
}

/*
 * Store a document with the revision that it has, or else the next one; a document that is equal to the one before
 * keeps that one's.  Its row stays locked.  Raises if the one that is there is newer.
 */
static Document *
store_document(char *role, const Jsonb *given, bool removes)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.node_document AS d (role, name, revision, digest, removes, document, stored_at)"
		" SELECT $1, $2, coalesce(($3 ->> 'revision')::pg_catalog.int8, a.revision + 1), _sfflow.definitions_digest($3), $4, $3,"
		" pg_catalog.clock_timestamp()"
		" FROM (SELECT coalesce(pg_catalog.max(x.revision), 0) AS revision FROM _sfflow.applied_definitions x"
		" WHERE x.role = $1 AND x.name = $2) a"
		" ON CONFLICT (role, name) DO UPDATE SET revision = CASE WHEN $3 ? 'revision' THEN EXCLUDED.revision"
		" WHEN d.digest = EXCLUDED.digest AND d.removes = EXCLUDED.removes AND d.revision >= EXCLUDED.revision - 1"
		" THEN d.revision ELSE greatest(d.revision + 1, EXCLUDED.revision) END,"
		" digest = EXCLUDED.digest, removes = EXCLUDED.removes, document = EXCLUDED.document,"
		" stored_at = EXCLUDED.stored_at"
		" WHERE NOT $3 ? 'revision' OR d.revision <= EXCLUDED.revision"
		" RETURNING d.role, d.name, d.revision, d.digest, d.removes, d.document");
	char	   *name = sf_json_get_cstring(given, "name");
	List	   *documents = NIL;

	sf_db_read(&plan, append_document, &documents, SF_TEXT(role), SF_TEXT(name == NULL ? "" : name), SF_JSONB(given),
			   SF_BOOL(removes));
	if (documents == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_OLDER_REVISION),
				 errmsg("the revision of the document of definitions is older than the one that was applied to all nodes")));
	return linitial(documents);
}

/* Lock the documents that a role has stored, and list them. */
static List *
stored_documents(char *role)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.role, d.name, d.revision, d.digest, d.removes, d.document FROM _sfflow.node_document d"
		" WHERE d.role = $1 ORDER BY d.name FOR UPDATE");
	List	   *documents = NIL;

	sf_db_read(&plan, append_document, &documents, SF_TEXT(role));
	return documents;
}

/* Put revision, name and all versions of its machines into a document, and store it so. */
static void
add_versions(Document *document)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.node_document d SET document = _sfflow.with_versions(d.document)"
		" WHERE d.role = $1 AND d.name = $2"
		" RETURNING d.role, d.name, d.revision, d.digest, d.removes, d.document");
	List	   *documents = NIL;

	sf_db_read(&plan, append_document, &documents, SF_TEXT(document->role), SF_TEXT(document->name));
	document->sent = ((Document *) linitial(documents))->sent;
}

/* --- what the nodes have --- */

/* Note what has come of a document on a node. */
static void
note_applied(const Document *document, const SfNode *node, const char *error)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.node_applied AS a (role, name, node, revision, digest, tried_at, error)"
		" VALUES ($1, $2, $3, CASE WHEN $6 IS NULL THEN $4 END, CASE WHEN $6 IS NULL THEN $5 END,"
		" pg_catalog.clock_timestamp(), $6)"
		" ON CONFLICT (role, name, node) DO UPDATE SET revision = coalesce(EXCLUDED.revision, a.revision),"
		" digest = coalesce(EXCLUDED.digest, a.digest), tried_at = EXCLUDED.tried_at, error = EXCLUDED.error");

	sf_db_execute(&plan, SF_TEXT(document->role), SF_TEXT(document->name), SF_INT4(node->number),
				  SF_INT8(document->revision), SF_TEXT(document->digest), SF_TEXT(error));
}

/* A node that lacks a document */
typedef struct Lag
{
	int64		lags;
	char	   *first;
} Lag;

/* Read how many there are, and what to say of the first. */
static void
read_lag(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_lags = 1, COL_first};
	Lag		   *lag = arg;

	lag->lags = sf_row_number(tuple, desc, COL_lags, 0);
	lag->first = sf_row_text(tuple, desc, COL_first);
}

/* Show whether nodes lack documents that were applied to all, if there are documents. */
void
sf_node_health(SfHealthPut put, void *arg)
{
	static SfPlan any = SF_PLAN("SELECT pg_catalog.count(*) FROM _sfflow.node_document d");
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) AS lags,"
		" (pg_catalog.array_agg(l.problem ORDER BY l.node, l.role, l.name))[1] AS first"
		" FROM _sfflow.node_lag l");
	Lag			lag = {0};

	if (sf_db_number_as(InvalidOid, &any, 0, NULL, 0) == 0)
		return;
	sf_db_run(InvalidOid, &plan, read_lag, &lag, NULL, 0);
	put(arg, "definitions", lag.lags == 0,
		lag.lags == 0 ? "all nodes have the documents of sf_apply_all"
		: psprintf("%s%s; sf_apply_all() sends it again", lag.first,
				   lag.lags == 1 ? "" : psprintf(", and " INT64_FORMAT " more like it", lag.lags - 1)));
}

/* --- the call --- */

/* Put a row: what has come of a document on a node; (node NULL: this database, which is none). */
static void
put_row(FunctionCallInfo fcinfo, const Document *document, const SfNode *node, const char *error, const Jsonb *answer)
{
	SfColumns	row = {0};
	JsonbValue	root;
	JsonbValue	value;
	int64		changed = 0;
	bool		is_told = false;

	if (answer != NULL)
	{
		sf_json_root(answer, &root);
		is_told = sf_json_member(&root, "changed", 7, &value) && sf_json_to_int64(&value, &changed);
	}
	sf_columns_add(&row, Int32GetDatum(node == NULL ? 0 : node->number), node == NULL);
	sf_columns_add(&row, BoolGetDatum(error == NULL), false);
	sf_columns_text(&row, error);
	sf_columns_text(&row, document->name);
	sf_columns_add(&row, Int64GetDatum(document->revision), false);
	sf_columns_add(&row, Int64GetDatum(changed), !is_told);
	sf_columns_put(fcinfo, &row);
}

/* Read an answer. */
static void
read_answer(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(Jsonb **) arg = sf_row_jsonb(tuple, desc, 1);
}

/* What _sfflow.node_apply() takes. */
static Jsonb *
arguments_of(const Document *document)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.jsonb_build_object('remove', $1, 'definitions', $2"
		" || pg_catalog.jsonb_build_object('name', $3, 'revision', $4))");
	Jsonb	   *arguments = NULL;

	sf_db_read(&plan, read_answer, &arguments, SF_BOOL(document->removes), SF_JSONB(document->sent),
			   SF_TEXT(document->name), SF_INT8(document->revision));
	return arguments;
}

/* Apply a document here, then on the other nodes, and say what has come of it. */
static void
apply_everywhere(FunctionCallInfo fcinfo, Document *document, const List *nodes)
{
	static SfPlan plan = SF_PLAN("SELECT a FROM _sfflow.node_apply($1) a");
	SfNodeQuestion question = {.statement = plan.query,.effort = SF_NODE_WRITES};
	const SfNode *here = NULL;
	List	   *others = NIL;
	Jsonb	   *answer = NULL;
	Jsonb	   *arguments;

	foreach_ptr(SfNode, node, nodes)
	{
		if (node->dsn == NULL)
			here = node;
		else
			others = lappend(others, node);
	}
	sf_db_run(GetUserId(), &plan, read_answer, &answer, SF_ARGS(SF_JSONB(arguments_of(document))));
	put_row(fcinfo, document, here, NULL, answer);
	add_versions(document);
	arguments = arguments_of(document);
	question.argument = JsonbToCString(NULL, &arguments->root, VARSIZE(arguments));
	foreach_ptr(const SfNodeAnswer, answered, sf_node_ask(others, &question))
	{
		note_applied(document, answered->node, answered->error);
		put_row(fcinfo, document, answered->node, answered->error,
				answered->rows == NIL ? NULL : sf_json_from_cstring(linitial(answered->rows)));
	}
}

/*
 * sf_apply_all(definitions, remove): what has come of a document on each node; NULL: of those of the caller that
 * are stored.
 */
SF_SQL_FUNCTION(sfflow_sf_apply_all)
{
	Jsonb	   *given = sf_arg_jsonb_or_null(fcinfo, 0);
	bool		removes = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	char	   *role = GetUserNameFromId(GetUserId(), false);
	List	   *nodes;

	/* Other nodes commit before this one: a document must not be taken back here that they have. */
	PreventInTransactionBlock(true, "sf_apply_all()");
	InitMaterializedSRF(fcinfo, 0);
	nodes = sf_node_list();
	if (given != NULL)
	{
		sf_definition_check(given, sf_definition_kinds());
		apply_everywhere(fcinfo, store_document(role, given, removes), nodes);
		return (Datum) 0;
	}
	foreach_ptr(Document, document, stored_documents(role))
		apply_everywhere(fcinfo, document, nodes);
	return (Datum) 0;
}
