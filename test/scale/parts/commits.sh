# Tasks and sessions that write on two nodes, killed in their commit.

# --- 3: tasks that write on another node, killed in their commit ---
# kill_at MOMENT COUNT PREFIX: ends a worker of node 1 in the commit of a task that writes on node 2
kill_at() {
	for i in $(seq 1 "$2"); do
		as touch "$scratch/1/crashme.$1"
		sql 1 "SELECT sf_start('pay', '{\"tenant\": \"${key[2]}\", \"execution\": \"$3$i\"}', '{\"key\": \"${key[1]}\", \"name\": \"$3$i\"}'::jsonb)" > /dev/null
		wait_for 1 30 SUCCEEDED "SELECT status FROM sf_executions WHERE name = '$3$i'" || echo "# $3$i has not ended"
		[ ! -e "$scratch/1/crashme.$1" ] || echo "# $3$i was not killed"
	done
	# what is prepared is settled by the recovery of Citus
	wait_for 2 60 0 'SELECT count(*) FROM pg_prepared_xacts'
	sql 0 "SELECT count(*) || ' of ' || count(DISTINCT execution) FROM ledger WHERE execution ~ '^$3[0-9]'"
}
is "killed $kills times after the prepare" "$(kill_at precommit "$kills" p)" "$kills of $kills"
is "killed $kills times after the commit" "$(kill_at commit "$kills" c)" "$kills of $kills"
for n in 1 2 3; do
	is "node $n has nothing prepared" "$(sql $n 'SELECT count(*) FROM pg_prepared_xacts')" 0
	is "node $n: sf_check at the end" "$(sql $n 'SELECT * FROM sf_check()')" ''
done
# The mistake that this guards against
sql 1 "ALTER SYSTEM SET sfflow.debug_point = 'one-phase:mutate'" -c 'SELECT pg_reload_conf()' > /dev/null
is 'without the write at home, remote work is done twice' "$(kill_at precommit 2 m)" '4 of 2'
sql 1 'ALTER SYSTEM RESET sfflow.debug_point' -c 'SELECT pg_reload_conf()' > /dev/null

# --- 4: a session that writes on another node and starts here, in both orders ---
for order in start remote; do
	start="SELECT sf_start('pay', '{\"tenant\": \"${key[1]}\", \"execution\": \"$order\"}', '{\"key\": \"${key[1]}\", \"name\": \"$order\"}'::jsonb), crashme_arm()"
	remote="INSERT INTO orders VALUES ('${key[2]}', -77, '$order')"
	as touch "$scratch/1/crashme.precommit"
	if [ $order = start ]; then
		sql 1 BEGIN -c "$start" -c "$remote" -c COMMIT > /dev/null
	else
		sql 1 BEGIN -c "$remote" -c "$start" -c COMMIT > /dev/null
	fi
	wait_for 1 60 1 'SELECT 1'
	wait_for 2 60 0 'SELECT count(*) FROM pg_prepared_xacts'
	is "a session that is killed in its commit, $order first: nothing is left" \
		"$(sql 1 "SELECT count(*) FROM sf_executions WHERE name = '$order'") $(sql 0 'SELECT count(*) FROM orders WHERE order_no = -77')" '0 0'
	[ "$(sql 0 'SELECT count(*) FROM orders WHERE order_no = -77')" = 0 ] || sql 0 'DELETE FROM orders WHERE order_no = -77'
done

# --- 4: a session that answers a task, stops or redrives an execution here, and writes on another node ---
sql 1 "SELECT sf_create_activity('ask')" \
	-c "SELECT sf_create_state_machine('asks', '{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Task\", \"Resource\": \"activity:ask\", \"End\": true}}}')" \
	-c "SELECT sf_create_state_machine('waits', '{\"StartAt\": \"W\", \"States\": {\"W\": {\"Type\": \"Wait\", \"Seconds\": 3600, \"End\": true}}}')" \
	-c "SELECT sf_create_state_machine('fails', '{\"StartAt\": \"F\", \"States\": {\"F\": {\"Type\": \"Fail\"}}}')" > /dev/null
# killed_session MOMENT CALL: a session of node 1 is killed in the commit of a call and of a row on node 2; how many rows came
killed_session() {
	as touch "$scratch/1/crashme.$1"
	sql 1 BEGIN -c "SELECT $2, crashme_arm()" -c "INSERT INTO orders VALUES ('${key[2]}', -78, '')" -c COMMIT > /dev/null
	[ ! -e "$scratch/1/crashme.$1" ] || echo -n 'not killed '
	wait_for 1 60 1 'SELECT 1'
	wait_for 2 60 0 'SELECT count(*) FROM pg_prepared_xacts'
	sql 0 'SELECT count(*) FROM orders WHERE order_no = -78'
	sql 0 'DELETE FROM orders WHERE order_no = -78'
}
for case in asks waits fails; do
	sql 1 "SELECT sf_start('$case', '{}', '{\"key\": \"${key[1]}\", \"name\": \"session\"}'::jsonb)" > /dev/null
	case $case in
		asks)
			wait_for 1 30 1 "SELECT queued FROM sf_activities WHERE activity = 'ask'"
			token=$(sql 1 "SELECT task_token FROM sf_get_activity_task('ask', 'w')")
			call="sf_send_task_success('$token', '{}')" before='RUNNING 0' after='SUCCEEDED 0' ;;
		waits) call="sf_stop('waits:session')" before='RUNNING 0' after='ABORTED 0' ;;
		fails) call="sf_redrive('fails:session')" before='FAILED 0' after='FAILED 1' ;;
	esac
	state="SELECT status || ' ' || redrive_count FROM sf_executions WHERE execution_id = '$case:session'"
	wait_for 1 30 "$before" "$state"
	for moment in precommit commit; do
		rows=$(killed_session $moment "$call")
		wanted="0 $before"
		[ $moment = precommit ] || { wait_for 1 30 "$after" "$state"; wanted="1 $after"; }
		is "${call%%(*}, killed at $moment: here and on the other node, or on neither" "$rows $(sql 1 "$state")" "$wanted"
	done
done
is 'node 1: sf_check after the sessions' "$(sql 1 'SELECT * FROM sf_check()')" ''
