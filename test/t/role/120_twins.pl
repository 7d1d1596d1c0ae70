# Objects that stood in a database before sfflow was installed, or that stand first in the search_path, are never run
# with its user's rights: the database belongs to a tenant, and is full of twins of everything in pg_catalog.
# needs: archive hold deadline limit event human trace node rule mcp
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

$PostgreSQL::Test::Utils::timeout_default = 180;

my $node = new_node('main', bare => 1, conf => <<'EOC');
shared_preload_libraries = 'sfflow, pg_cron'
cron.database_name = 'tenancy'
cron.use_background_workers = on
EOC
$node->safe_psql('postgres', 'CREATE ROLE tenant LOGIN; CREATE ROLE reader; CREATE DATABASE four OWNER tenant;
	CREATE DATABASE tenancy OWNER tenant');
$node->safe_psql('tenancy', 'CREATE EXTENSION pg_cron');

# Run SQL in a session whose own names mean what they say.
sub safely
{
	my ($database, $sql) = @_;
	local $ENV{PGOPTIONS} = '-c search_path=pg_catalog';
	return $node->safe_psql($database, $sql);
}

# What the server's log tells of twins that ran; pg_cron answers for its own queries.
my $read = 0;

sub twins_ran
{
	my $log = slurp_file($node->logfile, $read);
	$read += length $log;
	return join "\n", grep { /LOG:  twin ran/ && !/\] pg_cron/ } split /\n/, $log;
}

# --- four of them, by which a superuser's look at alerts could be the tenant's doing

$node->safe_psql('four', <<'EOS', extra_params => [ '-U', 'tenant' ]);
CREATE TABLE ran (what text, who text);
CREATE FUNCTION concat_ws(text, text, text) RETURNS text LANGUAGE plpgsql SET search_path = public
	AS $$ BEGIN INSERT INTO ran VALUES ('concat_ws', current_user); RETURN ''; END $$;
CREATE FUNCTION format(text, text) RETURNS text LANGUAGE plpgsql SET search_path = public
	AS $$ BEGIN INSERT INTO ran VALUES ('format', current_user); RETURN ''; END $$;
CREATE FUNCTION joined(bigint, text) RETURNS text LANGUAGE plpgsql SET search_path = public
	AS $$ BEGIN INSERT INTO ran VALUES ('||', current_user); RETURN ''; END $$;
CREATE FUNCTION joined(text, interval) RETURNS text LANGUAGE plpgsql SET search_path = public
	AS $$ BEGIN INSERT INTO ran VALUES ('||', current_user); RETURN ''; END $$;
CREATE OPERATOR || (LEFTARG = bigint, RIGHTARG = text, FUNCTION = joined);
CREATE OPERATOR || (LEFTARG = text, RIGHTARG = interval, FUNCTION = joined);
EOS
$node->safe_psql('four', <<'EOS');
CREATE EXTENSION sfflow;
SELECT sf_disable();
SELECT sf_create_state_machine('fails', '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Bad",
	"Cause": "as told"}}}');
SELECT sf_create_state_machine('waits', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 0,
	"End": true}}}');
SELECT sf_start('fails', '{}', 'a'), sf_run('fails:a'), sf_start('waits', '{}', 'a'), sf_start('waits', '{}', 'b');
UPDATE _sfflow.branch SET due_at = due_at - interval '1 h';
SELECT kind, detail FROM sf_alerts;
SELECT * FROM sf_health;
EOS
is($node->safe_psql('four', 'SELECT * FROM ran'), '',
	'the alerts and the health of a database run nothing of its owner');

# --- all of them

my $words = join ' ',
	qw(aclexplode age array_agg array_length avg bool_and btrim clock_timestamp coalesce concat concat_ws
  convert_from current_setting date_part date_trunc extract format gen_random_uuid generate_series has_schema_privilege
  jsonb_array_elements jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_object_keys
  	jsonb_strip_nulls
  jsonb_typeof json_build_object left length lower lpad make_interval max md5 min nextval now octet_length
  	percentile_cont
  pg_extension_config_dump pg_get_userbyid pg_has_role pg_notify quote_ident quote_literal regexp_replace replace right
  	row_number
  set_config split_part starts_with string_agg substr substring sum to_char to_jsonb trim_scale unnest upper);
my $twins = $node->safe_psql('tenancy', "\\set words '$words'\n\\i $FindBin::Bin/../../fixtures/twins.sql",
	extra_params => [ '-U', 'tenant' ]);
cmp_ok(eval(join '+', grep { /^\d+$/ } split /\n/, $twins), '>', 8000, 'thousands of twins');

# What a statement in a session of a superuser ends with.
sub complaint
{
	my ($database, $sql) = @_;
	my (undef, undef, $stderr) = $node->psql($database, $sql);
	return $stderr;
}

like(complaint('tenancy', $_), qr/twin ran/, "a twin runs in a superuser's session: $_")
  for "SELECT concat_ws('a', 'b', 'c')", 'SELECT 1 = 1', "SELECT 'a'::text", 'SELECT relname FROM pg_class',
  	'SELECT count(*)';
isnt(twins_ran(), '', 'and the log tells');

is($node->psql('tenancy', 'CREATE EXTENSION sfflow'), 0, 'CREATE EXTENSION in the midst of them');
is(safely('tenancy', 'SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = $$sfflow$$'), 'public',
	'into their schema');
is(twins_ran(), '', 'runs none');
my $bound = <<'EOS';
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) || ' needs '
	|| pg_describe_object(d.refclassid, d.refobjid, 0)
FROM (SELECT classid, objid, objsubid, refclassid, refobjid FROM pg_depend) AS d
JOIN (SELECT DISTINCT classid, objid FROM twins.known WHERE objid >= 16384) AS t ON t.classid = d.refclassid
	AND t.objid = d.refobjid
WHERE (d.classid, d.objid, d.refclassid, d.refobjid) NOT IN (SELECT classid, objid, refclassid, refobjid
	FROM twins.known)
