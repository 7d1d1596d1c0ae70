# A node is killed under load, and its standby takes its place: exact with a synchronous standby; with one that lags, what it
# did not have is lost, and nothing else.

# --- 9 ---
node2=$(sql 0 "SELECT nodeid FROM pg_dist_node WHERE groupid = 2")
make_standby() { # make_standby NUMBER: of node 2, as the server of this number
	rm -rf "${scratch:?}/$1"
	as "$bin/pg_basebackup" -D "$scratch/$1" -h 127.0.0.1 -p "${at[2]}" -U postgres -R -c fast --no-sync || return 1
	echo "port = $((port + $1))" >> "$scratch/$1/postgresql.conf"
	as "$bin/pg_ctl" -D "$scratch/$1" -l "$scratch/$1.log" -w start > /dev/null
}
# Sessions on all nodes order until there is a file "halt": rows and starts on nodes 1 and 2 in one transaction, each task
# writes on the other node. What was answered is in acknowledged.ROUND. The session of node 2 goes where node 2 is.
order_all() { # order_all ROUND
	local n
	for n in 0 1 2 3; do
		(
			i=0
			while [ ! -e "$scratch/halt" ]; do
				i=$((i + 1)) id="fo.$1.$n.$i"
				at[2]=$(cat "$scratch/port2")
				got=$(client $n 2>&1 <<-END
					BEGIN;
					INSERT INTO orders VALUES ('${key[2]}', (('x' || substr(md5('$id'), 1, 15))::bit(60)::bigint), ''), ('${key[1]}', (('x' || substr(md5('$id'), 1, 15))::bit(60)::bigint), '');
					SELECT start_at('${key[2]}', 'stubborn', '{"tenant": "${key[1]}", "execution": "$id.2"}', '$id.2');
					SELECT start_at('${key[1]}', 'stubborn', '{"tenant": "${key[2]}", "execution": "$id.1"}', '$id.1');
					COMMIT;
					SELECT 'done';
				END
				)
				case $got in *done) echo "$id" >> "$scratch/acknowledged.$1.$n" ;; *) sleep 0.1 ;; esac
			done
		) &
		loads[n]=$!
	done
}
acknowledged() { cat "$scratch"/acknowledged."$1".* 2> /dev/null | wc -l; }
# Wait until so many more orders of a round were answered.
more_orders() {
	local wanted=$(($(acknowledged "$1") + $2)) end=$((SECONDS + 120))
	until [ "$(acknowledged "$1")" -ge $wanted ] || [ $SECONDS -ge $end ]; do sleep 0.2; done
}
halt() {
	touch "$scratch/halt"
	wait "${loads[@]}"
	rm "$scratch/halt"
}
# Node 2 has ended; the server of a number is promoted, and takes its place.
take_over() {
	as "$bin/pg_ctl" -D "$scratch/$1" -w promote > /dev/null
	directory[2]=$1 at[2]=$((port + $1))
	echo "${at[2]}" > "$scratch/port2"
	wait_for 2 60 f 'SELECT pg_is_in_recovery()'
	sql 0 "SELECT citus_update_node($node2, '127.0.0.1', ${at[2]})" > /dev/null
	wait_for 0 60 t "SELECT bool_and(metadatasynced) FROM pg_dist_node WHERE hasmetadata" || echo '# the metadata are not synchronized'
	is 'the standby that was promoted is driven' "$(sql 2 "SELECT ok FROM sf_health WHERE item = 'driven'")" t
	for n in 1 3; do wait_for $n 60 "${at[2]}" "SELECT port FROM sf_find_home('${key[2]}')"; done
}
all_end() {
	local n
	for n in 1 2; do
		wait_for $n 300 0 "SELECT count(*) FROM sf_executions WHERE name ~ '^fo[.]' AND status = 'RUNNING'" || echo "# node $n has not ended all"
	done
	wait_for_recovery
}
# The orders of a round: executions and rows of the ledger by order, as NUMBER-OF-BOTH BOTH-HALVES...
halves() { # halves ROUND: orders of which both, and one half alone, have run; rows that are there twice
	{ for n in 1 2; do sql $n "SELECT name FROM sf_executions WHERE name ~ '^fo\\.$1\\.' AND status = 'SUCCEEDED'"; done; } | sort > "$scratch/ran.$1"
	sql 0 "SELECT execution FROM ledger WHERE execution ~ '^fo\\.$1\\.'" | sort > "$scratch/paid.$1"
	echo "$(sed 's/\.[12]$//' "$scratch/ran.$1" | uniq -c | awk '{ n[$1]++ } END { print n[2] + 0, n[1] + 0 }')" \
		"$(uniq -d < "$scratch/paid.$1" | wc -l)" "$(comm -3 "$scratch/ran.$1" <(uniq "$scratch/paid.$1") | wc -l)"
}
# Orders that were answered, and have not run as a whole
missing() { sed 's/\.[12]$//' "$scratch/ran.$1" | uniq -d | sort > "$scratch/whole"; sort "$scratch"/acknowledged."$1".* | comm -23 - "$scratch/whole" | wc -l; }

