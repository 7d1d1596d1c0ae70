# What is committed in two phases by another node wakes the workers of this one at once.

# --- 5: starts on two nodes in one transaction ---
# Fifty of them; a busy machine may keep one waiting: then fifty more. Without a wake the workers look once a minute.
for try in 1 2 3; do
	for i in $(seq 1 50); do
		echo "BEGIN;"
		for n in 1 2; do
			echo "SELECT start_at('${key[n]}', 'once', '{\"tenant\": \"${key[n]}\", \"execution\": \"wake.$try.$i.$n\"}', 'wake.$try.$i.$n');"
		done
		echo "COMMIT;"
	done > "$scratch/wakes"
	client 0 -f "$scratch/wakes" > /dev/null
	soon=
	for n in 1 2; do
		wait_for $n 90 50 "SELECT count(*) FROM sf_executions WHERE name ~ '^wake.$try\\.' AND status = 'SUCCEEDED'"
		soon="$soon $(sql $n "SELECT count(*) FILTER (WHERE started_at - requested_at < '1 s') || ' of ' || count(*)
			|| ', the slowest ' || round(1000 * extract(epoch FROM max(started_at - requested_at))) || ' ms' FROM sf_executions WHERE name ~ '^wake.$try\\.'"),"
	done
	echo "# begun within a second:$soon"
	case $soon in *' 50 of 50'*' 50 of 50'*) break ;; esac
done
is 'starts by two-phase commit begin within a second' "$(grep -o '50 of 50' <<< "$soon" | tr '\n' ' ')" '50 of 50 50 of 50 '

# --- 5: a place of a limit that COMMIT PREPARED frees ---
sql 0 "CREATE FUNCTION stop_at(key text, execution text) RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN RETURN sf_stop(execution); END \$\$" \
	-c "SELECT create_distributed_function('stop_at(text,text)', 'key', colocate_with := 'orders', force_delegation := true)" > /dev/null
sql 1 "SELECT sf_create_state_machine('single', '{\"StartAt\": \"W\", \"States\": {\"W\": {\"Type\": \"Wait\", \"Seconds\": 3600, \"End\": true}}}')" \
	-c "SELECT sf_set_limit('single', max_running => 1)" > /dev/null
for i in $(seq 0 10); do
	sql 1 "SELECT sf_start('single', '{}', '{\"key\": \"${key[1]}\", \"name\": \"$i\"}'::jsonb)" > /dev/null
done
wait_for 1 30 1 "SELECT count(*) FROM sf_executions WHERE state_machine = 'single' AND started_at IS NOT NULL"
freed=0 waited=
for i in $(seq 0 9); do
	current=$(sql 1 "SELECT execution_id FROM sf_executions WHERE state_machine = 'single' AND status = 'RUNNING' AND started_at IS NOT NULL")
	got=$(sql 0 BEGIN -c "INSERT INTO orders VALUES ('${key[2]}', 8000 + $i, '')" -c "SELECT stop_at('${key[1]}', '$current')" -c COMMIT)
	case $got in *ERROR*) echo "# $got" ;; esac
	wait_for 1 90 1 "SELECT count(*) FROM sf_executions WHERE state_machine = 'single' AND status = 'RUNNING' AND started_at IS NOT NULL"
	ms=$(sql 1 "SELECT round(1000 * extract(epoch FROM n.started_at - o.stopped_at)) FROM sf_executions n, sf_executions o
		WHERE n.state_machine = 'single' AND n.status = 'RUNNING' AND n.started_at IS NOT NULL AND o.execution_id = '$current'")
	waited="$waited $ms"
	[ "$ms" -ge 2000 ] || freed=$((freed + 1))
done
echo "# the next of the queue began after:$waited ms"
is 'a place that COMMIT PREPARED frees goes to the next of the queue at once' "$freed" 10
