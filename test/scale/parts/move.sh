# The executions of a key move from node to node while sessions start more of them.

# --- 8: a shard moves with what lives on it, killed again and again, while executions start ---
# The machines of all phases; each execution of them writes its rows into the ledger exactly once a task.
parallel='{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true, "Branches": [
	{"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "Resource": "activity:shell", "ResultPath": null, "Next": "PayA"},
		"PayA": {"Type": "Task", "Resource": "sql:public.pay_once", "Parameters": {"tenant.$": "$.tenant", "execution.$": "States.Format('"'{}.a', \$.execution"')"}, "End": true}}},
	{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "PayB"},
		"PayB": {"Type": "Task", "Resource": "sql:public.pay_once", "Parameters": {"tenant.$": "$.tenant", "execution.$": "States.Format('"'{}.b', \$.execution"')"}, "End": true}}}]}}}'
parallel=${parallel//\'/\'\'}
map='{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "$.items", "End": true, "ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "A",
	"States": {"A": {"Type": "Task", "Resource": "activity:shell", "End": true}}}}}}'
slow='{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "sql:public.pay_slowly", "End": true}}}'
bad='{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "sql:public.pay_late", "End": true}}}'
sql 0 "CREATE TABLE allowed (tenant text PRIMARY KEY)" -c "SELECT create_distributed_table('allowed', 'tenant', colocate_with := 'orders')" \
	-c "CREATE FUNCTION pay_slowly(tenant text, execution text) RETURNS void LANGUAGE plpgsql
		AS \$\$ BEGIN INSERT INTO ledger VALUES (pay_slowly.tenant, pay_slowly.execution, 1); PERFORM pg_sleep(5); END \$\$" \
	-c "CREATE FUNCTION pay_late(tenant text, execution text) RETURNS void LANGUAGE plpgsql
		AS \$\$ BEGIN IF NOT EXISTS (SELECT FROM allowed a WHERE a.tenant = pay_late.tenant) THEN RAISE 'not yet'; END IF;
			INSERT INTO ledger VALUES (pay_late.tenant, pay_late.execution, 1); END \$\$" > /dev/null
for n in 0 1 2 3; do
	sql $n "SELECT sf_create_activity('shell')" -c "SELECT sf_create_state_machine('parallel', '$parallel')" \
		-c "SELECT sf_create_state_machine('map', '$map')" -c "SELECT sf_create_state_machine('slow', '$slow')" \
		-c "SELECT sf_create_state_machine('bad', '$bad')" > /dev/null
done
k=${key[3]}
start() { # start NODE MACHINE NAME MORE: an execution of the key that moves; its answer
	sql "$1" "SELECT sf_start('$2', '{\"tenant\": \"$k\", \"execution\": \"$3\"${4:-}}', '{\"key\": \"$k\", \"name\": \"$3\"}'::jsonb)"
}
sql 3 "SELECT count(sf_start('parallel', jsonb_build_object('tenant', '$k', 'execution', 'par' || n, 'seconds', 20 + n % 40),
		jsonb_build_object('key', '$k', 'name', 'par' || n))) FROM generate_series(1, 100) n" \
	-c "SELECT count(sf_start('once', jsonb_build_object('tenant', '$k', 'execution', 'one' || n),
		jsonb_build_object('key', '$k', 'name', 'one' || n))) FROM generate_series(1, 370) n" \
	-c "SELECT count(sf_start('bad', jsonb_build_object('tenant', '$k', 'execution', 'bad' || n),
		jsonb_build_object('key', '$k', 'name', 'bad' || n))) FROM generate_series(1, 10) n" \
	-c "SELECT count(sf_start('once', jsonb_build_object('tenant', '$k', 'execution', 'later' || n),
		jsonb_build_object('key', '$k', 'name', 'later' || n, 'delay', '40 s'))) FROM generate_series(1, 10) n" > /dev/null
