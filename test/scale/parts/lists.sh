# Pages of the executions of all nodes, of which each has many, and one is down.

# --- 10 ---
sql 0 "SELECT sf_add_node(0, 'n0')" > /dev/null
for n in 1 2 3; do sql 0 "SELECT sf_add_node($n, 'n$n', 'host=127.0.0.1 port=${at[n]}')" > /dev/null; done
# Ended executions of the last days, in turns on the nodes; written as they are, since to run them would take an hour.
for n in 1 2 3; do
	sql $n "WITH n AS (SELECT nextval('_sfflow.execution_no') AS first, setval('_sfflow.execution_no', currval('_sfflow.execution_no') + $executions))
		INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, last_event_id, requested_at, started_at, stopped_at, execution_id, input)
		SELECT n.first + i, m.machine_no, 1, 1, 4, x.at, x.at, x.at, 'order:list' || i, '{}'
		FROM n, _sfflow.state_machine m, generate_series(1, $executions) i,
			LATERAL (SELECT now() - interval '1 s' * ($executions - i) - interval '0.3 s' * $n AS at) x
		WHERE m.name = 'order'" -c 'SELECT sf_enable()' -c 'VACUUM ANALYZE _sfflow.execution' | grep ERROR
done
pages=20
# after SHARE: the key of a page that has this share of all executions before it
after() { sql 0 "SELECT ((extract(epoch FROM now() - interval '1 s' * $executions * $1 - timestamptz '2000-01-01 00:00+00') * 1000000)::bigint || '.1')"; }
for depth in 0 0.1 0.5 0.9 0.99; do
	argument=
	[ $depth = 0 ] || argument=", after_key => '$(after $depth)'"
	query="SELECT count(*) FILTER (WHERE ok IS NULL), count(*) FILTER (WHERE ok) FROM sf_all_executions(page_size => 100$argument)"
	is "a page at $depth of $executions executions a node" "$(sql 0 "$query")" '100|4'
	for round in 1 2 3 4 5; do
		commands=()
		for i in $(seq 1 $pages); do commands+=(-c "$query"); done
		for n in 0 1 2 3; do before[n]=$(cpu $n); done
		client 0 "${commands[@]}" > /dev/null
		for n in 0 1 2 3; do echo $((($(cpu $n) - before[n]) / pages)); done | sort -n | tr '\n' ' '
		echo
	done > "$scratch/pages"
	at_most '... ms of CPU on any node' "$(cut -d' ' -f4 "$scratch/pages" | median)" 50
	echo "# on all nodes together: $(awk '{ print $1 + $2 + $3 + $4 }' "$scratch/pages" | median) ms"
done

# One node is down: the quickest of some calls, since a busy machine may need longer.
stop_server 3 immediate
best=
for i in 1 2 3 4 5; do
	began=$(date +%s%N)
	got=$(sql 0 "SELECT string_agg(node || ' ' || ok, ', ' ORDER BY node) FILTER (WHERE ok IS NOT NULL), count(*) FILTER (WHERE ok IS NULL)
		FROM sf_all_executions(page_size => 100)")
	took=$((($(date +%s%N) - began) / 1000000))
	[ -n "$best" ] && [ "$best" -le $took ] || best=$took
done
is 'with a node down' "$got" '0 true, 1 true, 2 true, 3 false|100'
at_most '... ms until the others have answered' "$best" 2000
start_server 3
for n in 1 2 3; do
	sql $n "DELETE FROM _sfflow.execution WHERE execution_id ~ '^order:list'" > /dev/null
	is "node $n: sf_check after the lists" "$(sql $n 'SELECT * FROM sf_check()')" ''
done
