# Kills at random.

# --- 3: kills at random: a worker, the server, and the other node's server ---
killed=0
for i in $(seq 1 "$kills"); do
	for victim in worker here there; do
		sql 1 "SELECT count(sf_start('stubborn', jsonb_build_object('tenant', '${key[2]}', 'execution', 'rnd.$i.$victim.' || n),
			jsonb_build_object('key', '${key[1]}', 'name', 'rnd.$i.$victim.' || n))) FROM generate_series(1, 10) n" > /dev/null
		sleep "0.$((RANDOM % 10))"
		case $victim in
			worker) pid=$(sql 1 "SELECT pid FROM sf_workers WHERE pid IS NOT NULL AND role <> 'launcher' ORDER BY random() LIMIT 1") ;;
			here) pid=$(postmaster 1) ;;
			there) pid=$(postmaster 2) ;;
		esac
		case $pid in *[!0-9]* | '') continue ;; esac
		kill -9 "$pid" && killed=$((killed + 1))
		n=1
		[ $victim != there ] || n=2
		[ $victim = worker ] || until start_server $n; do sleep 0.5; done
		wait_for $n 60 1 'SELECT 1'
	done
done
wait_for 1 300 0 "SELECT count(*) FROM sf_executions WHERE name ~ '^rnd' AND status = 'RUNNING'"
wait_for 2 60 0 'SELECT count(*) FROM pg_prepared_xacts'
is "killed $killed times at random" "$(sql 1 "SELECT string_agg(DISTINCT status, ' ') FROM sf_executions WHERE name ~ '^rnd'") $(sql 0 "SELECT count(*) || ' ' || count(DISTINCT execution) FROM ledger WHERE execution ~ '^rnd'")" "SUCCEEDED $((30 * kills)) $((30 * kills))"
for n in 1 2 3; do
	is "node $n: sf_check after all kills" "$(sql $n 'SELECT * FROM sf_check()')" ''
done
