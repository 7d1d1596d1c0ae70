/*
 * citus.c
 *		What sfflow asks Citus, and how a transaction that writes here and on another node ends on both or on none.
 *
 * Citus commits a transaction in two phases if it knows of writes on two nodes.  It does not know of the tables of the
 * extension, whose rows sfflow writes itself.  So a task whose only write by Citus is on another node would be
 * committed there first, and here only afterwards: killed between the two, this node would run the task again.  At
 * the end of a transaction that has written tables of the extension, and has a number of a distributed transaction,
 * a row of sf_home is therefore deleted by Citus that does not exist, of a key that is at home here.  That is a
 * write on this node, and the transaction one of two phases.  If this node commits, so does the other one; Citus
 * commits what is prepared there after a crash.
 *
 * Where the server does not load Citus, no callback is registered, and nothing is looked at.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_namespace_d.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/version/compat.h"
#include "db/row.h"
#include "db/table.h"
#include "db/table_cache.h"
#include "feature/home/home.h"

/* Keys among which one is sought that is at home here: with 32 shards a node has one of the first hundred */
#define SOUGHT_KEYS	10000

/* The server has loaded Citus */
static bool is_loaded = false;

/* A key that was at home here when it was used last; as text, in TopMemoryContext */
static char *local_key = NULL;

/* --- what there is --- */

/* What this backend knows of the cluster, until Citus or sf_home changes */
typedef struct Cluster
{
	bool		is_current;
	Oid			table;			/* sf_home; InvalidOid: there is none, or it is not distributed */
	Oid			transaction_id; /* the function get_current_transaction_id() */
	SfCitusGroup group;			/* of this node */
	Oid			watched[3];		/* a change of these changes it */
	uint64		changes;		/* so often it has changed */
} Cluster;

static Cluster cluster = {0};

/* Forget what is known of the cluster. */
static void
forget_cluster(void)
{
	cluster.is_current = false;
	cluster.changes++;
}

/*
 * Relcache callback.  Citus has it called for sf_home when a shard of it moves, and for its own tables when nodes
 * change.
 */
static void
on_relation_change(Datum arg, Oid relid)
{
	bool		is_watched = !OidIsValid(relid);

	for (size_t i = 0; i < lengthof(cluster.watched); i++)
		if (relid == cluster.watched[i])
			is_watched = true;
	if (is_watched)
		forget_cluster();
}

/* Syscache callback: a table has come, gone, or got another name or schema. */
static void
on_class_change(Datum arg, int cacheid, uint32 hashvalue)
{
	forget_cluster();
}

/* Find the function of Citus that tells of the transaction; InvalidOid: Citus is not installed in this database. */
static Oid
find_transaction_id(void)
{
	List	   *name = list_make2(makeString("pg_catalog"), makeString("get_current_transaction_id"));

	return LookupFuncName(name, 0, NULL, true);
}

/* Look at the cluster anew. */
static void
read_cluster(void)
{
	static SfPlan table_plan = SF_PLAN(
		"SELECT c.oid FROM pg_catalog.pg_extension e"
		" JOIN pg_catalog.pg_class c ON c.relnamespace = e.extnamespace AND c.relname = 'sf_home'"
		" WHERE e.extname = 'sfflow' AND EXISTS (SELECT FROM pg_catalog.pg_dist_partition p"
		" WHERE p.logicalrelid = c.oid)");
	static SfPlan group_plan = SF_PLAN("SELECT l.groupid FROM pg_catalog.pg_dist_local_group l");
	uint64		changes = cluster.changes;

	cluster.table = InvalidOid;
	cluster.watched[1] = get_relname_relid("pg_dist_local_group", PG_CATALOG_NAMESPACE);
	cluster.watched[2] = get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE);
	cluster.transaction_id = find_transaction_id();
	if (!OidIsValid(cluster.transaction_id))
		return;
	cluster.group = (SfCitusGroup) sf_db_number(&group_plan, SF_NO_GROUP);
	cluster.table = (Oid) sf_db_number(&table_plan, InvalidOid);
	cluster.watched[0] = cluster.table;
	/* what an old snapshot shows, or what has changed meanwhile, is good for once */
	cluster.is_current = OidIsValid(cluster.table) && cluster.changes == changes && !IsolationUsesXactSnapshot();
}

