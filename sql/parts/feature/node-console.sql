-- Nodes: lists of the console over several nodes, merged.

--@into console
-- Lists of the console over several nodes. sfgateway has asked the others, and "nodes" of the request is what came of
-- it: [{node, name, answer}], of a node that gave none with an error instead. The elements of a list of all are those
-- of this database and those of others, which have the name of their node, and the rights of the role there.
CREATE FUNCTION _sfflow.console_rows_of_all(
	q jsonb,
	own jsonb,
	what text,
	OUT node text,
	OUT one jsonb,
	OUT n bigint)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT NULL::text, r.one, r.n FROM jsonb_array_elements($2 -> $3) WITH ORDINALITY AS r(one, n)
	UNION ALL
	SELECT a.one ->> 'name', CASE jsonb_typeof(r.one) WHEN 'object' THEN
			r.one || jsonb_build_object('node', a.one -> 'name', 'rights', coalesce(
				a.one #> ARRAY['answer', 'rights', substring(
					coalesce(r.one ->> 'execution_id', r.one #>> '{executions,0}'), '^[^:/]+')], '[]'))
		ELSE r.one END, r.n
	FROM jsonb_array_elements($1 -> 'nodes') AS a(one)
	CROSS JOIN LATERAL jsonb_array_elements(a.one #> ARRAY['answer', $3]) WITH ORDINALITY AS r(one, n);
END;

-- The answers themselves.
CREATE FUNCTION _sfflow.console_answers(q jsonb, own jsonb) RETURNS SETOF jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT $2
	UNION ALL
	SELECT n.one -> 'answer' FROM jsonb_array_elements($1 -> 'nodes') AS n(one) WHERE n.one ? 'answer';
END;

-- The key of a page as numbers, of which the lowest come first: those of the key, or negated by a direction of -1.
CREATE FUNCTION _sfflow.console_key(page_key text, direction integer) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
	SELECT array_agg($2 * p.part::bigint ORDER BY p.n)
	FROM unnest(string_to_array($1, '.')) WITH ORDINALITY AS p(part, n));

-- A page of a list, by its keys, of which a direction of -1 has the highest first. "next" of an answer is how far a
-- node has looked, unless it has no more: what is behind any of these is left to the next page, since that node may
-- have what belongs before it. Rows of two nodes may have the same key; then both are on the page.
CREATE FUNCTION _sfflow.console_page_of_all(q jsonb, own jsonb, what text, next text, direction integer, size integer)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
	WITH answer AS MATERIALIZED (
		SELECT a.one FROM _sfflow.console_answers($1, $2) AS a(one)
	), bound AS MATERIALIZED (
		SELECT a.one ->> $4 AS next, _sfflow.console_key(a.one ->> $4, $5) AS key
		FROM answer a WHERE a.one ->> $4 IS NOT NULL ORDER BY 2 LIMIT 1
	), line AS MATERIALIZED (
		SELECT x.*, rank() OVER (ORDER BY x.key) AS position
		FROM (
			SELECT r.node, r.one, _sfflow.console_key(r.one ->> 'page_key', $5) AS key
			FROM _sfflow.console_rows_of_all($1, $2, $3) r) x
		WHERE coalesce(x.key <= (SELECT b.key FROM bound b), true)
	), page AS MATERIALIZED (
		SELECT l.* FROM line l WHERE l.position <= $6
	)
	SELECT jsonb_build_object(
		$3, (SELECT coalesce(jsonb_agg(p.one ORDER BY p.position, p.node NULLS FIRST), '[]') FROM page p),
		$4, CASE WHEN (SELECT count(*) FROM line) > (SELECT count(*) FROM page)
			THEN (SELECT p.one ->> 'page_key' FROM page p ORDER BY p.position DESC LIMIT 1)
			ELSE (SELECT b.next FROM bound b) END)
		|| CASE WHEN l.looked IS NULL THEN '{}' ELSE jsonb_build_object('looked', l.looked) END
	FROM (SELECT sum((a.one ->> 'looked')::bigint) AS looked FROM answer a) l);

-- The first elements of a list, in the order of one of their times, of which a direction of -1 has the latest first.
CREATE FUNCTION _sfflow.console_first_of_all(q jsonb, own jsonb, what text, at text, direction integer, size integer)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
	SELECT coalesce(jsonb_agg(x.one ORDER BY x.position), '[]')
	FROM (
		SELECT r.one, row_number() OVER (ORDER BY $5 * extract(epoch FROM (r.one ->> $4)::timestamptz), r.n,
			r.node NULLS FIRST) AS position
		FROM _sfflow.console_rows_of_all($1, $2, $3) r) x
	WHERE x.position <= $6);

-- The sums of the elements of a list that have the same value of a member.
CREATE FUNCTION _sfflow.console_sums_of_all(q jsonb, own jsonb, what text, common text) RETURNS SETOF jsonb
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT jsonb_object_agg(s.member, s.total) || jsonb_build_object($4, s.name)
	FROM (
		SELECT CASE $4 WHEN 'hour' THEN to_jsonb((r.one ->> $4)::timestamptz) #>> '{}' ELSE r.one ->> $4 END AS name,
			m.member, sum(m.value::bigint) AS total
		FROM _sfflow.console_rows_of_all($1, $2, $3) r
		CROSS JOIN LATERAL jsonb_each_text(r.one - ARRAY[$4, 'node', 'rights']) AS m(member, value)
		GROUP BY 1, 2) s
	GROUP BY s.name;
END;

-- The sums of counts by name.
CREATE FUNCTION _sfflow.console_counts_of_all(q jsonb, own jsonb, what text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
	SELECT coalesce(jsonb_object_agg(c.name, c.total), '{}') FROM (
		SELECT e.key AS name, sum(e.value::bigint) AS total
		FROM _sfflow.console_answers($1, $2) AS a(one) CROSS JOIN LATERAL jsonb_each_text(a.one -> $3) e
		GROUP BY e.key) c);

-- The lists of which any answer leaves rows out.
CREATE FUNCTION _sfflow.console_cuts_of_all(q jsonb, own jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
	SELECT coalesce(jsonb_agg(DISTINCT c.name), '[]')
	FROM _sfflow.console_answers($1, $2) AS a(one) CROSS JOIN LATERAL jsonb_array_elements(a.one -> 'cut') AS c(name));

-- Alerts, in the order of console_alerts().
CREATE FUNCTION _sfflow.console_merged_alerts(q jsonb, own jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
	WITH alert AS MATERIALIZED (
		SELECT r.node, r.one, x.*, row_number() OVER (ORDER BY x.kind IN ('failed', 'timed_out', 'failed_again'),
			x.since DESC NULLS LAST, x.execution_id, x.kind, r.node NULLS FIRST) AS n
		FROM _sfflow.console_rows_of_all($1, $2, 'rows') r
		CROSS JOIN LATERAL jsonb_to_record(r.one) AS x(kind text, execution_id text, since timestamptz)
	)
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'rows', (SELECT coalesce(jsonb_agg(a.one ORDER BY a.since DESC, a.execution_id, a.kind, a.node NULLS FIRST),
			'[]')
			FROM alert a WHERE a.n <= _sfflow.console_limit($1, 100, 500)),
		'acknowledged', _sfflow.console_first_of_all($1, $2, 'acknowledged', 'acknowledged_at', -1, 50 + 1),
		'cut', _sfflow.console_cuts_of_all($1, $2) || CASE WHEN (SELECT count(*) FROM alert)
			> _sfflow.console_limit($1, 100, 500) THEN '["rows"]'::jsonb ELSE '[]' END), '{"acknowledged": 50}'));

