/*
 * home_row.c
 *		The rows of sf_home: on which node the executions of a key are.
 *
 * The shard of a key, which Citus moves, decides where the key is at home.  Its row in sf_home, which goes with the
 * shard, says which node has its executions: the first start of a key writes it, and sf_move_key() changes it.  So
 * a start on the node to which Citus has moved a shard is refused until the executions have followed: a name is
 * started once.
 *
 * A start has a share lock of its key to its end, and a move the other one, on both nodes: they do not cross.  A
 * backend remembers keys whose executions are here until some leave, or a shard moves: it asks Citus nothing when
 * it starts more of them.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "db/lock_tag.h"
#include "db/row.h"
#include "db/table_cache.h"
#include "feature/home/home.h"

/* Keys that a backend remembers, at most */
#define REMEMBERED		10000

/* --- queries of sf_home --- */

/* A query of sf_home, with the name of the table for %s */
typedef struct HomePlan
{
	const char *format;
	SfPlan		plan;
	Oid			table;			/* that the plan is of */
} HomePlan;

/* Name the table that the query is of; NULL: there is none, or it has no columns that tell where executions are. */
static SfPlan *
prepare(HomePlan *plan)
{
	Oid			table;

	if (!sf_home_tells())
		return NULL;
	table = sf_home_table();
	if (plan->table != table)
	{
		plan->plan.query = MemoryContextStrdup(TopMemoryContext, psprintf(
			plan->format, quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
													 get_rel_name(table))));
		plan->plan.plan = NULL;
		plan->table = table;
	}
	return &plan->plan;
}

/* Does sf_home tell where executions are? */
bool
sf_home_tells(void)
{
	Oid			table = sf_home_table();

	return OidIsValid(table) && get_attnum(table, "from_node") != InvalidAttrNumber;
}

/* Read a row. */
static void
read_home_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_node = 1, COL_from_node};
	SfHomeRow  *row = arg;

	row->found = true;
	row->group = (int) sf_row_number(tuple, desc, COL_node, SF_NO_GROUP);
	row->from_group = (int) sf_row_number(tuple, desc, COL_from_node, SF_NO_GROUP);
}

/* Find on which node the executions of a key are. */
SfHomeRow
sf_home_row_find(const char *key)
{
	static HomePlan query = {.format = "SELECT h.node, h.from_node FROM %s h WHERE h.key OPERATOR(pg_catalog.=) $1"};
	SfHomeRow	row = {.group = SF_NO_GROUP,.from_group = SF_NO_GROUP};
	SfPlan	   *plan = prepare(&query);

	if (plan != NULL)
		sf_db_read(plan, read_home_row, &row, SF_TEXT(key));
	return row;
}

/* Say on which node the executions of a key are; from_group: where others still are, or SF_NO_GROUP. */
void
sf_home_row_set(const char *key, SfCitusGroup group, SfCitusGroup from_group)
{
	static HomePlan query = {.format = "INSERT INTO %s AS h (key, node, from_node) VALUES ($1, $2, $3)"
		" ON CONFLICT (key) DO UPDATE SET node = EXCLUDED.node, from_node = EXCLUDED.from_node"};
	SfPlan	   *plan = prepare(&query);

	if (plan != NULL)
		sf_db_execute(plan, SF_TEXT(key), SF_INT4(group), sf_query_arg(INT4OID, Int32GetDatum(from_group), from_group == SF_NO_GROUP));
}

/* List the keys of which some executions are on another node than the row says, or than this one. */
List *
sf_home_keys_to_move(SfCitusGroup group)
{
	static HomePlan query = {.format = "SELECT h.key FROM %s h WHERE h.node <> $1 OR h.from_node IS NOT NULL ORDER BY h.key"};
	SfPlan	   *plan = prepare(&query);

	return plan == NULL ? NIL : sf_db_texts(plan, SF_INT4(group));
}

/* The number that Citus has given this node; SF_NO_GROUP: there is no Citus. */
SfCitusGroup
sf_home_group(void)
{
	static SfPlan plan = SF_PLAN("SELECT l.groupid FROM pg_catalog.pg_dist_local_group l");

	return sf_home_has_citus() ? (int) sf_db_number(&plan, SF_NO_GROUP) : SF_NO_GROUP;
}

