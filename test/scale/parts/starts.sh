# Orders and starts in one transaction, and every form of a call: at home, or an error.

# --- 2: order and start in one transaction; the page's first, from any node ---
is 'the start of the page' "$(run_page 2 'BEGIN;' | grep -v '^t1\|^order:t1.1')" ''
for n in 1 2 3; do sql $n "SELECT status FROM sf_executions WHERE execution_id = 'order:t1.1'"; done | grep -q . &&
	is '... runs' "$(sql 0 "SELECT count(*) FROM orders WHERE tenant = 't1'")" 1
sql 0 "BEGIN" -c "INSERT INTO orders VALUES ('${key[1]}', 1)" -c "SELECT start_at('${key[1]}', 'pay', '{\"tenant\": \"${key[1]}\", \"execution\": \"a\"}', 'a')" -c "ROLLBACK" > /dev/null
is 'what is rolled back was not started' "$(sql 1 "SELECT count(*) FROM sf_executions WHERE name = 'a'")" 0
sql 0 "BEGIN" -c "INSERT INTO orders VALUES ('${key[1]}', 2), ('${key[2]}', 2)" \
	-c "SELECT start_at('${key[1]}', 'pay', '{\"tenant\": \"${key[1]}\", \"execution\": \"b1\"}', 'b1')" \
	-c "SELECT start_at('${key[2]}', 'pay', '{\"tenant\": \"${key[2]}\", \"execution\": \"b2\"}', 'b2')" -c "COMMIT" | grep ERROR
for n in 1 2; do
	wait_for $n 20 SUCCEEDED "SELECT status FROM sf_executions WHERE name = 'b$n'"
	is "a start by two-phase commit runs at once on node $n" \
		"$(sql $n "SELECT started_at - requested_at < interval '5 s' FROM sf_executions WHERE name = 'b$n'")" t
	is 'it has its key' "$(sql $n "SELECT key FROM sf_execution_keys WHERE execution_id = 'pay:b$n'")" "${key[$n]}"
done

# --- 6: never elsewhere in silence ---
got=$(sql 2 "SELECT sf_start('pay', '{}', '{\"key\": \"${key[1]}\", \"name\": \"away\"}'::jsonb)")
case $got in *"is at home on node 1, not on this one"*"port=${at[1]}"*) got=refused ;; esac
is 'a start away from home is an error with the node' "$got" refused
got=$(sql 0 "DO \$\$ BEGIN PERFORM start_at('${key[3]}', 'pay', '{}', 'performed'); END \$\$")
is 'PERFORM starts at home or not at all' \
	"$(for n in 0 1 2; do sql $n "SELECT count(*) FROM sf_executions WHERE name = 'performed'"; done | sort -u)" 0

# --- 6: every form of a call starts at home, or is an error that names the node ---
# The node that is asked is none of the key's.
sql 0 "CREATE FUNCTION performed(key text, name text) RETURNS void LANGUAGE plpgsql
		AS \$\$ BEGIN PERFORM start_at(performed.key, 'pay', '{}', performed.name); END \$\$" \
	-c "CREATE FUNCTION taken(key text, name text) RETURNS text LANGUAGE plpgsql
		AS \$\$ DECLARE x text; BEGIN SELECT * INTO x FROM start_at(taken.key, 'pay', '{}', taken.name); RETURN x; END \$\$" \
	-c "CREATE TABLE names (name text)" -c "INSERT INTO names VALUES ('from')" > /dev/null
form() {
	local name=form$1 got
	got=$(sql 0 "$(echo "$2" | sed "s/KEY/${key[1]}/g; s/NAME/$name/g")")
	case "$(sql 1 "SELECT count(*) FROM sf_executions WHERE name ~ '^$name'"), $got" in
		1,*) got='at home' ;;
		*"is at home on node 1, not on this one"*) got='an error' ;;
	esac
	for n in 0 2 3; do
		[ "$(sql $n "SELECT count(*) FROM sf_executions WHERE name ~ '^$name'")" = 0 ] || got="started on node $n"
	done
	is "form $1: $2" "$got" "$3"
}
form 1 "SELECT start_at('KEY', 'pay', '{}', 'NAME')" 'at home'
form 2 "SELECT * FROM start_at('KEY', 'pay', '{}', 'NAME')" 'at home'
form 3 "PREPARE p (text) AS SELECT start_at(\$1, 'pay', '{}', 'NAME'); EXECUTE p ('KEY')" 'at home'
form 4 "SELECT taken('KEY', 'NAME')" 'at home'
form 5 "SELECT performed('KEY', 'NAME')" 'an error'
form 6 "SELECT start_at('KEY', 'pay', '{}', 'NAME'), now()" 'an error'
form 7 "SELECT start_at('KEY', 'pay', '{}', 'NAME' || n.name) FROM names n" 'an error'
form 8 "INSERT INTO names SELECT start_at('KEY', 'pay', '{}', 'NAME')" 'an error'
form 9 "SELECT sf_start('pay', '{}', '{\"key\": \"KEY\", \"name\": \"NAME\"}'::jsonb)" 'an error'
form 10 "WITH s AS (SELECT start_at('KEY', 'pay', '{}', 'NAME') AS x) SELECT * FROM s" 'an error'

# --- 6: the first start of a key, which writes its row, also where it is a transaction of its own ---
for n in 1 2 3; do
	fresh=$(sql 0 "SELECT 'f' || g FROM generate_series(1, 500) g WHERE (sf_find_home('f' || g)).node = $n LIMIT 1")
	is "the first start of a key, delegated to node $n" "$(sql 0 "SELECT start_at('$fresh', 'order', '{}', '$fresh')")" "order:$fresh"
done
