# The schema of each release that is out, under today's library: nothing works on it but the advice, nothing crashes, an
# update makes it what a new installation is, and rows of a dump are not adopted by today's schema.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfRelease;
use SfTest;
use Test::More;

my $top = "$FindBin::Bin/../../..";
my ($current) = slurp_file("$top/sfflow.control") =~ /^default_version = '([^']*)'/m;
my @frozen = grep { $_ ne $current } map { m{frozen/([\d.]+)$} } glob "$top/test/frozen/*";
my $node = new_node('main', bare => 1, conf => 'autovacuum = off');
my $new = catalogue($node, 'new', 'CREATE EXTENSION sfflow');
cmp_ok(scalar @frozen, '>', 0, 'a release is out');

for my $version (@frozen)
{
	my $name = $version =~ s/\./_/r;

	# --- an update leaves what a new installation makes
	my $updated = catalogue($node, "updated_$name", "CREATE EXTENSION sfflow VERSION '$version'",
		'ALTER EXTENSION sfflow UPDATE');
	is(difference($new, $updated), '', "$version: an updated extension is the same as one that was created");

	# --- before it nothing works
	$node->safe_psql('postgres', "CREATE DATABASE old_$name");
	$node->safe_psql("old_$name", "CREATE EXTENSION sfflow VERSION '$version'");
	refuses_all($node, "old_$name", qr/ALTER EXTENSION sfflow UPDATE/, $version);

	# --- rows that it has written, in a dump
	load_rows($node, "loaded_$name", $version);
	my (undef, undef, $error) = $node->psql("loaded_$name", "\\set VERBOSITY verbose\nSELECT sf_enable()");
	like($error, qr/SF070: sf_enable\(\) cannot adopt rows of another schema/,
		"$version: rows of a dump are not adopted by today's schema");
	like($error, qr/CREATE EXTENSION sfflow VERSION/, '... which says what to do');
	like($node->safe_psql("loaded_$name", q(SELECT detail FROM sf_health WHERE item = 'driven' AND NOT ok)),
		qr/CREATE EXTENSION sfflow VERSION/, '... as sf_health does');
}

# --- what an update from 1.0 makes of runs of schedules that wait, whose kind was told by which columns were null
$node->safe_psql('postgres', 'CREATE DATABASE waits');
$node->safe_psql('waits', q(CREATE EXTENSION sfflow VERSION '1.0';
INSERT INTO _sfflow.schedule_wait (schedule, scheduled_for, max_running, execution_id) VALUES
	('queued', '2025-02-05', NULL, NULL), ('backfill', '2025-02-05', 2, NULL), ('running', '2025-02-05', 2, 'a:b');
ALTER EXTENSION sfflow UPDATE));
is($node->safe_psql('waits', q(SELECT string_agg(schedule, ' ' ORDER BY kind) FROM _sfflow.pending_run)),
	'running queued backfill', 'an update tells of each run of a schedule that waits what it is of');