for i in 1 2 3 4 5; do start 3 map "map$i" ', "items": [1, 2, 3]' > /dev/null; start 3 slow "slow$i" > /dev/null; done
wait_for 3 60 10 "SELECT count(*) FROM sf_executions WHERE status = 'FAILED'"
wait_for 3 60 115 "SELECT queued FROM sf_activities WHERE activity = 'shell'"
token=$(sql 3 "SELECT task_token FROM sf_get_activity_task('shell', 'before')")

# Citus moves the shards of the key from node 3 to node 1.
shard=$(sql 0 "SELECT get_shard_id_for_distribution_column('orders', '$k')")
sql 0 "SELECT citus_move_shard_placement($shard, '127.0.0.1', ${at[3]}, '127.0.0.1', ${at[1]}, 'block_writes')" > /dev/null
wait_for 1 30 t "SELECT here FROM sf_find_home('$k')"
got=$(start 1 once early)
case $got in *"are still on node 3, from which its shard was moved"*) got=refused ;; esac
is 'a start where the executions are not yet is an error' "$got" refused
got=$(start 3 once early)
case $got in *"is at home on node 1, not on this one"*) got=refused ;; esac
is '... and where the shard is no longer' "$got" refused
got=$(sql 3 "CALL sf_move_key('$k', 1)")
case $got in *"is at home on node 1, not on this one"*) got=refused ;; esac
is '... nor do executions move away from home' "$got" refused
got=$(sql 3 "SELECT ok, detail FROM sf_health WHERE item = 'keys'")
case $got in "f|"*"keys are not on the node of their key; CALL sf_move_key('"*) got=told ;; esac
is 'sf_health tells what is not at home' "$got" told
is 'so does Prometheus' "$(sql 3 "SELECT (regexp_match(sf_prometheus(), 'sfflow_executions_away (\d+)'))[1]::int > 400")" t

# While sessions start executions of the key on all nodes, the call is killed: in the commit of either node, at random, and
# with the server of either.
for i in $(seq 1 "$names"); do
	echo "SELECT start_at('$k', 'once', '{\"tenant\": \"$k\", \"execution\": \"during$i\"}', 'during$i');"
done > "$scratch/starts"
for n in 0 1 2 3; do
	for i in $(seq 1 "$sessions"); do
		while [ ! -e "$scratch/stop" ]; do
			"$bin/psql" -X -q -A -t -h 127.0.0.1 -p ${at[n]} -U postgres -d app -f "$scratch/starts" 2> "$scratch/refused.$n.$i" |
				grep '^once:' >> "$scratch/started.$n.$i"
		done &
		starters[n * sessions + i]=$!
	done
done
kill_in() { # kill_in NODE MOMENT: the backend of a move ends by itself there
	sql "$1" "ALTER SYSTEM SET sfflow.debug_point = '$2'" -c 'SELECT pg_reload_conf()' > /dev/null
	timeout 60 "$bin/psql" -X -q -h 127.0.0.1 -p ${at[1]} -U postgres -d app -c "CALL sf_move_key('$k')" > /dev/null 2>&1
	wait_for "$1" 60 1 'SELECT 1'
	sql "$1" 'ALTER SYSTEM RESET sfflow.debug_point' -c 'SELECT pg_reload_conf()' > /dev/null
}
for i in 1 2; do
	kill_in 3 move-departs:crash
	kill_in 1 move-arrives:crash
done
for i in 1 2 3 4 5 6; do
	timeout 60 "$bin/psql" -X -q -h 127.0.0.1 -p ${at[1]} -U postgres -d app -c "CALL sf_move_key('$k')" > /dev/null 2>&1 &
	call=$!
	sleep "0.$((RANDOM % 10))"
	case $i in
		1 | 2) as "$bin/pg_ctl" -D "$scratch/1" -m immediate restart -l "$scratch/1.log" -w > /dev/null ;;
		3 | 4) as "$bin/pg_ctl" -D "$scratch/3" -m immediate restart -l "$scratch/3.log" -w > /dev/null ;;
		*) sql 1 "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ 'CALL sf_move_key'" > /dev/null ;;
	esac
	wait $call
