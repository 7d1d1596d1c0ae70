# What an order costs: its row, a start and two tasks; on a server without Citus, at the home of its key, and by delegation. Beside
# each the same rows are written without sfflow, in one transaction: what Citus takes for those, no test of sfflow can hold it to.

# --- 13 ---
[ -d "$scratch/5" ] || { page shared_preload_libraries | sed "s/'citus,/'/"; } | new_server 5 || exit 1
sql 5 'CREATE EXTENSION sfflow' -c 'CREATE TABLE orders (tenant text, order_no bigint, state text, PRIMARY KEY (tenant, order_no))' \
	-c 'CREATE TABLE ledger (tenant text, execution text, node integer)' > /dev/null
work() { # work NODE: the functions and the machine; functions of node 0 are those of all nodes
	for step in charge ship; do
		[ "$1" != 0 ] && [ "$1" != 5 ] || sql "$1" "CREATE FUNCTION $step(tenant text, id bigint) RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN
				INSERT INTO ledger VALUES ($step.tenant, $step.tenant || '.$step.' || $step.id, 1);
				UPDATE orders o SET state = '$step' WHERE o.tenant = $step.tenant AND o.order_no = $step.id;
			END \$\$" > /dev/null
	done
	sql "$1" "SELECT sf_create_state_machine('sale', '{\"StartAt\": \"Charge\", \"States\": {
		\"Charge\": {\"Type\": \"Task\", \"Resource\": \"sql:public.charge\", \"ResultPath\": null, \"Next\": \"Ship\"},
		\"Ship\": {\"Type\": \"Task\", \"Resource\": \"sql:public.ship\", \"ResultPath\": null, \"End\": true}}}')" > /dev/null
}
for n in 0 1 2 3 5; do work $n; done
sql 0 "CREATE FUNCTION sell_at(key text, id bigint) RETURNS void LANGUAGE plpgsql
		AS \$\$ BEGIN PERFORM charge(sell_at.key, sell_at.id); PERFORM ship(sell_at.key, sell_at.id); END \$\$" \
	-c "SELECT create_distributed_function('sell_at(text,bigint)', 'key', colocate_with := 'orders', force_delegation := true)" > /dev/null
# Four keys of node 1, and four of each node
at_home=$(sql 0 "SELECT 's' || g FROM generate_series(1, 500) g WHERE (sf_find_home('s' || g)).node = 1 LIMIT 4")
anywhere=$(for n in 1 2 3; do sql 0 "SELECT 's' || g FROM generate_series(1, 500) g WHERE (sf_find_home('s' || g)).node = $n LIMIT 4"; done)
# script KIND KEY: the transaction of an order
script() {
	cat <<-END
		\set i random(1, 1000000000000)
		BEGIN;
		INSERT INTO orders VALUES ('$2', :i, 'new');
	END
	case $1 in
		plain) echo "SELECT sf_start('sale', jsonb_build_object('tenant', '$2', 'id', :i), '$2.' || :i);" ;;
		home) echo "SELECT sf_start('sale', jsonb_build_object('tenant', '$2', 'id', :i), jsonb_build_object('key', '$2', 'name', '$2.' || :i));" ;;
		plain-rows | home-rows) echo "SELECT charge('$2', :i); SELECT ship('$2', :i);" ;;
		delegated-rows) echo "SELECT sell_at('$2', :i);" ;;
		delegated) echo "SELECT start_at('$2', 'sale', jsonb_build_object('tenant', '$2', 'id', :i), '$2.' || :i);" ;;
	esac
	echo 'COMMIT;'
}
# servers KIND: those whose CPU is counted; the first of them is the one that is asked
servers() { case $1 in plain*) echo 5 ;; home*) echo 1 0 2 3 ;; delegated*) echo 0 1 2 3 ;; esac; }
commits_of() { # commits_of NODE ...
	local n
	for n in "$@"; do sql "$n" "SELECT xact_commit FROM pg_stat_database WHERE datname = 'app'"; done | awk '{ n += $1 } END { print n }'
}
# order_cost KIND ORDERS: milliseconds of CPU of an order, without those that the servers use when idle; and commits
order_cost() {
	local files='' before after began commits name n
	for name in $([ "${1%-rows}" = delegated ] && echo "$anywhere" || echo "$at_home"); do
		script "$1" "$name" > "$scratch/order.$1.$name"
		files="$files -f $scratch/order.$1.$name"
	done
	# shellcheck disable=SC2046
	set -- "$1" "$2" $(servers "$1")
	local count=$2
	shift 2
	before=$(cpu "$@") began=$(date +%s%N)
	commits=$(commits_of "$@")
	# shellcheck disable=SC2086
	"$bin/pgbench" -n -c 4 -j 1 -t $((count / 4)) $files -h 127.0.0.1 -p "${at[$1]}" -U postgres app 2>&1 | grep -i 'error\|aborted'
	for n in "$@"; do wait_for "$n" 120 0 "SELECT count(*) FROM sf_executions WHERE status = 'RUNNING' AND state_machine = 'sale'"; done
	after=$(cpu "$@")
	commits=$(($(commits_of "$@") - commits))
	awk -v ms="$((after - before))" -v idle="${idle[$1]}" -v took="$(($(date +%s%N) - began))" -v n="$count" -v commits="$commits" \
		'BEGIN { printf "%.2f %.2f\n", (ms - idle * took / 1e9) / n, commits / n }'
}
# The CPU of idle servers in a second, and of sfflow alone: that a commit of another node wakes it costs nothing else.
idle=()
for kind in plain delegated; do
	# shellcheck disable=SC2046
	set -- $(servers $kind)
	[ $kind = plain ] && node=5 || node=1
	before=$(cpu "$@") own=$(cpu_of_sfflow $node)
	sleep 15
	idle[$1]=$(awk -v ms=$(($(cpu "$@") - before)) 'BEGIN { print ms / 15 }')
	idle_of_sfflow[node]=$(awk -v ms="$(cpu_of_sfflow $node)" -v before="$own" 'BEGIN { print ms - before }')