# --- ... and of branches: a net that goes on, jobs that share a row, Distributed Maps
$node->safe_psql('postgres', 'CREATE DATABASE branches');
$node->safe_psql('branches', q(CREATE EXTENSION sfflow VERSION '1.0';
INSERT INTO _sfflow.branch (execution_no, branch_no, state, phase, place, owner, total, jobs, map_run_no)
SELECT no, 0, 0, phase, place, current_user::regrole, total, jobs, map_run_no FROM (VALUES
	(1, 12, 0, 3, '{5}'::integer[], NULL), (2, 7, 3, 0, '{0,1,1}', NULL), (3, 4, 0, -1, NULL, 1),
	(4, 0, 2, 2, NULL, NULL))
	v(no, phase, place, total, jobs, map_run_no);
-- answers, of which some were kept when their branches ended; and what branches kept of phases that they had left
INSERT INTO _sfflow.branch (execution_no, branch_no, state, phase, owner, due_at, failing, task_payload, outcome,
	sqlstate)
SELECT no, 0, 0, phase, current_user::regrole, due_at, failing, payload, outcome, sqlstate FROM (VALUES
	(5, 5, now(), false, NULL::jsonb, '1'::jsonb, NULL), (6, 5, NULL, false, NULL, '1', NULL),
	(7, 5, NULL, true, NULL, '1', '22000'), (8, 8, now(), true, '1', '1', '22000'),
	(9, 4, now(), false, '1', '1', '22000'))
	v(no, phase, due_at, failing, payload, outcome, sqlstate);
-- Distributed Maps: one that reads, has read, is at its children, is to write, writes and has written; one that was
-- stopped when it had read, one that failed to read, and one that then begins anew
INSERT INTO _sfflow.branch (execution_no, branch_no, state, phase, owner, due_at, total, map_run_no)
SELECT no, 0, 0, phase, current_user::regrole, due_at, total, no FROM (VALUES
	(10, 4, now(), -1), (11, 5, now(), -1), (12, 3, NULL, 2), (13, 1, now(), 2), (14, 4, now(), 2), (15, 5, now(), 2),
	(16, 5, NULL, -1), (17, 8, NULL, -1), (18, 0, now(), -1))
	v(no, phase, due_at, total);
-- announced tasks that are due never: one waits for a hold, the other one has had a heartbeat
INSERT INTO _sfflow.branch (execution_no, branch_no, state, phase, owner)
VALUES (30, 0, 0, 4, current_user::regrole), (31, 0, 0, 4, current_user::regrole);
INSERT INTO _sfflow.held (execution_no, branch_no, feature, object_no) VALUES (30, 0, 'hold', 1);
-- joins: one that fails with what cannot be caught, and one that fails and aborts
INSERT INTO _sfflow.branch (execution_no, branch_no, state, phase, owner, failing, aborting, uncatchable)
SELECT no, 0, 0, 3, current_user::regrole, true, aborting, uncatchable
FROM (VALUES (40, false, true), (41, true, false)) v(no, aborting, uncatchable);
-- the timeout of an execution, and the request to stop it
INSERT INTO _sfflow.branch (execution_no, branch_no, state, phase, owner, due_at)
VALUES (5, -1, 0, 10, current_user::regrole, now()), (5, -2, 0, 11, current_user::regrole, now());
ALTER EXTENSION sfflow UPDATE));
is($node->safe_psql('branches', q(SELECT concat_ws(' ', execution_no, 'ends', job_ends, 'shared', jobs,
	'total', total, items_unread) FROM _sfflow.branch WHERE execution_no < 5 ORDER BY execution_no)), join("\n",
	'1 ends {5} shared total 3 f', '2 ends shared {0,1,1} total 0 f', '3 ends shared total 0 t',
	'4 ends shared total 2 f'), 'an update moves what a branch had in columns with two meanings');
is($node->safe_psql('branches', q(SELECT concat_ws(' ', execution_no, phase, 'due', due_at IS NOT NULL, 'outcome',
	outcome, sqlstate, outcome_failed, 'payload', task_payload) FROM _sfflow.branch
	WHERE execution_no BETWEEN 5 AND 9 AND branch_no = 0 ORDER BY execution_no)), join("\n",
	'5 5 due t outcome 1 f payload', '6 13 due f outcome 1 f payload', '7 13 due f outcome 22000 t payload',
	'8 8 due f outcome f payload', '9 4 due t outcome f payload 1'),
	'... tells of an answer whether it was kept, and of a branch no more than its phase has');
is($node->safe_psql('branches', q(SELECT concat_ws(' ', execution_no, phase, 'run', map_run_no, 'total', total,
	items_unread) FROM _sfflow.branch WHERE execution_no BETWEEN 10 AND 20 ORDER BY execution_no)), join("\n",
	'10 4 run 10 total 0 t', '11 15 run 11 total 0 t', '12 3 run 12 total 2 f', '13 14 run 13 total 2 f',
	'14 4 run 14 total 2 f', '15 15 run 15 total 2 f', '16 13 run 16 total 0 t', '17 8 run 17 total 0 t',
	'18 0 run total 0 f'), '... and of a Distributed Map what it is at');