-- An inbox: a page of tasks, and what there is to count in the worklists of the same name.
CREATE FUNCTION _sfflow.console_merged_inbox(q jsonb, own jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN _sfflow.console_page_of_all($1, $2, 'rows', 'next', 1, _sfflow.console_limit($1, 50, 500)) || jsonb_build_object(
	'counts', (SELECT coalesce(jsonb_agg(c.one ORDER BY c.one ->> 'worklist' COLLATE "C"), '[]')
		FROM _sfflow.console_sums_of_all($1, $2, 'counts', 'worklist') AS c(one)),
	'held', _sfflow.console_first_of_all($1, $2, 'held', 'since', 1, 100),
	'readable', (SELECT coalesce(jsonb_agg(DISTINCT r.one), '[]')
		FROM _sfflow.console_rows_of_all($1, $2, 'readable') r));

-- Tonight: rows of each node in one order, numbers of all summed. Of what other nodes hold the role may release
-- executions alone, and change no limits: such actions go to this database.
CREATE FUNCTION _sfflow.console_merged_tonight(q jsonb, own jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN _sfflow.console_bounded(jsonb_build_object(
	'sees', EXISTS (SELECT FROM _sfflow.console_answers($1, $2) AS a(one) WHERE a.one -> 'sees' = 'true'),
	'kinds', _sfflow.console_counts_of_all($1, $2, 'kinds'),
	'running_count', (SELECT sum((a.one ->> 'running_count')::bigint) FROM _sfflow.console_answers($1, $2) AS a(one)),
	'failed', _sfflow.console_first_of_all($1, $2, 'failed', 'since', -1, 25 + 1),
	'late', _sfflow.console_first_of_all($1, $2, 'late', 'since', 1, 50 + 1),
	'tolerated', _sfflow.console_first_of_all($1, $2, 'tolerated', 'started_at', -1, 25 + 1),
	'running', _sfflow.console_first_of_all($1, $2, 'running', 'requested_at', 1, 25),
	'ended', _sfflow.console_first_of_all($1, $2, 'ended', 'requested_at', -1, 10),
	'next', _sfflow.console_first_of_all($1, $2, 'next', 'next_run', 1, 25 + 1),
	'held', (SELECT coalesce(jsonb_agg(CASE
			WHEN h.one ? 'node' AND h.one ->> 'target' !~ '^(?!(activity|arn|event|human|schedule|sql):)[^:]+:'
			THEN h.one || '{"may_release": false}' ELSE h.one END ORDER BY h.n), '[]')
		FROM jsonb_array_elements(_sfflow.console_first_of_all($1, $2, 'held', 'since', 1, 25 + 1))
			WITH ORDINALITY AS h(one, n)),
	'unwell', _sfflow.console_first_of_all($1, $2, 'unwell', NULL, 1, 50),
	'hours', (SELECT coalesce(jsonb_agg(h.one ORDER BY (h.one ->> 'hour')::timestamptz), '[]')
		FROM _sfflow.console_sums_of_all($1, $2, 'hours', 'hour') AS h(one)),
	'machines', (SELECT coalesce(jsonb_agg(m.one ORDER BY m.position), '[]') FROM (
		SELECT x.one, row_number() OVER (ORDER BY (x.one ->> 'failed')::bigint DESC,
			(x.one ->> 'started')::bigint DESC, x.one ->> 'state_machine') AS position
		FROM _sfflow.console_sums_of_all($1, $2, 'machines', 'state_machine') AS x(one)) m
		WHERE m.position <= 50 + 1),
	'cut', _sfflow.console_cuts_of_all($1, $2)),
	'{"failed": 25, "late": 50, "tolerated": 25, "next": 25, "held": 25, "machines": 50}')
	|| CASE WHEN $2 ? 'limits' THEN jsonb_build_object('limits', (
		SELECT coalesce(jsonb_agg(CASE WHEN l.one ? 'node' THEN l.one || '{"may_change": false}' ELSE l.one END
			ORDER BY l.n), '[]')
		FROM jsonb_array_elements(_sfflow.console_first_of_all($1, $2, 'limits', NULL, 1, 25))
			WITH ORDINALITY AS l(one, n))) ELSE '{}' END
	|| CASE WHEN $2 ? 'deadlines' THEN jsonb_build_object('deadlines',
		_sfflow.console_first_of_all($1, $2, 'deadlines', NULL, 1, 25)) ELSE '{}' END;

-- The nodes that a list lacks.
CREATE FUNCTION _sfflow.console_missing(q jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
	SELECT coalesce(jsonb_agg(n.one ORDER BY (n.one -> 'node')::integer), '[]')
	FROM jsonb_array_elements($1 -> 'nodes') AS n(one)
	WHERE NOT n.one ? 'answer');

-- The answer of an action that is a list, over all nodes, and the nodes that it lacks.
CREATE FUNCTION _sfflow.console_merged(action text, q jsonb, own jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN $3 || CASE $1
	WHEN 'executions' THEN _sfflow.console_page_of_all($2, $3, 'rows', 'next', -1,
		_sfflow.console_limit($2, 50, 200))
	WHEN 'alerts' THEN _sfflow.console_merged_alerts($2, $3)
	WHEN 'inbox' THEN _sfflow.console_merged_inbox($2, $3)
	WHEN 'night' THEN _sfflow.console_bounded(jsonb_build_object(
		'rows', _sfflow.console_first_of_all($2, $3, 'rows', 'first_planned', 1, 200 + 1),
		'cut', _sfflow.console_cuts_of_all($2, $3)), '{"rows": 200}')
	WHEN 'tonight' THEN _sfflow.console_merged_tonight($2, $3)
	ELSE '{}' END
	|| jsonb_build_object('nodes_missing', _sfflow.console_missing($2));
--@into console_merged
	IF request ? 'nodes' THEN
		answer := _sfflow.console_merged(action, request, answer);
	END IF;