/* What there is, with what other sessions have committed before this call. */
static const Cluster *
find_cluster(void)
{
	sf_table_cache_accept_changes();
	if (!cluster.is_current)
		read_cluster();
	return &cluster;
}

/* Is Citus installed in this database? */
bool
sf_home_has_citus(void)
{
	return is_loaded && (cluster.is_current || OidIsValid(find_transaction_id()));
}

/* Find the table sf_home, in the schema of the extension's functions; InvalidOid: there is none. */
Oid
sf_home_table(void)
{
	return is_loaded ? find_cluster()->table : InvalidOid;
}

/* How often the cluster has changed, as far as this backend knows: nodes, and the nodes of shards. */
uint64
sf_home_changes(void)
{
	return cluster.changes;
}

/* Read where a key is at home. */
static void
read_home(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_groupid = 1, COL_nodename, COL_nodeport, COL_here};
	SfHome	   *home = arg;

	home->place = sf_row_number(tuple, desc, COL_here, 0) != 0 ? SF_HOME_HERE : SF_HOME_ELSEWHERE;
	home->group = (int) sf_row_number(tuple, desc, COL_groupid, 0);
	home->host = sf_row_text(tuple, desc, COL_nodename);
	home->port = (int) sf_row_number(tuple, desc, COL_nodeport, 0);
}

/* Find the node where a key is at home. */
SfHome
sf_home_find(const char *key)
{
	static SfPlan plan = SF_PLAN(
		"SELECT p.groupid, n.nodename, n.nodeport,"
		" p.groupid = (SELECT l.groupid FROM pg_catalog.pg_dist_local_group l) AS here"
		" FROM pg_catalog.pg_dist_placement p"
		" JOIN pg_catalog.pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'"
		" WHERE p.shardid = pg_catalog.get_shard_id_for_distribution_column($1, $2)");
	SfHome		home = {0};
	Oid			table = sf_home_table();

	if (OidIsValid(table))
		sf_db_read(&plan, read_home, &home, sf_query_arg(REGCLASSOID, ObjectIdGetDatum(table), false),
				   SF_TEXT(key));
	return home;
}

/* Find any key that is at home on this node, the one that was found last if no shard has moved; NULL: there is none. */
char *
sf_home_local_key(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT g::pg_catalog.text FROM pg_catalog.generate_series(1, $2) g"
		" JOIN pg_catalog.pg_dist_placement p"
		" ON p.shardid = pg_catalog.get_shard_id_for_distribution_column($1, g::pg_catalog.text)"
		" WHERE p.groupid = (SELECT l.groupid FROM pg_catalog.pg_dist_local_group l) LIMIT 1");
	static bool is_kept = false;
	static uint64 found_at;
	Oid			table = sf_home_table();
	uint64		changes = cluster.changes;
	char	   *found;

	if (local_key != NULL && is_kept && found_at == changes)
		return local_key;
	if (local_key != NULL)
		pfree(local_key);
	local_key = NULL;
	if (!OidIsValid(table))
		return NULL;
	found = sf_list_first(sf_db_texts(&plan, sf_query_arg(REGCLASSOID, ObjectIdGetDatum(table), false),
									  SF_INT4(SOUGHT_KEYS)));
	if (found != NULL)
		local_key = MemoryContextStrdup(TopMemoryContext, found);
	/* what an old snapshot shows is good for once */
	is_kept = !IsolationUsesXactSnapshot();
	found_at = changes;
	return local_key;
}