is($node->safe_psql('branches', q(SELECT concat_ws(' ', execution_no, 'place', place, 'due', due_at IS NOT NULL)
	FROM _sfflow.branch WHERE execution_no IN (30, 31) ORDER BY execution_no)),
	join("\n", '30 place 4 due f', '31 place 0 due t'),
	'... and whether it is parked; what nothing would make due is due');
is($node->safe_psql('branches', q(SELECT concat_ws(' ', execution_no, failing, aborting, uncatchable)
	FROM _sfflow.branch WHERE execution_no IN (40, 41) ORDER BY execution_no)),
	join("\n", '40 t f f', '41 f t f'), '... and how a join goes on, with one flag at most');

# --- ... and of percentages of aliases, which were kept as they were written
$node->safe_psql('postgres', 'CREATE DATABASE aliases');
$node->safe_psql('aliases', q(CREATE EXTENSION sfflow VERSION '1.0';
INSERT INTO _sfflow.machine_alias (machine_no, alias, routes, set_at, created_at) VALUES
	(1, 'a', '{"1": 100.0}', now(), now()), (1, 'b', '{"2": 60.00, "1": 40}', now(), now()),
	(1, 'c', '{"2": 100}', now(), now());
ALTER EXTENSION sfflow UPDATE));
is($node->safe_psql('aliases', q(SELECT string_agg(routes::text, ' ' ORDER BY alias) FROM _sfflow.machine_alias)),
	'{"1": 100} {"1": 40, "2": 60} {"2": 100}', 'an update makes percentages of aliases integers');

# --- what it makes of deliveries, whose status was told by the number of the attempt and by whether they are due
$node->safe_psql('postgres', 'CREATE DATABASE deliveries');
$node->safe_psql('deliveries', q(CREATE EXTENSION sfflow VERSION '1.0';
INSERT INTO _sfflow.rule_delivery (rule_no, event_id, owner, attempt, depth, due_at, created_at, failed_at, event)
SELECT 1, name, current_user::regrole, attempt, 1, due_at, now(), failed_at, '{}' FROM (VALUES
	('new', 0, now(), NULL), ('redelivered', 0, now(), now()), ('others', -1, now(), NULL), ('claimed', 2, now(), NULL),
	('retry', 2, now(), now()), ('dead', 3, NULL, now()), ('chain', 0, NULL, now()))
	d(name, attempt, due_at, failed_at);
ALTER EXTENSION sfflow UPDATE));
is($node->safe_psql('deliveries', q(SELECT string_agg(concat_ws(' ', event_id, status, attempt), ', '
	ORDER BY status, event_id) FROM _sfflow.rule_delivery)),
	'new 0 0, redelivered 0 0, others 1 0, claimed 2 2, retry 3 2, chain 4 0, dead 4 3',
	'... and of each delivery its status');
# --- ... and of deadlines: what each is of was told by columns, too, and a look that was over left where it had gone on
$node->safe_psql('postgres', 'CREATE DATABASE deadlines');
$node->safe_psql('deadlines', q(CREATE EXTENSION sfflow VERSION '1.0';
INSERT INTO _sfflow.deadline (target, schedule, machine_no, job, end_minute, timezone, checked_until, next_at,
		walk_step, walk_now, walk_at, walk_late_no, walk_found, set_at, set_by)
	SELECT d.target, d.schedule, d.machine_no, d.job, 60, 'UTC', now(), now(), d.step, now(), now(), 1, true, now(), 'a'
	FROM (VALUES ('schedule:s', 's', NULL, NULL, NULL), ('m', NULL, 1, NULL, NULL), ('m/j', NULL, 1, 'j', 2))
		AS d (target, schedule, machine_no, job, step);
ALTER EXTENSION sfflow UPDATE));
is($node->safe_psql('deadlines', q(SELECT string_agg(concat_ws(' ', target, walk_step, walk_late_no, walk_found), ', '
	ORDER BY kind) FROM _sfflow.deadline)), 'schedule:s, m, m/j 2 1 t',
	'an update tells of each deadline what it is of, and forgets looks that were over');

