/*
 * citus.c
 *		What sfflow asks Citus, and how a transaction that writes here and on another node ends on both or on none.
 *
 * Citus commits a transaction in two phases if it knows of writes on two nodes.  It does not know of the tables of the
 * extension, whose rows sfflow writes itself.  So a task whose only write by Citus is on another node would be committed there first, and here
 * only afterwards: killed between the two, this node would run the task again.  At the end of a transaction that has written tables
 * of the extension, and has a number of a distributed transaction, a row of sf_home is therefore deleted by Citus that
 * does not exist, of a key that is at home here.  That is a write on this node, and the transaction one of two
 * phases.  If this node commits, so does the other one; Citus commits what is prepared there after a crash.
 *
 * Where the server does not load Citus, no callback is registered, and nothing is looked at.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "storage/lock.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "base/debug_point.h"
#include "base/errors.h"
#include "feature/home/home.h"
#include "db/row.h"
#include "db/table.h"

/* Keys among which one is sought that is at home here: with 32 shards a node has one of the first hundred */
#define SOUGHT_KEYS	10000

/* The server has loaded Citus */
static bool is_loaded = false;

/* A key that was at home here when it was used last; as text, in TopMemoryContext */
static char *local_key = NULL;

/* --- what there is --- */

/* Is Citus installed in this database? */
bool
sf_home_has_citus(void)
{
	List	   *name;

	if (!is_loaded)
		return false;
	name = list_make2(makeString("pg_catalog"), makeString("get_current_transaction_id"));
	return OidIsValid(LookupFuncName(name, 0, NULL, true));
}

/* Find the table sf_home, in the schema of the extension's functions; InvalidOid: there is none. */
Oid
sf_home_table(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT c.oid FROM pg_catalog.pg_extension e"
		" JOIN pg_catalog.pg_class c ON c.relnamespace = e.extnamespace AND c.relname = 'sf_home'"
		" WHERE e.extname = 'sfflow' AND EXISTS (SELECT FROM pg_catalog.pg_dist_partition p"
		" WHERE p.logicalrelid = c.oid)");

	return (Oid) sf_store_number(&plan, InvalidOid);
}

/* Read where a key is at home. */
static void
read_home(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfHome	   *home = arg;

	home->found = true;
	home->node = (int) sf_row_number(tuple, desc, 1, 0);
	home->host = sf_row_text(tuple, desc, 2);
	home->port = (int) sf_row_number(tuple, desc, 3, 0);
	home->here = sf_row_number(tuple, desc, 4, 0) != 0;
}

/* Find the node where a key is at home; found is false where sf_home is not distributed. */
SfHome
sf_home_find(const char *key)
{
	static SfPlan plan = SF_PLAN(
		"SELECT p.groupid, n.nodename, n.nodeport,"
		" p.groupid = (SELECT l.groupid FROM pg_catalog.pg_dist_local_group l)"
		" FROM pg_catalog.pg_dist_placement p"
		" JOIN pg_catalog.pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'"
		" WHERE p.shardid = pg_catalog.get_shard_id_for_distribution_column($1, $2)");
	SfHome		home = {0};
	Oid			table = sf_home_has_citus() ? sf_home_table() : InvalidOid;

	if (OidIsValid(table))
		sf_store_read(&plan, read_home, &home, sf_query_arg(REGCLASSOID, ObjectIdGetDatum(table), false),
					  SF_TEXT(key));
	return home;
}

/* Find any key that is at home on this node, the one that was found last if it still is; NULL: there is none. */
char *
sf_home_local_key(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT g::pg_catalog.text FROM pg_catalog.generate_series(1, $2) g"
		" JOIN pg_catalog.pg_dist_placement p"
		" ON p.shardid = pg_catalog.get_shard_id_for_distribution_column($1, g::pg_catalog.text)"
		" WHERE p.groupid = (SELECT l.groupid FROM pg_catalog.pg_dist_local_group l) LIMIT 1");
	Oid			table;
	char	   *found;

	if (local_key != NULL && sf_home_find(local_key).here)
		return local_key;
	if (local_key != NULL)
		pfree(local_key);
	local_key = NULL;
	table = sf_home_table();
	if (!OidIsValid(table))
		return NULL;
	found = sf_list_first(sf_store_texts(&plan, sf_query_arg(REGCLASSOID, ObjectIdGetDatum(table), false),
										 SF_INT4(SOUGHT_KEYS)));
	if (found != NULL)
		local_key = MemoryContextStrdup(TopMemoryContext, found);
	return local_key;
}

/* The number that sf_set_node() has given this database; -1: none. */
int
sf_home_node_number(void)
{
	static SfPlan plan = SF_PLAN("SELECT i.node FROM _sfflow.instance i");

	return (int) sf_store_number(&plan, -1);
}

/* --- transactions over nodes --- */

/* Has this transaction written a table of the extension?  It then has the lock of a writer, until its end. */
static bool
has_written(const char *name)
{
	Oid			relation = sf_store_relation(name);
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
	static SfPlan plan = SF_PLAN(
		"SELECT t.transaction_number <> 0 AND t.initiator_node_identifier ="
		" (SELECT l.groupid FROM pg_catalog.pg_dist_local_group l)"
		" FROM pg_catalog.get_current_transaction_id() t");

	return sf_home_has_citus() && sf_store_number(&plan, 0) != 0;
}

/* Write on this node, as Citus counts it: delete a row that does not exist. */
static void
touch(const char *key)
{
	Oid			table = sf_home_table();
	char	   *command = psprintf("DELETE FROM %s WHERE key OPERATOR(pg_catalog.=) %s",
								   quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
															  get_rel_name(table)),
								   quote_literal_cstr(key));

	sf_store_command(command, SPI_OK_DELETE);
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
			touch(key);
		else if (key == NULL && sf_home_node_number() >= 0)
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
		OidIsValid(MyDatabaseId) && OidIsValid(sf_store_relation("execution")))
		join_nodes();
}

/* The library is loaded: see whether Citus is.  It has to come before all others. */
void
sf_home_init(void)
{
	is_loaded = GetConfigOption("citus.shard_count", true, false) != NULL;
	if (is_loaded)
		RegisterXactCallback(on_transaction, NULL);
}