EOS
is(safely('tenancy', $bound), '', 'and nothing of sfflow is bound to one');

# What the machines call, made by a superuser who names everything.
safely('tenancy', <<'EOS');
CREATE SCHEMA app;
CREATE FUNCTION app.echo(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN payload;
CREATE FUNCTION app.fail(payload jsonb) RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog
	AS $$ BEGIN PERFORM public.sf_raise('Bad', 'as told'); RETURN payload; END $$;
EOS

# Everything from here on in sessions in which the twins come first: only literals, and names with their schema.
my $said = '';

sub run_all
{
	my ($name, $sql) = @_;
	$said .= $sql;
	my ($rc, $out, $err) = $node->psql('tenancy', $sql, on_error_stop => 1, on_error_die => 0);
	is($err =~ s/^.*NOTICE: .*\n?//mgr, '', "$name: no error");
	is(twins_ran(), '', "$name: no twin");
	return $out;
}

run_all('machines', <<'EOS');
SELECT public.sf_create_activity('act', '1 h', 1), public.sf_create_activity('gone');
SELECT public.sf_drop_activity('gone');
SELECT public.sf_create_event('twin'), public.sf_create_event('gone', '1 h', '1 h', 'one');
SELECT public.sf_emit('twin', 'k', '{"a": 1}', 'i'),
	public.sf_emit_many('twin', ARRAY['{"key": "k"}']::pg_catalog.jsonb[]),
	public.sf_withdraw_event('twin', 'k', 'i');
SELECT public.sf_drop_event('gone');
SELECT public.sf_create_state_machine('waits', '{"StartAt": "W", "States": {"W": {"Type": "Task",
	"Resource": "event:twin", "Parameters": {"Key": "k", "Filter": {"b": [1]}}, "End": true}}}');
SELECT public.sf_start('waits', '{}', 'e'), public.sf_run('waits:e');
SELECT public.sf_emit('twin', 'k', '{"b": 1}'), public.sf_run('waits:e');
SELECT public.sf_create_worklist('twin', '{"type": ["object"],
	"properties": {"a": {"pattern": "x", "format": "date", "minimum": 1}}}'), public.sf_create_worklist('gone');
SELECT public.sf_drop_worklist('gone');
SELECT public.sf_create_state_machine('asks', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "human:twin", "Parameters": {"Roles": ["pg_monitor"], "NotBy": ["A"], "Due": 0,
		"Escalate": [{"After": 0, "Roles": ["pg_monitor"]}]}, "End": true}}}');
SELECT public.sf_start('asks', '{}', 'a'), public.sf_run('asks:a');
SELECT task FROM public.sf_human_tasks \gset
SELECT public.sf_claim_task(:'task'), public.sf_release_task(:'task'), public.sf_assign_task(:'task', NULL),
	public.sf_change_task(:'task', '{pg_monitor}', 'infinity', '1');
SELECT public.sf_list_human_tasks(), public.sf_list_human_tasks('twin', 'open', 5, '0.0.0', 'pg_monitor'),
	public.sf_list_human_tasks('twin', 'mine'), public.sf_count_human_tasks();
SELECT public.sf_hold('human:twin'), public.sf_release('human:twin');
SELECT public.sf_console_api('inbox', '{}'),
	public.sf_console_api('task', CAST(pg_catalog.format('{"task": %s}', :'task') AS pg_catalog.jsonb)),
	public.sf_console_api('payload',
		CAST(pg_catalog.format('{"what": "task", "task": %s}', :'task') AS pg_catalog.jsonb));
SELECT public.sf_console_api('claim_task', CAST(pg_catalog.format('{"targets": ["%s"]}', :'task') AS pg_catalog.jsonb)),
	public.sf_console_api('release_task', CAST(pg_catalog.format('{"targets": ["%s"]}', :'task') AS pg_catalog.jsonb)),
	public.sf_console_api('assign_task', CAST(pg_catalog.format('{"targets": ["%s"]}', :'task') AS pg_catalog.jsonb));
SELECT public.sf_complete_task(:'task', '{"b": 1}', 'fine');
SELECT public.sf_start('asks', '{}', 'b'), public.sf_run('asks:b');
SELECT task FROM public.sf_human_tasks \gset
SELECT public.sf_fail_task(:'task', 'Bad', 'no');
SELECT public.sf_create_state_machine('flow', '{"StartAt": "Echo", "States": {
  "Echo": {"Type": "Task", "Resource": "sql:app.echo", "Parameters": {"text.$": "States.Format(''{}-{}'', $.a, 1)"},
  	"ResultPath": "$.echo", "Next": "Which"},
  "Which": {"Type": "Choice", "Choices": [{"Variable": "$.a", "NumericEquals": 1, "Next": "Both"}], "Default": "Both"},
  "Both": {"Type": "Parallel", "ResultPath": null, "Next": "Each", "Branches": [
    {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}},
    {"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 0, "End": true}}}]},
  "Each": {"Type": "Map", "ItemsPath": "$.list", "MaxConcurrency": 2, "ResultPath": null, "Next": "All",
    "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Pass", "End": true}}}},
  "All": {"Type": "Map", "ItemsPath": "$.list", "MaxConcurrency": 2, "ResultPath": null, "Next": "Query",
    "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "D",
    	"States": {"D": {"Type": "Pass", "End": true}}}},
  "Query": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT 1 AS one"}, "End": true}}}');
SELECT public.sf_create_state_machine('out',
	'{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:act", "End": true}}}');
SELECT public.sf_create_state_machine('items',
	'{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemReader": {"Resource": "activity:act"}, "End": true,
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P",
		"States": {"P": {"Type": "Pass", "End": true}}}}}}');
SELECT public.sf_create_state_machine('bad',
	'{"StartAt": "F", "States": {"F": {"Type": "Task", "Resource": "sql:app.fail",
	"Retry": [{"ErrorEquals": ["Other"]}], "End": true}}}');