/* The number that sf_set_node() has given this database; SF_NO_NODE: none. */
int
sf_home_node_number(void)
{
	static SfPlan plan = SF_PLAN("SELECT i.node FROM _sfflow.instance i");

	return (int) sf_db_number(&plan, SF_NO_NODE);
}

/* --- transactions over nodes --- */

/* Has this transaction written a table of the extension?  It then has the lock of a writer, until its end. */
static bool
has_written(const char *name)
{
	Oid			relation = sf_db_relation(name);
	LOCKTAG		tag;

	if (!OidIsValid(relation))
		return false;
	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relation);
	return SF_LOCK_HELD(&tag, RowExclusiveLock);
}

/* Has this transaction written any?  A long task writes the row of its branch alone. */
static bool
has_written_any(void)
{
	if (has_written("branch") || has_written("execution"))
		return true;
	SF_TABLES(table)
		if (has_written(table->name))
			return true;
	return false;
}

/* Is this transaction one of Citus that this session has begun, so that it ends it? */
static bool
is_distributed(void)
{
	const Cluster *c = find_cluster();
	HeapTupleHeader transaction;
	bool		isnull;

	if (!OidIsValid(c->transaction_id))
		return false;
	transaction = DatumGetHeapTupleHeader(OidFunctionCall0(c->transaction_id));
	return DatumGetInt64(GetAttributeByName(transaction, "transaction_number", &isnull)) != 0 &&
		DatumGetInt32(GetAttributeByName(transaction, "initiator_node_identifier", &isnull)) == c->group;
}

/*
 * Write on this node, as Citus counts it: delete a row that does not exist.  Where Citus has called a function here
 * for another node, it takes the end of the transaction for a part of that call, in which it allows no query of its
 * tables.
 */
static void
count_as_written(const char *key)
{
	static SfPlan plan = {0};
	static Oid	planned = InvalidOid;
	Oid			table = sf_home_table();
	int			level = NewGUCNestLevel();

	if (planned != table)
	{
		plan.query = MemoryContextStrdup(TopMemoryContext, psprintf(
			"DELETE FROM %s WHERE key OPERATOR(pg_catalog.=) $1",
			quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), get_rel_name(table))));
		plan.plan = NULL;
		planned = table;
	}
	(void) set_config_option("citus.allow_nested_distributed_execution", "on", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	sf_db_execute(&plan, SF_TEXT(key));
	AtEOXact_GUC(true, level);
}

/* Have Citus end this transaction in two phases, if it writes the tables of the extension and is distributed. */
static void
join_nodes(void)
{
	const char *key;

	PushActiveSnapshot(GetTransactionSnapshot());
	if (has_written_any() && is_distributed())
	{
		key = sf_home_local_key();
		if (key != NULL && !SF_DEBUG_MUTATION("one-phase"))
			count_as_written(key);
		else if (key == NULL && sf_home_node_number() != SF_NO_NODE)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("no shard of the table sf_home is on this node, so that work of sfflow and of other nodes cannot end in one transaction"),
					 errhint("Make sf_home a distributed table, and give this node a shard of it: docs/scale.md.")));
	}
	PopActiveSnapshot();
}

/*
 * A transaction is about to commit.  The callback of Citus comes after this one: callbacks are called from the last to
 * the first, and Citus is loaded before sfflow.
 */
static void
on_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT && TransactionIdIsValid(GetTopTransactionIdIfAny()) &&
		OidIsValid(MyDatabaseId) && OidIsValid(sf_db_relation("execution")))
		join_nodes();
}

/* The library is loaded: see whether Citus is.  It has to come before all others. */
void
sf_home_init(void)
{
	is_loaded = GetConfigOption("citus.shard_count", true, false) != NULL;
	if (!is_loaded)
		return;
	RegisterXactCallback(on_transaction, NULL);
	CacheRegisterRelcacheCallback(on_relation_change, (Datum) 0);
	CacheRegisterSyscacheCallback(RELNAMENSP, on_class_change, (Datum) 0);
}