# --- ... and of acknowledgements: those whose execution was purged meanwhile go
$node->safe_psql('postgres', 'CREATE DATABASE acknowledged');
$node->safe_psql('acknowledged', q(CREATE EXTENSION sfflow VERSION '1.0';
INSERT INTO _sfflow.acknowledgement (execution_no, kind, since, acknowledged_at, acknowledged_by)
VALUES (1, 'failed', now(), now(), current_user::regrole);
ALTER EXTENSION sfflow UPDATE));
is($node->safe_psql('acknowledged', q(SELECT count(*) FROM _sfflow.acknowledgement)), '0',
	'an update deletes acknowledgements of executions that are gone');

# --- ... and of rights: those on objects that are not there go, since another one may get the name
$node->safe_psql('postgres', 'CREATE DATABASE rights');
$node->safe_psql('rights', q(CREATE EXTENSION sfflow VERSION '1.0';
INSERT INTO _sfflow.state_machine (name, owner, current_version, created_at)
VALUES ('m', current_user::regrole, 1, now());
INSERT INTO _sfflow.activity (name, owner, created_at) VALUES ('a', current_user::regrole, now());
INSERT INTO _sfflow.privilege (object_kind, object_name, role, privilege) SELECT kind, name, 0, privilege
FROM (VALUES ('m', 'm', 'R'), ('m', 'a', 'R'), ('a', 'a', 'W'), ('a', 'm', 'W'), ('m', 'gone', 'n'), ('*', '*', 'c'))
	AS p (kind, name, privilege);
ALTER EXTENSION sfflow UPDATE));
is($node->safe_psql('rights', q(SELECT string_agg(concat_ws(' ', object_kind, object_name, privilege), ', '
	ORDER BY object_kind) FROM _sfflow.privilege)), '* * C, a a W, m m R',
	'an update deletes rights on what does not exist');

# --- ... and of what else names objects; one for which a branch is parked stays
$node->safe_psql('postgres', 'CREATE DATABASE named');
$node->safe_psql('named', q(CREATE EXTENSION sfflow VERSION '1.0';
INSERT INTO _sfflow.state_machine (machine_no, name, owner, current_version, created_at)
VALUES (1, 'm', current_user::regrole, 1, now());
INSERT INTO _sfflow.activity (name, owner, created_at) VALUES ('a', current_user::regrole, now());
INSERT INTO _sfflow.aws_resource (object_kind, object_name, tags)
SELECT kind::"char", name, '{}' FROM unnest('{m,a}'::text[]) AS kind, unnest('{m,a}'::text[]) AS name;
INSERT INTO _sfflow.hold (hold_no, kind, name, state, machine_no, held_at, held_by)
SELECT no, kind, name, '', machine_no, now(), 'x' FROM (VALUES (1, 'machine', 'm', 1), (2, 'machine', 'gone', 2),
	(3, 'activity', 'a', NULL), (4, 'activity', 'gone', NULL), (5, 'schedule', 'gone', NULL),
	(6, 'resource', 'any', NULL), (7, 'activity', 'parked', NULL)) AS h (no, kind, name, machine_no);
INSERT INTO _sfflow.held (execution_no, branch_no, feature, object_no) VALUES (30, 0, 'hold', 7), (30, 1, 'limit', 5);
INSERT INTO _sfflow.run_limit (limit_no, kind, name, state, key, in_definition, machine_no, max_running, highest, fails,
	set_at, set_by, counted, covers, per)
SELECT no, kind, name, '', '', false, machine_no, 1, 1, false, now(), 'x', true, 0, 0
FROM (VALUES (1, 'machine', 'm', 1), (2, 'machine', 'gone', 2), (3, 'activity', 'a', NULL),
	(4, 'activity', 'gone', NULL),
	(5, 'activity', 'parked', NULL), (6, 'activity', 'slots', NULL)) AS l (no, kind, name, machine_no);
INSERT INTO _sfflow.limit_slot (limit_no, queue, slot, execution_no, branch_no) VALUES (6, 0, 1, 30, 0);
ALTER EXTENSION sfflow UPDATE));
is($node->safe_psql('named', q(SELECT string_agg(concat_ws(' ', object_kind, object_name), ', ' ORDER BY object_name)
	FROM _sfflow.aws_resource)), 'a a, m m', 'an update deletes tags of what does not exist,');