SELECT public.sf_create_state_machine('late',
	'{"StartAt": "W", "TimeoutSeconds": 1, "States": {"W": {"Type": "Wait", "Seconds": 1000, "End": true}}}');
SELECT public.sf_create_state_machine('gone', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT public.sf_create_state_machine('gone', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}', NULL,
	true);
SELECT public.sf_start('gone'), public.sf_start('late', '{}', 'a');
SELECT public.sf_alter_owner('gone', 'reader'), public.sf_reassign_owned('reader', 'postgres');
SELECT public.sf_grant('START', 'flow', 'reader'), public.sf_grant('READ', 'flow', 'public'),
	public.sf_grant('WORK', 'activity:act', 'reader');
SELECT public.sf_revoke('START', 'flow', 'reader');
SELECT public.sf_map_resource('arn:other:*', 'sql:app.echo'), public.sf_unmap_resource('arn:other:*');
SELECT public.sf_drop_state_machine('gone', true);
SELECT public.sf_schedule('nightly', '0 2 * * *', 'flow', '{"a": 1, "list": []}');
SELECT _sfflow.run_schedule('nightly');
SELECT public.sf_create_calendar('bank', '{"Closed": ["01-01"]}', '{"OpenDays": [-1]}');
SELECT * FROM public.sf_calendar_days('bank', '2025-01-01', '2025-01-31');
TABLE public.sf_calendars;
SELECT public.sf_drop_calendar('bank');
SELECT public.sf_backfill('nightly', pg_catalog.now() OPERATOR(pg_catalog.-) '2 days'::pg_catalog.interval,
	pg_catalog.now());
SELECT * FROM public.sf_schedule_preview('nightly', pg_catalog.now(),
	pg_catalog.now() OPERATOR(pg_catalog.+) '3 days'::pg_catalog.interval);
TABLE public.sf_schedules;
SELECT * FROM public.sf_night();
SELECT public.sf_add_node(0, 'here'), public.sf_add_node(1, 'there', 'host=/nowhere');
SELECT public.sf_all_executions(), public.sf_all_executions('{"a": "b"}'::pg_catalog.jsonb),
  public.sf_all_jobs(), public.sf_all_metrics(), public.sf_all_night(),
	public.sf_all_alerts();
SELECT public.sf_apply_all('{"format": 1, "name": "twin"}');
SELECT public.sf_apply_all();
TABLE public.sf_nodes;
SELECT * FROM public.sf_node_addresses();
SELECT public.sf_drop_node(0), public.sf_drop_node(1);
SELECT public.sf_set_deadline('schedule:nightly', '02:10', '06:00', 'Asia/Tokyo'),
	public.sf_set_deadline('flow/Echo', '00:00');
SELECT _sfflow.check_deadlines(pg_catalog.now() OPERATOR(pg_catalog.+) '2 days'::pg_catalog.interval);
TABLE public.sf_deadlines;
TABLE public.sf_late;
SELECT public.sf_acknowledge('flow/Echo'), public.sf_drop_deadline('flow/Echo');
SELECT public.sf_unschedule('nightly');
EOS

run_all('workers', <<'EOS');
SELECT public.sf_start('flow', '{"a": 1, "list": [1, 2, 3]}', 'by-workers');
SELECT public.sf_start('flow', '{"a": 1, "list": [1, 2, 3]}', 'by-workers');
SELECT public.sf_await('flow:by-workers', '180 s'), public.sf_await('late:a', '180 s');
SELECT public.sf_disable();
EOS
is(safely('tenancy', q(SELECT status FROM public.sf_executions WHERE execution_id IN ('flow:by-workers', 'late:a')
	ORDER BY status)),
	"SUCCEEDED\nTIMED_OUT", 'workers have run what they should');

run_all('steps in the session', <<'EOS');
SELECT public.sf_start('flow', '{"a": 1, "list": [1, 2, 3]}', 'here');
SELECT public.sf_step('flow:here') FROM pg_catalog.generate_series(1, 4);
SELECT * FROM public.sf_progress('flow:here');
SELECT * FROM public.sf_compare('flow:by-workers', 'flow:here');
SELECT * FROM public.sf_grid('flow');
SELECT public.sf_run('flow:here', true);
SELECT public.sf_start('bad', '{}', 'a'), public.sf_run('bad:a');
SELECT public.sf_redrive('bad:a'), public.sf_run('bad:a');
SELECT public.sf_start('bad', '{}', 'b'), public.sf_stop('bad:b', 'E', 'c');
SELECT public.sf_set_alias('bad', 'prod', '{"1": 100}'), public.sf_start('bad/prod', '{}', 'alias'),
	public.sf_drop_alias('bad', 'prod');
SELECT public.sf_diff_versions('bad', 1, 1), public.sf_migrate('bad:alias', 1, '{}');
SELECT * FROM public.sf_redrive_many('bad', 'ABORTED', 'E', '2000-01-01', 1, 'again');
SELECT * FROM public.sf_stop_many('bad', 'RUNNING', NULL, '2000-01-01', 1, 'enough');
SELECT * FROM public.sf_stop_many(error => 'E');
SELECT public.sf_hold('flow', 'Echo', 'r'), public.sf_hold('bad:b'), public.sf_hold('sql:a.b'), public.sf_run('bad:b');
SELECT * FROM public.sf_holds;
SELECT public.sf_set_limit('flow', '$.k', 1), public.sf_set_limit('flow/Echo', max_running => 1, rate => 5),
	public.sf_set_limit('sql:a.b', max_running => 1, on_limit => 'fail');