echo "${at[2]}" > "$scratch/port2"
make_standby 4
sql 2 "ALTER SYSTEM SET synchronous_standby_names = '*'" -c 'SELECT pg_reload_conf()' > /dev/null
wait_for 2 60 sync 'SELECT sync_state FROM pg_stat_replication'
order_all sync
more_orders sync 30
kill_server 2
take_over 4
sql 2 "ALTER SYSTEM RESET synchronous_standby_names" -c 'SELECT pg_reload_conf()' > /dev/null
more_orders sync 30
halt
all_end
# shellcheck disable=SC2046
set -- $(halves sync)
is 'a synchronous standby has taken over under load: halves, rows twice, and executions without a row or rows without one' "$2 $3 $4" '0 0 0'
is "... none of $(acknowledged sync) orders that were answered is missing" "$(missing sync)" 0
for n in 1 2 3; do is "node $n: sf_check after the failover" "$(sql $n 'SELECT * FROM sf_check()')" ''; done

# Now the standby is not there when orders go on, so that it lags by all of them.
make_standby 2
order_all before
more_orders before 20
halt
all_end
lsn=$(sql 2 'SELECT pg_current_wal_flush_lsn()')
wait_for 2 60 t "SELECT bool_and(flush_lsn >= '$lsn') FROM pg_stat_replication"
as "$bin/pg_ctl" -D "$scratch/2" -m fast -w stop > /dev/null
order_all lost
more_orders lost 30
kill_server 2
as "$bin/pg_ctl" -D "$scratch/2" -l "$scratch/2.log" -w start > /dev/null
take_over 2
more_orders lost 30
halt
all_end
# shellcheck disable=SC2046
set -- $(halves before)
is 'what the standby had is there, and ran once' "$2 $3 $4 $(missing before)" '0 0 0 0'
# shellcheck disable=SC2046
set -- $(halves lost)
echo "# lost with the standby's lag: of $(acknowledged lost) orders that were answered $(missing lost); $2 have one half"
is '... of the rest nothing ran twice' "$3" 0
is '... and something was lost: the standby did lag' "$([ "$(missing lost)" -gt 0 ] && echo so)" so
# A row of the other node may be there whose execution was lost, and the other way round; not without the lag.
for n in 1 2 3; do is "node $n: sf_check after the loss" "$(sql $n 'SELECT * FROM sf_check()')" ''; done
for n in 0 1 2 3; do sql $n "SELECT name, status, error, left(cause, 300) FROM sf_executions WHERE name ~ '^fo[.]' AND status <> 'SUCCEEDED'" | sed "s/^/# node $n: /"; done
is 'nothing runs any more' "$(for n in 0 1 2 3; do sql $n "SELECT count(*) FROM sf_executions WHERE name ~ '^fo[.]' AND status <> 'SUCCEEDED'"; done | sort -u)" 0