done
got=$(sql 1 "CALL sf_move_key('$k')")
case $got in *ERROR*) ;; *) got=done ;; esac
is 'called again, it ends' "$got" 'done'
wait_for 1 300 "$names" "SELECT count(*) FROM sf_executions WHERE name ~ '^during'"
touch "$scratch/stop"
wait "${starters[@]}"
is 'nothing of the key is left' "$(sql 3 "SELECT count(*) FROM sf_execution_keys WHERE key = '$k'") $(sql 3 'SELECT count(*) FROM _sfflow.departing_row')" '0 0'
# Other parts have started executions of other keys of the same shard.
got=$(sql 1 'CALL sf_move_key()')
case $got in *ERROR*) echo "# $got" ;; esac
is 'sf_health has all at home' "$(for n in 1 2 3; do sql $n "SELECT ok FROM sf_health WHERE item = 'keys'"; done | sort -u)" t
got=$(sql 1 'CALL sf_move_key()')
is 'nothing is to be moved' "$got" 0
got=$(start 1 once after)
is 'it starts at home' "$got" once:after
case $(sql 3 "SELECT sf_send_task_success('$token', '{}')") in *"was moved to node 1"*) got=told ;; *) got=silent ;; esac
is 'the old node tells where a token is good' "$got" told
is 'a token of before is answered after' "$(sql 1 "SELECT sf_send_task_success('$token', '{}') IS NOT NULL")" t
sql 0 "INSERT INTO allowed VALUES ('$k')" > /dev/null
for i in $(seq 1 300); do
	# Also what has failed since the other server was down: these tasks have no Retry.
	sql 1 "SELECT e.name, e.error, left(e.cause, 200), sf_redrive(execution_id) FROM sf_executions e
		JOIN sf_execution_keys k USING (execution_id) WHERE k.key = '$k' AND e.status = 'FAILED'" | grep -v '^bad\|NOTICE' | sed 's/^/# redriven: /'
	sql 1 "SELECT count(sf_send_task_success(task_token, '{}')) FROM sf_get_activity_task('shell', 'after', 50)" > /dev/null
	[ "$(sql 1 "SELECT count(*) FROM sf_executions e JOIN sf_execution_keys USING (execution_id) WHERE key = '$k' AND status <> 'SUCCEEDED'")" != 0 ] || break
	sleep 0.5
done
is 'all have ended well' "$(sql 1 "SELECT count(*) FILTER (WHERE e.status <> 'SUCCEEDED'), count(*) FILTER (WHERE e.name ~ '^(par|one|bad|later|map|slow)\d+$') FROM sf_executions e
	JOIN sf_execution_keys k USING (execution_id) WHERE k.key = '$k'")" '0|500'
# Those whose start was answered, and those that a killed session has started, too.
is "a name that $((4 * sessions)) sessions on all nodes start has one execution" \
	"$(sort -u "$scratch"/started.* | wc -l) $(for n in 0 1 2 3; do sql $n "SELECT name FROM sf_executions WHERE name ~ '^during'"; done | sort | uniq -d | wc -l)" "$names 0"
is '... at home' "$(sql 1 "SELECT count(*) FROM sf_executions WHERE name ~ '^during'")" "$names"
is 'the ledger is exact' "$(sql 0 "SELECT count(*) - count(DISTINCT execution) FROM ledger WHERE tenant = '$k'") $(sql 0 "SELECT count(*) FROM ledger WHERE tenant = '$k' AND execution ~ '^(par|one|bad|later|slow)\d+'")" '0 595'
is 'histories are dense' "$(sql 1 "SELECT count(*) FROM (SELECT h.execution_id FROM sf_history h JOIN sf_execution_keys k USING (execution_id)
	WHERE k.key = '$k' GROUP BY 1 HAVING count(*) <> max(h.id)) x")" 0
for n in 1 3; do
	is "node $n: sf_check after the move" "$(sql $n 'SELECT * FROM sf_check()')" ''
done