SELECT * FROM public.sf_limits;
SELECT * FROM public.sf_limit_waits;
SELECT public.sf_drop_limit('flow', '$.k'), public.sf_drop_limit('flow/Echo'), public.sf_drop_limit('sql:a.b');
SELECT public.sf_start('flow', '{"a": 1, "list": []}', 'marked');
SELECT public.sf_mark('flow:marked', 'Echo', 'skip', NULL, 'r');
SELECT public.sf_stop('flow:marked');
SELECT public.sf_release('flow', 'Echo'), public.sf_release('bad:b'), public.sf_release('sql:a.b');
SELECT * FROM public.sf_audit;
SELECT public.sf_enable();
SELECT public.sf_await(execution_id, '180 s') FROM public.sf_executions
WHERE state_machine OPERATOR(pg_catalog.=) 'bad' AND status OPERATOR(pg_catalog.=) 'RUNNING';
SELECT public.sf_create_rule('watch', '{"detail": {"status": ["SUCCEEDED", {"numeric": [">", 1]}],
	"input": [{"prefix": {"equals-ignore-case": "{"}}, {"cidr": "::1/8"}]}}', 'flow',
	'{"a": 1, "list": [], "of.$": "$.detail.name"}');
SELECT public.sf_create_rule('named', '{"source": ["sfflow.events"]}', 'flow', NULL, '$.detail.key', 'skip');
SELECT public.sf_create_rule('gone', '{"source": ["aws.states"]}', 'notify:bell');
SELECT * FROM public.sf_apply(public.sf_export_definitions());
SELECT * FROM public.sf_apply('{"format": 1, "name": "n", "revision": 1,
	"resources": [{"pattern": "arn:aws:lambda:twin",
	"resource": "sql:app.echo"}], "state_machines": {"made": {"definition": ["{\"StartAt\": \"A\",",
	"\"States\": {\"A\": {\"Type\": \"Succeed\"}}}"], "aliases": {"live": {"1": 100}}, "grants": {"READ":
	["public"]}}}}', true, true);
SELECT public.sf_test_event_pattern('{"a": [{"wildcard": "x*"}]}', '{"a": "xy"}');
SELECT public.sf_start('flow', '{"a": 1, "list": []}', 'due');
SELECT public.sf_start_many('flow', ARRAY['{"a": 1, "list": []}']::pg_catalog.jsonb[], ARRAY['due']),
	public.sf_start_many('flow', 'SELECT pg_catalog.to_jsonb(1), ''due''::pg_catalog.text', 'skip');
CALL public.sf_run_due(1000);
CALL public.sf_wait('flow:due', '180 s');
CALL public.sf_wait_change(0, '1 s');
TABLE public.sf_rules;
TABLE public.sf_rule_deliveries;
SELECT public.sf_alter_owner('rule:gone', 'postgres'), public.sf_redeliver('gone'),
	public.sf_discard_deliveries('gone');
SELECT public.sf_drop_rule('gone'), public.sf_drop_rule('watch'), public.sf_drop_rule('named');
SELECT public.sf_disable();
EOS
is(safely('tenancy', q(SELECT string_agg(status, ' ' ORDER BY execution_id) FROM public.sf_executions
	WHERE execution_id IN ('flow:here', 'flow:due'))),
	'SUCCEEDED SUCCEEDED', 'they have run to their end');

# Five answered tasks, one that takes far longer, one that dies, one that nobody polls, one that fails, branches that
# are overdue.
run_all('items of a Map', <<'EOS');
SELECT public.sf_start('items', '{}', 'x'), public.sf_run('items:x');
SELECT task_token FROM public.sf_get_activity_task('act', 'w', 1, true) \gset
SELECT public.sf_send_task_items(:'task_token', '[1]');
SELECT public.sf_send_task_success(:'task_token', '1');
SELECT public.sf_run('items:x');
EOS
run_all('activities', join '', map { <<"EOS" } 1 .. 8);
SELECT public.sf_start('out', '{}', '$_'), public.sf_run('out:$_');
EOS
run_all('answers', (join '', map { <<"EOS" } 1 .. 5) . <<'EOS');
SELECT task_token FROM public.sf_get_activity_task('act', 'w') \\gset
SELECT public.sf_send_task_heartbeat(:'task_token');
SELECT public.sf_send_task_success(:'task_token');
SELECT public.sf_run('out:$_');
EOS
SELECT task_token FROM public.sf_get_activity_task('act', 'w') \gset
SELECT public.sf_send_task_failure(:'task_token', 'E', 'c');
SELECT public.sf_run('out:6');
SELECT task_token FROM public.sf_get_activity_task('act', 'w') \gset
EOS
safely('tenancy', <<'EOS');
UPDATE _sfflow.task SET started_at = now() - interval '1 h', lease_until = now() - interval '1 s' WHERE status = 1;
UPDATE _sfflow.branch SET due_at = now() - interval '1 min'
	WHERE (execution_no, branch_no) IN (SELECT execution_no, branch_no FROM _sfflow.task WHERE status = 1);
EOS
run_all('a dead letter', "SELECT public.sf_run('out:7');");
run_all('two that are due', "SELECT public.sf_start('out', '{}', 'x'), public.sf_start('out', '{}', 'y'),
	public.sf_start('out', '{}', 'z'), public.sf_run('out:z');");
run_all('one that is slow', "SELECT task_token FROM public.sf_get_activity_task('act', 'w');");
safely('tenancy', <<'EOS');
UPDATE _sfflow.task SET started_at = now() - interval '1 h' WHERE status = 1;
UPDATE _sfflow.task SET scheduled_at = now() - interval '1 h' WHERE status = 0;
UPDATE _sfflow.activity SET last_polled_at = now() - interval '1 h';
UPDATE _sfflow.branch SET due_at = now() - interval '1 h' WHERE due_at < now();
EOS
safely('tenancy', q(UPDATE _sfflow.state_machine SET owner = 4000000 WHERE name = 'late'));

# Every view, with the rows that take its every function.
my @views = split /\n/, safely('tenancy', <<'EOS');
SELECT c.relname FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
	AND d.deptype = 'e'
WHERE c.relkind = 'v' AND c.relnamespace = 'public'::regnamespace
	AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'sfflow')
