-- Sequences: which numbers this database draws, and how far each has come.

-- The numbers that this database draws: all, or those that begin with the number of its node (src/copy/sequences.c).
CREATE VIEW _sfflow.number_range AS
SELECT coalesce(max(i.node)::bigint << 48, 0) AS low,
	coalesce(max(i.node)::bigint << 48 | 281474976710655, 9223372036854775807) AS high
FROM _sfflow.instance i;

-- How far each sequence has come, and the largest number in use, but for those of nodes with higher numbers. That of
-- branch_no no index knows.
CREATE VIEW _sfflow.sequence_use AS
SELECT 'machine_no' AS name, s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END AS drawn,
	greatest((SELECT max(machine_no) FROM _sfflow.state_machine),
		(SELECT max(machine_no) FROM _sfflow.state_machine_version),
		(SELECT max(machine_no) FROM _sfflow.dropped_machine))::bigint AS used
FROM _sfflow.machine_no s
UNION ALL
SELECT 'activity_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	(SELECT max(activity_no) FROM _sfflow.activity)::bigint
FROM _sfflow.activity_no s
--@slot sequence_use
UNION ALL
SELECT 'execution_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	greatest((SELECT max(execution_no) FROM _sfflow.execution WHERE execution_no <= r.high),
		(SELECT max(execution_no) FROM _sfflow.branch WHERE execution_no <= r.high))
FROM _sfflow.execution_no s, _sfflow.number_range r
UNION ALL
SELECT 'branch_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	greatest((SELECT max(branch_no) FROM _sfflow.branch WHERE branch_no <= r.high),
		(SELECT max(map_run_no) FROM _sfflow.map_run WHERE map_run_no <= r.high))
FROM _sfflow.branch_no s, _sfflow.number_range r;

-- The same with the number that each sequence is to go on after, and whether it is outside of the range of this node.
-- Rows of machines, activities, types of events and worklists never leave a node: their numbers need no range.
CREATE VIEW _sfflow.sequence_position AS
SELECT u.name, u.drawn, u.used, w.wide AND (u.drawn < r.low OR u.drawn > r.high) AS astray,
	CASE WHEN NOT w.wide THEN greatest(u.drawn, u.used)
		ELSE greatest(r.low, u.used, CASE WHEN u.drawn <= r.high THEN u.drawn END) END AS last
FROM _sfflow.sequence_use u
CROSS JOIN _sfflow.number_range r
CROSS JOIN LATERAL (SELECT q.seqtypid = 'bigint'::regtype AS wide FROM pg_sequence q
	WHERE q.seqrelid = format('_sfflow.%I', u.name)::regclass) w;
