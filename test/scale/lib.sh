# What the parts of test/scale/run share: servers, SQL, comparisons, blocks of docs/scale.md. Read by test/scale/run.

passed=0 failed=0
# The ports of the servers by number: 0 is the coordinator, 1 to 3 are nodes, 4 a standby, 5 a server without Citus.
at=()
for n in 0 1 2 3 4 5; do at[n]=$((port + n)); done
# The directories of the servers, and what the key of each node is (parts/setup.sh)
directory=(0 1 2 3 4 5)
key=()

# Passwords of roles, for servers and clients (parts/roles.sh)
echo '*:*:*:bob:b' > "$scratch/passwords"
chmod 600 "$scratch/passwords"
[ "$(id -u)" != 0 ] || chown postgres "$scratch/passwords"
export PGPASSFILE="$scratch/passwords"

as() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }

# Stop what was started, however the script ends.
stop_all() {
	touch "$scratch/stop"
	for n in 0 1 2 3 4 5; do
		[ ! -d "$scratch/$n" ] || as "$bin/pg_ctl" -D "$scratch/$n" -m immediate stop > /dev/null 2>&1
	done
	[ -n "${KEEP:-}" ] || rm -rf "$scratch"
}

# Run a client on a node: client NODE OPTIONS
client() {
	local node=$1
	shift
	PGCONNECT_TIMEOUT=10 "$bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "${at[node]}" -U postgres -d app "$@"
}
# Run SQL on a node; errors are in the output: sql NODE QUERY
sql() {
	local node=$1
	shift
	client "$node" -c "$@" 2>&1
}
# Compare: is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1)); echo "ok - $1"
	else
		failed=$((failed + 1)); echo "not ok - $1: got \"${2:0:600}\", wanted \"$3\""
	fi
}
# Compare two numbers: at_most NAME GOT MOST
at_most() { is "$1: $2, at most $3" "$(awk -v got="$2" -v most="$3" 'BEGIN { print got != "" && got <= most ? "so" : "more" }')" so; }
# Wait until a query gives a value: wait_for NODE SECONDS VALUE QUERY
wait_for() {
	local end=$((SECONDS + $2))
	until [ "$(sql "$1" "$4")" = "$3" ]; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}
# Wait until no transaction is prepared on nodes 1 to 3: the recovery of Citus has settled them.
wait_for_recovery() {
	local n
	for n in 1 2 3; do wait_for $n 60 0 'SELECT count(*) FROM pg_prepared_xacts'; done
}

# --- servers ---
start_server() { # start_server NUMBER
	as "$bin/pg_ctl" -D "$scratch/${directory[$1]}" -l "$scratch/${directory[$1]}.log" -w -t 120 start > /dev/null 2>&1
}
stop_server() { as "$bin/pg_ctl" -D "$scratch/${directory[$1]}" -m "${2:-fast}" -w -t 120 stop > /dev/null; }
postmaster() { head -1 "$scratch/${directory[$1]}/postmaster.pid"; }
# Make a server with the database app; its settings are read from the input: new_server NUMBER
new_server() {
	as "$bin/initdb" -D "$scratch/$1" -U postgres -A trust --locale=C.UTF-8 -E UTF8 --no-sync > "$scratch/$1.initdb" || return 1
	cat >> "$scratch/$1/postgresql.conf"
	cat >> "$scratch/$1/postgresql.conf" <<-END
		port = ${at[$1]}
		listen_addresses = '127.0.0.1'
		unix_socket_directories = '$scratch'
	END
	start_server "$1" || { tail "$scratch/$1.log"; return 1; }
	"$bin/psql" -X -q -h 127.0.0.1 -p "${at[$1]}" -U postgres -d postgres -c 'CREATE DATABASE app'
}
# The processes of a server below its postmaster
processes() { ps -o pid= --ppid "$(postmaster "$1")"; }
# End a server as a machine ends that loses its power.
kill_server() {
	local pids
	pids="$(postmaster "$1") $(processes "$1")"
	# shellcheck disable=SC2086
	kill -9 $pids 2> /dev/null
	while kill -0 "${pids%% *}" 2> /dev/null; do sleep 0.1; done
	# so that no command takes another process of this number for the server
	rm -f "$scratch/${directory[$1]}/postmaster.pid"
}
# Milliseconds of CPU that servers have used so far, with all of their processes: cpu NUMBER ...
cpu() {
	local masters='' n
	for n in "$@"; do masters="$masters $(postmaster "$n")"; done
	cat /proc/[0-9]*/stat 2> /dev/null | awk -v list="$masters" -v tick="$(getconf CLK_TCK)" '
		BEGIN { split(list, m, " "); for (i in m) master[m[i]] = 1 }
		{ pid = $1; sub(/^.*\) /, "") }
		pid in master { ticks += $12 + $13 + $14 + $15 }
		$2 in master { ticks += $12 + $13 }
		END { print ticks * 1000 / tick }'
}
# Milliseconds of CPU of the launcher and the workers of sfflow on a server
cpu_of_sfflow() {
	for pid in $(ps -o pid=,args= --ppid "$(postmaster "$1")" | awk '/sfflow/ { print $1 }'); do cat "/proc/$pid/schedstat"; done |
		awk '{ ns += $1 } END { print ns / 1e6 }'
}
median() { sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

# --- the commands of docs/scale.md ---
# Print the block on the page that has a text, with the servers of this test for those of the page.
page() {
	awk -v text="$1" '/^```/ { if (inside && index(block, text)) { printf "%s", block; exit } inside = !inside; block = ""; next }
		inside { block = block $0 "\n" }' "$top/docs/scale.md" |
		sed "s/'n0', 5432/'127.0.0.1', ${at[0]}/g; s/'n1', 5432/'127.0.0.1', ${at[1]}/g; s/'n2', 5432/'127.0.0.1', ${at[2]}/g"
}
# Run a block of commands of the page on a node; what is wrong is shown.
run_page() {
	page "$2" > "$scratch/page.sql"
	[ -s "$scratch/page.sql" ] || echo "ERROR: docs/scale.md has no block with $2"
	client "$1" -f "$scratch/page.sql" 2>&1
}