EOS
cmp_ok(scalar @views, '>=', 15, 'there are views');
run_all("view $_", "TABLE public.$_;") for @views;
is(safely('tenancy', q(SELECT string_agg(DISTINCT kind, ' ' ORDER BY kind) FROM public.sf_alerts)),
	'dead_letter failed failed_again no_poller overdue slow_task timed_out unknown_owner',
		'there is an alert of each kind');

run_all('operation', <<'EOS');
SELECT public.sf_acknowledge('bad:a', NULL, 'known'), public.sf_acknowledge_all('flow', '2125-02-05');
TABLE public.sf_acknowledgements;
TABLE public.sf_job_times;
TABLE public.sf_metrics_by_hour;
TABLE public.sf_execution_time_buckets;
SELECT public.sf_prometheus();
TABLE public.sf_retries;
SELECT public.sf_check();
SELECT public.sf_list_audit(), public.sf_list_audit('flow', 'create', 'nobody');
SELECT public.sf_list_executions(), public.sf_list_executions('flow', 'RUNNING'),
	public.sf_list_executions('flow', 'FAILED', 'E');
SELECT public.sf_start('flow', '{}', options => '{"name": "twin-options", "labels": {"a": 1}}'),
	public.sf_start_many('flow', ARRAY['{}']::pg_catalog.jsonb[], ARRAY['twin-many'],
		options => '{"labels": {"a": 1}}'),
	public.sf_set_labels('flow:twin-options', '{"a": 2, "b": null}');
SELECT public.sf_start('flow', '{}', options => '{"name": "twin-trace",
	"trace": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}');
SELECT public.sf_stop('flow:twin-trace');
SELECT public.sf_take_spans(), public.sf_confirm_spans('{1}'), public.sf_reject_spans('{2}', 'refused');
SELECT public.sf_list_executions(labels => '{"a": 2}'), public.sf_stop_many(labels => '{"a": 2}');
SELECT public.sf_redrive_many(labels => '{"a": 2}');
TABLE public.sf_labels;
TABLE public.sf_traces;
SELECT public.sf_create_activity('archive-twin'), public.sf_create_state_machine('old', '{"StartAt": "S",
	"States": {"S": {"Type": "Fail", "Error": "E"}}}',
	options => '{"retention": "0 s", "archive": "activity:archive-twin"}');
SELECT public.sf_start('old', '{}', 'o'), public.sf_run('old:o');
SELECT batch FROM public.sf_take_archive_batch('archive-twin', 'me', 10) \gset
SELECT public.sf_read_archive_batch(:'batch'), public.sf_read_archive_batch(:'batch', 0, 1);
SELECT public.sf_redrive_many('old');
SELECT public.sf_confirm_archive_batch(:'batch', 'f', 1, 's');
TABLE public.sf_archive_batches;
SELECT public.sf_leave_start_key('flow:twin-options');
TABLE public.sf_start_keys;
SELECT public.sf_list_executions(name_prefix => 'h'), public.sf_list_executions(parent_execution_id => 'flow:here');
SELECT public.sf_graph('flow', 'dot'), public.sf_graph('flow:here'), public.sf_graph('flow:here', 'svg');
SELECT public.sf_graph_layout('flow'), public.sf_graph_status('flow:here'), public.sf_console_actions(),
	public.sf_console_session(), public.sf_mcp_as('postgres', 'tools/list', '{}'),
	public.sf_console_api_as('postgres', 'execution', '{"execution_id": "flow:here"}');
SELECT public.sf_mcp_as('postgres', 'tools/call', '{"name": "tonight", "arguments": {}}'),
	public.sf_mcp_as('postgres', 'tools/call', '{"name": "late_or_failing", "arguments": {}}'),
	public.sf_mcp_as('postgres', 'tools/call', '{"name": "list_executions", "arguments": {}}'),
	public.sf_mcp_as('postgres', 'tools/call', '{"name": "waiting_on", "arguments": {}}'),
	public.sf_mcp_as('postgres', 'tools/call', '{"name": "list_state_machines", "arguments": {}}'),
	public.sf_mcp_as('postgres', 'tools/call',
		'{"name": "why_did_it_fail", "arguments": {"execution_id": "flow:here"}}'),
	public.sf_mcp_as('postgres', 'tools/call',
		'{"name": "execution_status", "arguments": {"execution_id": "flow:here"}}'),
	public.sf_mcp_as('postgres', 'tools/call', '{"name": "waiting_on", "arguments": {"execution_id": "flow:here"}}'),
	public.sf_mcp_as('postgres', 'tools/call',
		'{"name": "state_machine_definition", "arguments": {"state_machine": "flow"}}');
SELECT public.sf_console_api('tonight', '{}'), public.sf_console_api('night', '{}'),
	public.sf_console_api('executions', '{}'), public.sf_console_api('alerts', '{}'),
	public.sf_console_api('machines', '{}'), public.sf_console_api('schedules', '{}'),
	public.sf_console_api('activities', '{}'), public.sf_console_api('operations', '{}');
SELECT public.sf_console_api('execution',
	'{"execution_id": "flow:here", "state": "P", "what": "input", "target": "flow"}'),
	public.sf_console_api('jobs', '{"execution_id": "flow:here", "state": "P", "what": "input", "target": "flow"}'),
	public.sf_console_api('timeline', '{"execution_id": "flow:here", "state": "P", "what": "input", "target": "flow"}'),
	public.sf_console_api('state', '{"execution_id": "flow:here", "state": "P", "what": "input", "target": "flow"}'),
	public.sf_console_api('events', '{"execution_id": "flow:here", "state": "P", "what": "input", "target": "flow"}'),
	public.sf_console_api('payload', '{"execution_id": "flow:here", "state": "P", "what": "input", "target": "flow"}'),
	public.sf_console_api('layout', '{"execution_id": "flow:here", "state": "P", "what": "input", "target": "flow"}');
SELECT public.sf_console_api('machine', '{"state_machine": "flow"}'),
	public.sf_console_api('diff', '{"state_machine": "flow", "a": 1, "b": 1}');