/* Where Citus has a node; NULL: it has none of this number. */
char *
sf_home_dsn(SfCitusGroup group)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.format('host=''%s'' port=%s', n.nodename, n.nodeport) FROM pg_catalog.pg_dist_node n"
		" WHERE n.groupid = $1 AND n.noderole = 'primary'");

	return sf_home_has_citus() ? sf_list_first(sf_db_texts(&plan, SF_INT4(group))) : NULL;
}

/* --- starts and moves of a key --- */

/* Lock a key on this node to the end of the transaction: shared by starts and by those who write rows of its
 * executions without a lock of these, alone for a move. */
void
sf_home_lock(const char *key, bool shared)
{
	LOCKTAG		tag = sf_lock_tag_of_text(SF_LOCK_OF_EXECUTION_KEY, 0, key);

	(void) LockAcquire(&tag, shared ? ShareLock : ExclusiveLock, false, false);
	sf_table_cache_accept_changes();
}

static void forget_keys(SfTableCache *of);

/* Keys that are at home here with their executions; forgotten when executions leave, and when the cluster changes */
static SfTableCache cache = {.table = "execution_key",.load = forget_keys,.is_latest = true};
static HTAB *known = NULL;
static uint64 known_at;

/* The transaction that has written rows of sf_home, which may be rolled back */
static TransactionId written_by = InvalidTransactionId;

/* Make an empty table of the keys that are known. */
static void
forget_keys(SfTableCache *of)
{
	HASHCTL		ctl = {.keysize = SF_MAX_HOME_KEY * 4 + 1,.entrysize = SF_MAX_HOME_KEY * 4 + 1};

	if (known != NULL)
		hash_destroy(known);
	known_at = sf_home_changes();
	known = hash_create("sfflow keys at home", 64, &ctl, HASH_ELEM | HASH_STRINGS);
}

/* Is a key at home here with its executions, as far as this backend knows? */
static bool
is_known(const char *key)
{
	if (known_at != sf_home_changes())
		cache.is_current = false;
	sf_table_cache_refresh(&cache);
	return hash_search(known, key, HASH_FIND, NULL) != NULL;
}

/*
 * An execution is to begin: keep others from moving its key, if the key is known to be at home here with its
 * executions.  Looked at again with the lock, which comes before the changes of all who have had it.
 */
bool
sf_home_claim_known(const char *key)
{
	if (known == NULL || !is_known(key))
		return false;
	sf_home_lock(key, true);
	return is_known(key);
}

/* Raise: the executions of a key have not followed its shard. */
static void pg_attribute_noreturn()
refuse(const char *key, const SfHomeRow *row, SfCitusGroup here)
{
	SfCitusGroup other = row->from_group != SF_NO_GROUP ? row->from_group : row->group;

	ereport(ERROR,
			(errcode(ERRCODE_SF_NOT_AT_HOME),
			 errmsg("executions of key \"%s\" are still on node %d, from which its shard was moved", key, other),
			 errhint("CALL sf_move_key('%s') on node %d lets them follow.", key, row->from_group != SF_NO_GROUP ? row->group : here)));
}

/*
 * An execution of a key that is at home here is to begin: keep others from moving the key, and raise unless its
 * executions are here. changes: of the cluster, before the look at where the key is at home.
 */
void
sf_home_claim(const char *key, SfCitusGroup here, uint64 changes)
{
	SfHomeRow	row;

	if (!sf_home_tells())
		return;
	sf_home_lock(key, true);
	if (is_known(key))
		return;
	row = sf_home_row_find(key);
	if (!row.found)
	{
		static HomePlan query = {.format = "INSERT INTO %s (key, node) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING"};

		written_by = GetTopTransactionId();
		sf_db_execute(prepare(&query), SF_TEXT(key), SF_INT4(here));
		row = sf_home_row_find(key);
	}
	if (row.group != here || row.from_group != SF_NO_GROUP)
		refuse(key, &row, here);
	if (written_by != GetTopTransactionIdIfAny() && !IsolationUsesXactSnapshot() && changes == sf_home_changes() &&
		hash_get_num_entries(known) < REMEMBERED)
		(void) hash_search(known, key, HASH_ENTER, NULL);
}