done
at_most "idle sfflow on a node: ms of CPU in 15 s (without Citus: ${idle_of_sfflow[5]})" "${idle_of_sfflow[1]}" 20
idle[1]=${idle[0]}
echo "# idle: ${idle[5]} ms of CPU a second without Citus, ${idle[0]} on four servers with it"
kinds='plain plain-rows home home-rows delegated delegated-rows'
for kind in $kinds; do order_cost $kind 80 > /dev/null; done
for round in $(seq 1 "$rounds"); do
	for kind in $kinds; do order_cost $kind 400 >> "$scratch/cost.$kind"; done
done
cost() { cut -d' ' -f1 "$scratch/cost.$1" | median; }
for kind in $kinds; do
	echo "# $kind: $(cost $kind) ms of CPU an order (rounds:$(cut -d' ' -f1 "$scratch/cost.$kind" | sed 's/^/ /' | tr -d '\n')), $(cut -d' ' -f2 "$scratch/cost.$kind" | median) commits"
done
# ratios KIND MOST: an order and its rows, times those without Citus, and the most that an order may take: MOST times, or a quarter more
# than its rows, if Citus takes so much for them
ratios() {
	awk -v a="$(cost "$1")" -v b="$(cost "$1-rows")" -v c="$(cost plain)" -v d="$(cost plain-rows)" -v most="$2" \
		'BEGIN { rows = b / d; if (most < 1.25 * rows) most = 1.25 * rows; printf "%.2f %.2f %.2f\n", a / c, rows, most }'
}
for kind in home delegated; do
	read -r whole rows most < <(ratios $kind "$([ $kind = home ] && echo 2.5 || echo 4)")
	at_most "CPU of an order, $kind, times that without Citus (its rows alone: $rows times)" "$whole" "$most"
done
at_most 'no round was in long-task mode: commits of an order' "$(cat "$scratch"/cost.* | cut -d' ' -f2 | sort -n | tail -1)" 5

# --- 14: without Citus a start looks at nothing of homes, and locks nothing of them ---
is 'without Citus a start has no lock of homes' "$(sql 5 BEGIN -c "SELECT sf_start('sale', '{}', 'locks')" \
	-c "SELECT count(*) FROM pg_locks l LEFT JOIN pg_class c ON c.oid = l.relation WHERE l.pid = pg_backend_pid()
		AND (c.relname ~ '^(execution_key|sf_home|pg_dist)' OR l.locktype = 'advisory' AND l.classid = '_sfflow.execution_key'::regclass)" -c ROLLBACK | tail -1)" 0