SELECT public.sf_console_api('validate', '{"definition": "{}"}'),
	public.sf_console_api('test_state', '{"definition": "{\"Type\": \"Pass\", \"End\": true}"}');
SELECT public.sf_console_api('plan', '{"execution_id": "bad:a"}'),
	public.sf_console_api('plan', '{"execution_id": "bad:a", "from_state": "F"}');
SELECT public.sf_console_api('hold', '{"targets": ["flow", "none"]}'),
	public.sf_console_api('release', '{"targets": ["flow"]}');
SELECT public.sf_console_api('acknowledge', '{"targets": ["bad:a"]}'),
	public.sf_console_api('start', '{"state_machine": "flow", "name": "console"}');
SELECT public.sf_validate('{}', '{"strict": true, "service_quotas": true}');
SELECT public.sf_missing_resources('{"States": {"A": {"Type": "Task", "Resource": "arn:other:a"}}}');
SELECT public.sf_missing_resources('{"Resources": {"A": {"Type": "AWS::StepFunctions::Activity"}}}', '{}');
SELECT public.sf_from_yaml('a: 1');
SELECT public.sf_import_jobs($$ SELECT * FROM (VALUES ('load', NULL), ('sum', 'load')) AS v (job, predecessor) $$,
	'{"Resource": "activity:a"}');
SELECT public.sf_import('{"StartAt": "A", "States": {"A": {"Type": "Succeed", "Comment": "${A}"}}}', '{"A": "a"}',
	'imported');
SELECT access_key_id FROM public.sf_create_access_key('postgres') \gset
SELECT public.sf_access_key(:'access_key_id');
SELECT public.sf_drop_access_key(:'access_key_id');
SELECT public.sf_aws_api('CreateStateMachine',
	'{"name": "api", "definition": "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}}",
	"roleArn": "arn:aws:iam::000000000000:role/r", "publish": true, "tags": [{"key": "a", "value": "b"}]}');
SELECT public.sf_aws_api('UpdateStateMachine',
	'{"stateMachineArn": "arn:aws:states:::stateMachine:api", "roleArn": "arn:aws:iam::000000000000:role/s",
	"publish": true}');
SELECT public.sf_aws_api('DescribeStateMachine', '{"stateMachineArn": "arn:aws:states:::stateMachine:api:2"}');
SELECT public.sf_aws_api('ListStateMachines'), public.sf_aws_api('ListActivities');
SELECT public.sf_aws_api('CreateStateMachineAlias',
	'{"name": "prod", "routingConfiguration": [{"stateMachineVersionArn": "arn:aws:states:::stateMachine:api:1",
	"weight": 100}]}');
SELECT public.sf_aws_api('ListStateMachineAliases', '{"stateMachineArn": "arn:aws:states:::stateMachine:api:1"}');
SELECT public.sf_aws_api('ListStateMachineVersions', '{"stateMachineArn": "arn:aws:states:::stateMachine:api"}');
SELECT public.sf_aws_api('UntagResource', '{"resourceArn": "arn:aws:states:::stateMachine:api", "tagKeys": ["a"]}');
SELECT public.sf_aws_api('StartExecution',
	'{"stateMachineArn": "arn:aws:states:::stateMachine:api:prod", "name": "a"}'), public.sf_run('api:a');
SELECT public.sf_aws_api_as('postgres', 'ListExecutions', '{"stateMachineArn": "arn:aws:states:::stateMachine:api"}');
SELECT public.sf_aws_list_as('postgres', '{"stateMachineArn": "arn:aws:states:::stateMachine:api"}');
SELECT public.sf_aws_api('GetExecutionHistory', '{"executionArn": "arn:aws:states:::execution:api:a"}');
SELECT public.sf_aws_api('ListExecutions',
	'{"stateMachineArn": "arn:aws:states:::stateMachine:api:prod", "statusFilter": "FAILED"}');
SELECT public.sf_aws_api('DescribeStateMachineForExecution', '{"executionArn": "arn:aws:states:::execution:api:a"}'),
	public.sf_aws_api('ListMapRuns', '{"executionArn": "arn:aws:states:::execution:api:a"}');
SELECT public.sf_aws_api('CreateActivity', '{"name": "api", "tags": [{"key": "a", "value": "b"}]}'),
	public.sf_aws_api('DescribeActivity', '{"activityArn": "arn:aws:states:::activity:api"}');
SELECT public.sf_purge('0 s', 1), public.sf_purge('0 s');
CALL public.sf_purge_due();
CALL public.sf_move_key();
SELECT public.sf_enable(), public.sf_set_node(1), public.sf_find_home('a'), public.sf_version();
CALL public.sf_run_due(0);
EOS

run_all('expressions', <<'EOS');
SELECT public.sf_jsonpath('$.a', '{"a": 1}'), public.sf_intrinsic('States.Format(''{}'', $.a)', '{"a": 1}');
SELECT public.sf_jsonata('$sum(a) & "x"', '{"a": [1, 2]}');
SELECT public.sf_test_state('{"Type": "Task", "Resource": "sql:app.echo", "End": true}', '{"a": 1}');
SELECT public.sf_dynamodb_condition('a = :b', '{"a": {"S": "x"}}', NULL, '{":b": {"S": "x"}}');
SELECT public.sf_dynamodb_key('a = :b', NULL, '{":b": {"S": "x"}}');
SELECT public.sf_dynamodb_update('SET a = :b', '{"a": {"S": "x"}}', NULL, '{":b": {"S": "x"}}');
SELECT public.sf_dynamodb_project('a', '{"a": {"S": "x"}}');
EOS

# What stands in for AWS.
run_all('AWS', <<'EOS');
SELECT public.sf_aws_install();
SELECT sfflow_aws.create_table('t', 'k', 's'), sfflow_aws.create_queue('q', 'activity:act'),
	sfflow_aws.create_topic('t', 'activity:act'), sfflow_aws.put_instance('i', 'act');
SELECT sfflow_aws.put_rule('r', '{"source": ["x"], "detail": {"n": [{"numeric": [">", 1]}], "p": [{"prefix": "a"}]}}',
	'activity:act');
