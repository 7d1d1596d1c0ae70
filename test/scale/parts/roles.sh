# Owners without superuser who log in by password, also from node to node: alice by pg_dist_authinfo, bob by a file of
# passwords. Work of one owner never goes over a connection of the other one.

# --- 12: set up as the page has it ---
is 'the roles of the page' "$(run_page 0 'CREATE ROLE alice' | grep ERROR)" ''
sql 0 "CREATE ROLE bob LOGIN PASSWORD 'b'" -c 'GRANT SELECT, INSERT ON orders TO bob' > /dev/null
for n in 0 1 2 3; do
	is "node $n: the password of the page" "$(run_page $n pg_dist_authinfo | grep ERROR)" ''
	sed -i '1i host all alice,bob 127.0.0.1/32 scram-sha-256' "$scratch/$n/pg_hba.conf"
	sql $n "ALTER SYSTEM SET log_connections = on" -c 'SELECT pg_reload_conf()' > /dev/null
done
as_role() { # as_role ROLE NODE QUERY ...
	local role=$1 node=$2
	shift 2
	PGPASSWORD=${role:0:1} "$bin/psql" -X -q -A -t -h 127.0.0.1 -p "${at[node]}" -U "$role" -d app "$@" 2>&1
}
# Rows of this table have the role by which the session of their node was logged in.
sql 0 "CREATE TABLE notes (tenant text, execution text, role text)" \
	-c "SELECT create_distributed_table('notes', 'tenant', colocate_with := 'orders')" \
	-c 'GRANT SELECT, INSERT ON notes TO alice, bob' \
	-c "CREATE FUNCTION note_role() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN NEW.role := session_user; RETURN NEW; END \$\$" \
	-c 'SET citus.enable_unsafe_triggers = on' \
	-c 'CREATE TRIGGER note_role BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION note_role()' \
	-c "CREATE FUNCTION note(tenant text, execution text) RETURNS void LANGUAGE sql
		AS \$\$ INSERT INTO notes (tenant, execution) VALUES (note.tenant, note.execution) \$\$" | grep ERROR
# One worker on node 1, so that it works for both.
sql 1 'ALTER SYSTEM SET sfflow.workers = 1' -c 'SELECT pg_reload_conf()' > /dev/null
stop_server 1
start_server 1
for role in alice bob; do
	as_role $role 1 -c "SELECT sf_create_state_machine('$role',
		'{\"StartAt\": \"N\", \"States\": {\"N\": {\"Type\": \"Task\", \"Resource\": \"sql:public.note\", \"End\": true}}}')" > /dev/null
done
# A key that no superuser has started: the row of it in sf_home is written for a role that may not write there.
other=$(sql 0 "SELECT 'r' || g FROM generate_series(1, 500) g WHERE (sf_find_home('r' || g)).node = 1 LIMIT 1")
# note_from NODE NAME: starts of both owners in turns, delegated to node 1 by the node; tasks write on node 2
note_from() {
	local role i
	for i in $(seq 1 25); do
		for role in alice bob; do
			echo "SELECT start_at('$other', '$role', '{\"tenant\": \"${key[2]}\", \"execution\": \"$2.$role.$i\"}', '$2.$i');" > "$scratch/note.$role"
			as_role $role "$1" -f "$scratch/note.$role"
		done
	done | grep -v '^alice:\|^bob:'
}
is 'both owners start by delegation' "$(note_from 0 far)" ''
is '... and at home' "$(note_from 1 near)" ''
for role in alice bob; do
	wait_for 1 60 50 "SELECT count(*) FROM sf_executions WHERE state_machine = '$role' AND status = 'SUCCEEDED'" ||
		sql 1 "SELECT status, cause, count(*) FROM sf_executions WHERE state_machine = '$role' GROUP BY 1, 2" | sed 's/^/# /'
done
is 'each row came over a connection of its owner' \
	"$(sql 0 "SELECT split_part(execution, '.', 2), role, count(*) FROM notes GROUP BY 1, 2 ORDER BY 1, 2" | tr '\n' ' ')" 'alice|alice|50 bob|bob|50 '

# --- 12: a role without its password on node 1 gets no other one's connection, of the same worker, sessions or nodes ---
sql 1 "DELETE FROM pg_dist_authinfo WHERE rolename = 'alice'" > /dev/null
stop_server 1
start_server 1
for i in $(seq 1 10); do
	for role in bob alice; do
		as_role $role 1 -c "SELECT start_at('$other', '$role', '{\"tenant\": \"${key[2]}\", \"execution\": \"without.$role.$i\"}', 'without.$i')" > /dev/null
	done
done
for role in alice bob; do wait_for 1 60 0 "SELECT count(*) FROM sf_executions WHERE state_machine = '$role' AND status = 'RUNNING'"; done
is 'without a password of alice her tasks fail, and those of bob go on' "$(sql 1 "SELECT state_machine, status, bool_and(cause ~ 'password'), count(*)
	FROM sf_executions WHERE name ~ '^without' GROUP BY 1, 2 ORDER BY 1" | tr '\n' ' ')" 'alice|FAILED|t|10 bob|SUCCEEDED||10 '
is '... and nothing of hers was written' "$(sql 0 "SELECT count(*) FROM notes WHERE execution ~ '^without.alice'")" 0
got=$(as_role alice 1 -c "INSERT INTO notes VALUES ('${key[2]}', 'x')")
case $got in *password*) got=refused ;; esac
is '... nor may her session' "$got" refused
run_page 1 pg_dist_authinfo > /dev/null
sql 1 'ALTER SYSTEM RESET sfflow.workers' > /dev/null
stop_server 1
start_server 1
