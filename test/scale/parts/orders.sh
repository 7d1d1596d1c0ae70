# Orders of one and of two tenants from sessions on all nodes.

# --- 2: orders of one and of two tenants from sessions on all nodes; every third is rolled back ---
"$top/test/scale/orders" "$orders" > "$scratch/tenants" || exit 1
for i in 0 1 2 3 4 5 6 7; do
	sed -n "$((i + 1))~8p" "$scratch/tenants" | tr '#' '\n' > "$scratch/orders.$i"
	"$bin/psql" -X -q -A -t -h 127.0.0.1 -p ${at[i % 4]} -U postgres -d app -f "$scratch/orders.$i" > /dev/null 2> "$scratch/failed.$i" &
	buyers[i]=$!
done
wait "${buyers[@]}"
is 'no order failed' "$(cat "$scratch"/failed.*)" ''
for n in 1 2 3; do wait_for $n 300 0 "SELECT count(*) FROM sf_executions WHERE name ~ '^order' AND status <> 'SUCCEEDED'"; done
wanted=$(grep COMMIT "$scratch/tenants" | grep -o "start_at(" | wc -l)
is "what $orders orders have started has run once, at home" \
	"$(sql 0 "SELECT count(*) || ' ' || count(DISTINCT execution) FROM ledger WHERE execution ~ '^order'") $(for n in 0 1 2 3; do
		sql $n "SELECT count(*) FROM sf_execution_keys k WHERE k.execution_id ~ ':order' AND NOT (SELECT h.here FROM sf_find_home(k.key) h)"
	done | sort -u)" "$wanted $wanted 0"
echo "# began after: $(for n in 1 2 3; do sql $n "SELECT round(extract(epoch FROM percentile_disc(0.99) WITHIN GROUP (ORDER BY started_at - requested_at)) * 1000)
	FROM sf_executions WHERE name ~ '^order'"; done | tr '\n' ' ')ms (99th percentile on each node)"