SELECT sfflow_aws.create_bucket('buck'), sfflow_aws.put_object('buck', 'k', pg_catalog.convert_to('{"a": 1}', 'UTF8')),
	sfflow_aws.append_object('buck', 'k', pg_catalog.convert_to(' ', 'UTF8')),
	sfflow_aws.grant_bucket('buck', 'public'), sfflow_aws.revoke_bucket('buck', 'public'),
		sfflow_aws.get_object('buck', 'k');
SELECT sfflow_aws.object_lines('buck', 'k');
SELECT public.sf_create_state_machine('aws', '{"StartAt": "PutObject", "States": {
  "PutObject": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:putObject", "Parameters": {"Bucket": "buck",
  	"Key": "p/o", "Body": {"a": 1}, "Metadata": {"m": "1"}}, "ResultPath": null, "Next": "CopyObject"},
  "CopyObject": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:copyObject", "Parameters": {"Bucket": "buck",
  	"Key": "p/c", "CopySource": "buck/p%2Fo"}, "ResultPath": null, "Next": "GetObject"},
  "GetObject": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Parameters": {"Bucket": "buck",
  	"Key": "p/c", "Range": "bytes=1-"}, "ResultPath": null, "Next": "HeadObject"},
  "HeadObject": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:headObject", "Parameters": {"Bucket": "buck",
  	"Key": "p/c"}, "ResultPath": null, "Next": "ListObjects"},
  "ListObjects": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:listObjectsV2",
  	"Parameters": {"Bucket": "buck", "Prefix": "p", "Delimiter": "/", "MaxKeys": 1}, "ResultPath": null,
  	"Next": "DeleteObject"},
  "DeleteObject": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:deleteObject",
  	"Parameters": {"Bucket": "buck", "Key": "p/o"}, "ResultPath": null, "Next": "Files"},
  "Files": {"Type": "Map", "ItemReader": {"Resource": "arn:aws:states:::s3:listObjectsV2",
  	"Parameters": {"Bucket": "buck", "Prefix": "p/"}, "ReaderConfig": {"InputType": "JSON",
  	"Transformation": "LOAD_AND_FLATTEN"}},
    "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P",
    	"States": {"P": {"Type": "Pass", "End": true}}},
    "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "buck",
    	"Prefix": "results"}}, "ResultPath": null, "Next": "MissingObject"},
  "MissingObject": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject",
  	"Parameters": {"Bucket": "buck", "Key": "none"}, "Catch": [{"ErrorEquals": ["S3.NoSuchKeyException"],
  	"ResultPath": null, "Next": "Query1"}], "End": true},
  "Query1": {"Type": "Task", "Resource": "arn:aws:states:::athena:startQueryExecution.sync",
  	"Parameters": {"QueryString": "SELECT 1 AS a, true AS b", "ResultConfiguration": {"OutputLocation": "s3://buck/q"}},
  	"ResultPath": "$.q", "Next": "Result1"},
  "Result1": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryResults",
  	"Parameters": {"QueryExecutionId.$": "$.q.QueryExecution.QueryExecutionId"}, "ResultPath": null, "Next": "Query2"},
  "Query2": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution",
  	"Parameters": {"QueryString": "SELECT none"}, "ResultPath": "$.q", "Next": "Get2"},
  "Get2": {"Type": "Task", "Resource": "arn:aws:states:::athena:getQueryExecution",
  	"Parameters": {"QueryExecutionId.$": "$.q.QueryExecutionId"}, "ResultPath": null, "Next": "Put"},
  "Put": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:putItem", "Parameters": {"TableName": "t",
  	"Item": {"k": {"S": "a"}, "s": {"N": "1"}}, "ConditionExpression": "attribute_not_exists(k)"}, "ResultPath": null,
  	"Next": "Get"},
  "Get": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:getItem", "Parameters": {"TableName": "t",
  	"Key": {"k": {"S": "a"}, "s": {"N": "1"}}}, "ResultPath": null, "Next": "Update"},
  "Update": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:updateItem", "Parameters": {"TableName": "t",
  	"Key": {"k": {"S": "a"}, "s": {"N": "1"}}, "UpdateExpression": "SET v = :v",
  	"ExpressionAttributeValues": {":v": {"N": "2"}}, "ReturnValues": "UPDATED_NEW"}, "ResultPath": null,
  	"Next": "Query"},
  "Query": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:query", "Parameters": {"TableName": "t",
  	"KeyConditionExpression": "k = :k", "ExpressionAttributeValues": {":k": {"S": "a"}}}, "ResultPath": null,
  	"Next": "Scan"},
  "Scan": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:scan", "Parameters": {"TableName": "t"},
  	"ResultPath": null, "Next": "Delete"},
  "Delete": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:deleteItem", "Parameters": {"TableName": "t",
  	"Key": {"k": {"S": "a"}, "s": {"N": "1"}}}, "ResultPath": null, "Next": "Send"},
  "Send": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "q",
  	"MessageBody": "x"}, "ResultPath": null, "Next": "Publish"},
  "Publish": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"TopicArn": "t",
  	"Message": "x"}, "ResultPath": null, "Next": "Event"},
  "Event": {"Type": "Task", "Resource": "arn:aws:states:::events:putEvents", "Parameters": {"Entries": [{"Source": "x",
  	"DetailType": "d", "Detail": {"n": 2, "p": "ab"}}]}, "ResultPath": null, "Next": "Command"},
  "Command": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:ssm:sendCommand",
  	"Parameters": {"DocumentName": "AWS-RunShellScript", "InstanceIds": ["i"], "Parameters": {"commands": ["true"]}},
  	"ResultPath": "$.c", "Next": "Invocation"},
  "Invocation": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:ssm:getCommandInvocation",
  	"Parameters": {"CommandId.$": "$.c.Command.CommandId", "InstanceId": "i"}, "ResultPath": null, "Next": "Missing"},
  "Missing": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:getItem", "Parameters": {"TableName": "none",
  	"Key": {}}, "Catch": [{"ErrorEquals": ["DynamoDB.ResourceNotFoundException"], "Next": "Token"}], "End": true},
  "Token": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:sfn:sendTaskSuccess", "Parameters": {"TaskToken": "x",
  	"Output": "{}"}, "Catch": [{"ErrorEquals": ["Sfn.InvalidTokenException"], "Next": "Done"}], "End": true},
  "Done": {"Type": "Succeed"}}}');
