# Four servers, set up by the commands of docs/scale.md; node 3 is added afterwards.

for n in 0 1 2 3; do
	# The settings of the page; a module of this test comes before Citus, and what a crash leaves is settled sooner.
	{ page shared_preload_libraries | sed "s/'citus,/'crashme,citus,/"; echo "citus.recover_2pc_interval = '2s'"; } | new_server $n || exit 1
	sql $n 'CREATE EXTENSION citus' > /dev/null || exit 1
done
# Fewer shards than by default: each of 12 is moved or read faster.
sql 0 "ALTER DATABASE app SET citus.shard_count = 12"
is 'the set-up of the page' "$(run_page 0 citus_set_coordinator_host | grep ERROR)" ''

# What executions do: rows of the ledger say which task has run.
sql 0 "CREATE TABLE ledger (tenant text, execution text, node integer)" \
	-c "SELECT create_distributed_table('ledger', 'tenant', colocate_with := 'orders')" \
	-c "CREATE FUNCTION crashme_arm() RETURNS void AS 'crashme' LANGUAGE c" \
	-c "CREATE FUNCTION pay(tenant text, execution text) RETURNS void LANGUAGE plpgsql
		AS \$\$ BEGIN PERFORM crashme_arm(); INSERT INTO ledger VALUES (pay.tenant, pay.execution, 1); END \$\$" \
	-c "CREATE FUNCTION pay_once(tenant text, execution text) RETURNS void LANGUAGE sql
		AS \$\$ INSERT INTO ledger VALUES (pay_once.tenant, pay_once.execution, 1) \$\$" > /dev/null
# create_machines NODE: the machines of more than one part. "stubborn" tries until the other node is there.
create_machines() {
	local task='{"StartAt": "P", "States": {"P": {"Type": "Task", "Resource": "sql:public.'
	sql "$1" "SELECT sf_create_state_machine('pay', '${task}pay\", \"End\": true}}}')" \
		-c "SELECT sf_create_state_machine('order', '{\"StartAt\": \"P\", \"States\": {\"P\": {\"Type\": \"Pass\", \"End\": true}}}')" \
		-c "SELECT sf_create_state_machine('once', '${task}pay_once\", \"End\": true}}}')" \
		-c "SELECT sf_create_state_machine('stubborn', '${task}pay_once\", \"End\": true, \"Retry\":
			[{\"ErrorEquals\": [\"States.ALL\"], \"IntervalSeconds\": 1, \"BackoffRate\": 1, \"MaxAttempts\": 100}]}}}')" > /dev/null
}
for n in 0 1 2; do
	is "node $n: number and health, as the page has it" "$(run_page $n sf_set_node | grep ERROR)" ''
	create_machines $n
done
# Node 3 comes later: it gets the extension, tables and functions by itself.
sql 0 "SELECT citus_add_node('127.0.0.1', ${at[3]})" > /dev/null
for shard in $(sql 0 "SELECT shardid FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) WHERE logicalrelid = 'orders'::regclass
		AND shardid % 3 = 0 AND groupid <> 3"); do
	sql 0 "SELECT citus_move_shard_placement($shard, nodename, nodeport, '127.0.0.1', ${at[3]}, 'block_writes')
		FROM pg_dist_placement JOIN pg_dist_node USING (groupid) WHERE shardid = $shard" | grep ERROR
done
sql 3 'SELECT sf_set_node(groupid) FROM pg_dist_local_group' > /dev/null
create_machines 3

# --- 1: what the set-up leaves ---
for n in 1 2 3; do
	is "node $n: sf_check" "$(sql $n 'SELECT * FROM sf_check()')" ''
	is "node $n: sf_health" "$(sql $n "SELECT ok, detail FROM sf_health WHERE item = 'cluster'")" "t|node $n"
	is "node $n: driven" "$(sql $n "SELECT ok FROM sf_health WHERE item = 'driven'")" t
done
is 'node numbers differ' "$(for n in 0 1 2 3; do sql $n 'SELECT node FROM _sfflow.instance'; done | sort -u | wc -l)" 4

# A key at home on each node
for n in 1 2 3; do
	key[n]=$(sql 0 "SELECT 't' || g FROM generate_series(1, 500) g WHERE (sf_find_home('t' || g)).node = $n LIMIT 1")
	is "node $n knows its key" "$(sql $n "SELECT here FROM sf_find_home('${key[$n]}')")" t
done
