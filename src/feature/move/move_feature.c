/*
 * move_feature.c
 *		What moves have in the registry: where executions have gone, and what sf_health says of those that are not
 *		at home.
 */
#include "postgres.h"

#include "db/row.h"
#include "feature/home/home.h"
#include "feature/move/move.h"
#include "store/feature.h"

/* Keys that are looked at, at most: those that come first */
#define LOOKED_KEYS		10000

/* What is not at home */
typedef struct Away
{
	int64		executions;
	int64		keys;
	char	   *first;			/* a key */
	int			node;			/* where that one is at home */
} Away;

/* Read it. */
static void
read_away(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_executions = 1, COL_keys, COL_first, COL_node};
	Away	   *away = arg;

	away->executions = sf_row_number(tuple, desc, COL_executions, 0);
	away->keys = sf_row_number(tuple, desc, COL_keys, 0);
	away->first = sf_row_text(tuple, desc, COL_first);
	away->node = (int) sf_row_number(tuple, desc, COL_node, SF_NO_NODE);
}

/* Find what is on this node and at home on another one. */
static Away
find_away(void)
{
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE k (key, n) AS ((SELECT x.key, 1 FROM _sfflow.execution_key x ORDER BY x.key LIMIT 1)"
		" UNION ALL SELECT (SELECT x.key FROM _sfflow.execution_key x WHERE x.key > k.key ORDER BY x.key LIMIT 1), k.n + 1"
		"  FROM k WHERE k.key IS NOT NULL AND k.n < $2),"
		" a AS MATERIALIZED (SELECT k.key, p.groupid FROM k JOIN pg_catalog.pg_dist_placement p"
		"  ON p.shardid = pg_catalog.get_shard_id_for_distribution_column($1, k.key) WHERE k.key IS NOT NULL"
		"  AND p.groupid <> (SELECT l.groupid FROM pg_catalog.pg_dist_local_group l))"
		" SELECT (SELECT pg_catalog.count(*) FROM _sfflow.execution_key x JOIN a ON a.key = x.key) AS executions,"
		" pg_catalog.count(*) AS keys, pg_catalog.min(a.key) AS first,"
		" (pg_catalog.array_agg(a.groupid ORDER BY a.key))[1] AS node FROM a");
	Away		away = {0};
	Oid			table = sf_home_has_citus() ? sf_home_table() : InvalidOid;

	if (OidIsValid(table))
		sf_db_read(&plan, read_away, &away, sf_query_arg(REGCLASSOID, ObjectIdGetDatum(table), false),
				   SF_INT4(LOOKED_KEYS));
	return away;
}

/* Executions of departures that have not arrived, as far as this node knows */
static Away
find_departed(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT coalesce(pg_catalog.sum(d.executions), 0)::pg_catalog.int8, pg_catalog.count(DISTINCT d.key),"
		" (pg_catalog.array_agg(d.key ORDER BY d.departed_at))[1], (pg_catalog.array_agg(d.to_node ORDER BY d.departed_at))[1]"
		" FROM _sfflow.key_departure d");
	Away		away = {0};

	sf_db_run(InvalidOid, &plan, read_away, &away, NULL, 0);
	return away;
}

/* Count the executions that are not on the node of their key, or between two nodes. */
int64
sf_move_away(void)
{
	return find_away().executions + find_departed().executions;
}

/* Say which executions are not at home; nothing where there is no cluster and nothing has left. */
static void
put_health(SfHealthPut put, void *arg)
{
	Away		away = find_away();
	Away		departed = find_departed();

	if (departed.executions > 0)
		put(arg, "keys", false,
			psprintf(INT64_FORMAT " executions of " INT64_FORMAT " keys have left this node, and are not known to have arrived; CALL sf_move_key(%s) on node %d",
					 departed.executions, departed.keys, quote_literal_cstr(departed.first), departed.node));
	else if (away.executions > 0)
		put(arg, "keys", false,
			psprintf(INT64_FORMAT " executions of " INT64_FORMAT " keys are not on the node of their key; CALL sf_move_key(%s) on node %d",
					 away.executions, away.keys, quote_literal_cstr(away.first), away.node));
	else if (sf_home_has_citus() && OidIsValid(sf_home_table()))
		put(arg, "keys", true, "executions are on the node of their key");
}

const SfFeature sf_move_feature = {
	.name = "move",
	.node_left_to = sf_move_left_to,
	.put_health = put_health,
};