SELECT public.sf_start('aws', '{}', 'here'), public.sf_run('aws:here');
SELECT public.sf_start('aws', '{}', 'workers');
SELECT public.sf_await('aws:workers', '180 s');
SELECT sfflow_aws.delete_rule('r'), sfflow_aws.drop_table('t'), sfflow_aws.drop_bucket('buck', true),
	sfflow_aws.drop_queries('0 s');
EOS
is(safely('tenancy', q(SELECT string_agg(status || coalesce(error || cause, ''), ' ') FROM public.sf_executions
	WHERE execution_id IN ('aws:here', 'aws:workers'))),
	'SUCCEEDED SUCCEEDED', 'they have run to their end');
run_all('AWS again', 'SELECT public.sf_aws_uninstall()');

my @left = grep { $said !~ /\bpublic\.$_\(/ } split /\n/, safely('tenancy', <<'EOS');
SELECT p.proname FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	AND d.deptype = 'e'
WHERE p.pronamespace = 'public'::regnamespace AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'sfflow')
EOS
is("@left", 'sf_raise', 'every function was called here, but the one that app.fail calls');

# What a query of sfflow runs with, and what the session has afterwards, whether it went well or not.
safely('tenancy', <<'EOS');
CREATE TABLE app.noted (path text);
CREATE FUNCTION app.note() RETURNS trigger LANGUAGE plpgsql
	AS $$ BEGIN INSERT INTO app.noted VALUES (pg_catalog.current_setting('search_path')); RETURN NULL; END $$;
CREATE TRIGGER note AFTER INSERT ON _sfflow.privilege FOR EACH ROW EXECUTE FUNCTION app.note();
EOS
like(run_all('grant', "SELECT public.sf_grant('OPERATE', 'flow', 'reader');\nSHOW search_path;"),
	qr/^public, pg_catalog$/m, "the session's path is as it was");
is(safely('tenancy', 'SELECT path FROM app.noted'), 'pg_catalog, pg_temp', 'sfflow has a path of its own');
safely('tenancy', 'ALTER TABLE app.noted ADD CHECK (path IS NULL) NOT VALID');
is($node->safe_psql('tenancy', <<'EOS'), 'public, pg_catalog', "the session's path is as it was after a failure, too");
DO 'BEGIN PERFORM public.sf_grant($$READ$$, $$flow$$, $$reader$$); EXCEPTION WHEN check_violation THEN END';
SHOW search_path;
EOS
safely('tenancy', 'DROP TRIGGER note ON _sfflow.privilege');

# --- what the tenant makes under the name of something that sfflow reads

$node->safe_psql('tenancy', <<'EOS', extra_params => [ '-U', 'tenant' ]);
CREATE SCHEMA sfflow_aws;
CREATE VIEW sfflow_aws.resource AS SELECT NULL::pg_catalog.text AS pattern WHERE twins.refuse();
EOS
like(complaint('tenancy', 'SELECT public.sf_aws_uninstall()'),
	qr/schema sfflow_aws belongs to "tenant"/, "the tenant's schema is not taken for what sf_aws_install made");
like(complaint('tenancy', 'SELECT public.sf_aws_install()'),
	qr/schema "sfflow_aws" already exists/, 'nor built upon');
is(twins_ran(), '', 'and nothing in it was run');

# The schema's owner gives its name to another one, with a function by which a schedule would start.
my $schedule = q(SELECT _sfflow.run_schedule('s', '* * * * *', 'flow', '{"a": 1, "list": []}', NULL));
$node->safe_psql('four', "SELECT sf_create_state_machine('flow',
	'{\"StartAt\": \"P\", \"States\": {\"P\": {\"Type\": \"Pass\", \"End\": true}}}')");
$node->safe_psql('four', <<'EOS', extra_params => [ '-U', 'tenant' ]);
ALTER SCHEMA public RENAME TO renamed;
CREATE SCHEMA public;
CREATE FUNCTION public.sf_start(text, jsonb, text, text) RETURNS text LANGUAGE plpgsql
	AS $$ BEGIN INSERT INTO renamed.ran VALUES ('sf_start', current_user); RETURN 'fake'; END $$;
EOS
isnt($node->safe_psql('four', $schedule), 'fake', 'a schedule starts what it always did');
is($node->safe_psql('four', 'SELECT * FROM renamed.ran'), '', 'and nothing of the tenant');

# The installer's default privileges do not open the private schema.
$node->safe_psql('postgres', <<'EOS');
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC, reader;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO PUBLIC, reader;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC, reader;
CREATE EXTENSION sfflow;
EOS
is($node->safe_psql('postgres', <<'EOS'), '', 'default privileges open nothing of _sfflow');
SELECT c.relname FROM pg_class c, aclexplode(c.relacl) a WHERE c.relnamespace = '_sfflow'::regnamespace
	AND a.grantee <> c.relowner
UNION ALL SELECT 'the schema' WHERE has_schema_privilege('reader', '_sfflow', 'CREATE')
EOS

# A schema of the extension's name that is there before is not taken over.
$node->safe_psql('postgres', 'CREATE DATABASE taken OWNER tenant');
$node->safe_psql('taken', 'CREATE SCHEMA _sfflow', extra_params => [ '-U', 'tenant' ]);
like(complaint('taken', 'CREATE EXTENSION sfflow'), qr/schema "_sfflow" already exists/,
	"CREATE EXTENSION refuses a tenant's _sfflow");

$node->stop;
done_testing();