is($node->safe_psql('named', q(SELECT string_agg(hold_no::text, ' ' ORDER BY hold_no) FROM _sfflow.hold)), '1 3 6 7',
	'... holds,');
is($node->safe_psql('named', q(SELECT string_agg(limit_no::text, ' ' ORDER BY limit_no) FROM _sfflow.run_limit)),
	'1 3 5 6', '... and limits');
is($node->safe_psql('named', q(SELECT string_agg(detail, E'\n' ORDER BY detail) FROM sf_check()
	WHERE problem = 'object_missing')), join("\n", map { "1 rows of $_, which there is not: for an object that gets "
	. 'the name. To remove them, create it and drop it' } 'hold name "activity:parked"',
	'run_limit name "activity:parked"', 'run_limit name "activity:slots"'),
	'... but for those that something waits for, of which sf_check tells');
$node->safe_psql('named', q(SELECT sf_create_activity(a), sf_drop_activity(a)
	FROM unnest('{parked,slots}'::text[]) AS a));
is($node->safe_psql('named', q(SELECT count(*) FROM sf_check() WHERE problem = 'object_missing')), '0',
	'... and what it says removes them');

# --- ... and of columns that have values together, or never
$node->safe_psql('postgres', 'CREATE DATABASE together');
$node->safe_psql('together', q(CREATE EXTENSION sfflow VERSION '1.0';
INSERT INTO _sfflow.state_machine (machine_no, name, owner, current_version, created_at)
VALUES (1, 'm', current_user::regrole, 1, now()), (2, 'n', current_user::regrole, 1, now());
INSERT INTO _sfflow.lateness (target, deadline_at, due_by, state, base_at, execution_no, expected_at, raised_at)
SELECT 'm', now(), 'end', state, now(), 1, now(), now() FROM unnest('{late,will_be_late}'::text[]) state;
INSERT INTO _sfflow.instance (system_identifier, database_oid, incarnation, enabled, stopped_because, changed_at)
VALUES (1, 1, 1, true, 'a copy', now());
INSERT INTO _sfflow.metric_fold (database_oid, from_xid, open_xids) VALUES (1, 1, '{}');
INSERT INTO _sfflow.schedule_run (schedule, run_at, pid, execution_id, outcome, message) VALUES
	('s', '2025-01-01', 1, 'm:a', 'succeeded', NULL), ('s', '2025-01-02', 1, NULL, 'failed', NULL),
	('s', '2025-01-03', 1, NULL, 'failed', ''), ('s', '2025-01-04', 1, NULL, 'queued', NULL);
INSERT INTO _sfflow.run_limit (kind, name, state, key, in_definition, machine_no, max_running, highest, rate, per,
	fails, set_at, set_by, counted, horizon) VALUES
	('machine', 'm', '', '', false, 1, 1, 1, NULL, 1000000, false, now(), 'a', true, '7'),
	('machine', 'n', 's', '$.k', false, 2, 1, 1, NULL, 1000000, false, now(), 'a', true, NULL),
	('resource', 'r', '', '', false, NULL, NULL, 0, 1, 1000000, false, now(), 'a', false, '7');
INSERT INTO _sfflow.hold (kind, name, state, machine_no, held_at, held_by) VALUES
	('machine', 'm', '', 1, now(), 'a'), ('machine', 'm', 's', 1, now(), 'a'), ('resource', 'r', '', NULL, now(), 'a');
INSERT INTO _sfflow.map_run (execution_no, map_run_no, branch_no, state, uuid, status, keyed, max_items,
	max_items_per_batch, max_bytes_per_batch, tolerated_count, tolerated_percentage, max_concurrency, total, children,
	succeeded, failed, timed_out, aborted, items_succeeded, items_failed, started_at)
SELECT 1, n, 0, 0, '', 0, false, n, n, n, 0, 0, n, 0, 0, 0, 0, 0, 0, 0, 0, now() FROM generate_series(-1, 1) n;
-- tasks: queued, again after a lease, taken, answered by a token, answered, dead
INSERT INTO _sfflow.task (execution_no, branch_no, activity_no, status, generation, state, attempt, scheduled_at,
	started_at, heartbeat_at, lease_until, secret, worker)
SELECT 1, row_number() OVER (), activity_no, status, 0, 0, 0, now(), started_at, heartbeat_at, lease_until, '', worker
FROM (VALUES (1, 0, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL), (1, 0, NULL, NULL, NULL, 'w'),
	(1, 1, now(), now(), now(), 'w'), (NULL, 2, now(), now(), NULL, NULL), (1, 3, now(), now(), now(), 'w'),
	(NULL, 3, now(), NULL, NULL, NULL), (1, 4, now(), now(), now(), 'w'))
	v(activity_no, status, started_at, heartbeat_at, lease_until, worker);
ALTER EXTENSION sfflow UPDATE));
is($node->safe_psql('together', q(
SELECT string_agg(concat_ws(' ', finding, expected_at IS NOT NULL), ', ' ORDER BY finding) FROM _sfflow.lateness
UNION ALL SELECT concat_ws(' ', enabled, stopped_because) FROM _sfflow.instance
UNION ALL SELECT concat_ws(' ', 'fold', database_oid, from_xid, open_xids) FROM _sfflow.metric_fold
UNION ALL SELECT string_agg(concat_ws(' ', outcome, quote_literal(message)), ', ' ORDER BY run_at)
FROM _sfflow.schedule_run
UNION ALL SELECT string_agg(concat_ws(' ', kind, quote_nullable(state), quote_nullable(key), per, horizon), ', '
	ORDER BY name) FROM _sfflow.run_limit
UNION ALL SELECT string_agg(concat_ws(' ', kind, quote_nullable(state)), ', ' ORDER BY hold_no) FROM _sfflow.hold
UNION ALL SELECT string_agg(concat_ws(' ', 'at most', max_items, max_items_per_batch, max_bytes_per_batch,
	max_concurrency), ', ' ORDER BY map_run_no) FROM _sfflow.map_run
UNION ALL SELECT count(*) || ' tasks' FROM _sfflow.task)), join("\n", 'late f, will_be_late t', 't', 'fold',
	q(succeeded, failed 'missing error text', failed '', queued),
	q(machine NULL NULL, machine 's' '$.k', resource NULL NULL 1000000 7),
	q(machine NULL, machine 's', resource NULL), 'at most, at most, at most 1 1 1 1', '7 tasks'),
	'an update puts what has no meaning any more in order');

# --- a schema of a release to come
$node->safe_psql('postgres', 'CREATE DATABASE future');
$node->safe_psql('future', 'CREATE EXTENSION sfflow');
my $number = $node->safe_psql('future', 'SELECT library_schema FROM sf_version()');
$node->safe_psql('future', "ALTER FUNCTION _sfflow.schema_$number() RENAME TO schema_99");
refuses_all($node, 'future', qr/restart the server/, 'a schema to come');
$node->safe_psql('future', "ALTER FUNCTION _sfflow.schema_99() RENAME TO schema_$number");
is($node->safe_psql('future', 'SELECT count(*) FROM sf_health WHERE NOT ok'), '0', 'its own schema pleases it again');

ok(!$node->log_contains(qr/terminated by signal|PANIC|ERROR:  XX000/), 'nothing has crashed');
$node->stop;
done_testing();
