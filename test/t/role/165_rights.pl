# The table of rights in docs/security.md is true: each call, tried by a role with one right, does what its cell says.
# Beside it: what no role may reach, tokens that were altered, and the workers' processes.
# needs: deadline trace rule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');

# The table: a call, and a cell for each role, which is "yes" or empty.
my ($table) = slurp_file("$FindBin::Bin/../../../docs/security.md") =~ /^## What each right allows$(.*?)^## /ms
	or die 'no table';
my @lines = map { [ map { s/^\s+|\s+$//gr } split /\|/, $_, -1 ] } $table =~ /^\|(.*)\|$/mg;
my (undef, @roles) = @{ shift @lines };
shift @lines;
is("@roles", '`owner` `START` `READ` `OPERATE` `WORK` `SEND` `CREATE` `nothing`',
	'the table has a column for each role');
@roles = map { tr/`//dr } @roles;

$node->safe_psql('postgres', <<'EOQ');
SELECT sf_disable(), sf_create_calendar('offices', '{}');
CREATE ROLE owner LOGIN; CREATE ROLE other;
CREATE ROLE "START" LOGIN; CREATE ROLE "READ" LOGIN; CREATE ROLE "OPERATE" LOGIN; CREATE ROLE "WORK" LOGIN;
	CREATE ROLE "SEND" LOGIN;
CREATE ROLE "CREATE" LOGIN; CREATE ROLE nothing LOGIN;
SET SESSION AUTHORIZATION owner;
SELECT sf_create_activity('shell');
SELECT sf_create_state_machine('nightly',
	'{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:shell", "End": true}}}');
SELECT sf_start('nightly', '{"secret": 1}', 'running'), sf_start('nightly', '{}', 'failed');
SELECT sf_run('nightly:running'), sf_stop('nightly:failed');
SELECT sf_grant('START', 'nightly', 'START'), sf_grant('READ', 'nightly', 'READ'),
	sf_grant('OPERATE', 'nightly', 'OPERATE'),
	sf_grant('WORK', 'activity:shell', 'WORK'), sf_grant('SEND', 'activity:shell', 'SEND');
SELECT count(*) FROM sf_create_access_key('owner');
SELECT sf_create_rule('watch', '{"source": ["aws.states"]}', 'nightly'), sf_set_deadline('nightly', '03:00'),
	sf_set_alias('nightly', 'live', '{"1": 100}');
RESET SESSION AUTHORIZATION;
SELECT sf_revoke('CREATE', '*', 'public'), sf_revoke('SEND', 'activity:shell', 'public'),
	sf_grant('CREATE', '*', 'CREATE');
INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, changed_at, created_at)
	VALUES ('plan', 'owner', '0 2 * * *', 'nightly', '{}', now(), now());
INSERT INTO _sfflow.lateness (target, deadline_at, due_by, finding, base_at, raised_at)
	VALUES ('nightly', now(), 'start', 'never_started', now(), now());
EOQ
my $token = $node->safe_psql('postgres', q(SELECT task_token FROM sf_get_activity_task('shell')));
$node->safe_psql('postgres', q(SELECT sf_redrive('nightly:failed'); SELECT sf_run('nightly:failed');
	SELECT sf_stop('nightly:failed')));
my $definition = '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}';

# Call something as a role, in a transaction that is rolled back; returns what it printed, and its error.
sub try_as
{
	my ($role, $call) = @_;
	my @call = $call =~ /^CALL/ ? ($call) : ('BEGIN', $call, 'ROLLBACK');
	my (undef, $out, $error) = $node->psql('postgres', join(';', @call),
		extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ]);
	return ($out, join '', $error =~ /^.*ERROR:.*$/mg);
}

for my $line (@lines)
{
	my ($call, @cells) = @$line;
	$call =~ tr/`//d;
	my $sql = $call =~ s/TOKEN/'$token'/r =~ s/DEFINITION/'$definition'/r
	  =~ s/START_REQUEST/'{"stateMachineArn": "arn:aws:states:::stateMachine:nightly", "name": "new"}'/r
	  =~ s/EXECUTION\b/'{"executionArn": "arn:aws:states:::execution:nightly:running"}'/r;
	$sql = "SELECT $sql" unless $sql =~ /^(?:SELECT|CALL) /;
	for my $n (0 .. $#roles)
	{
		my ($out, $error) = try_as($roles[$n], $sql);
		# A view shows no rows of what one may not see; anything else is an error.
		my $may = $error eq '' && !($sql =~ / FROM sf_/ && $out =~ /^0?$/);
		is($may ? 'yes' : '', $cells[$n], "$roles[$n]: $call") or diag("$out $error");
	}
}

# --- tokens

# Its secret, its number, its length.
for my $altered (substr($token, 0, -4) . 'AAAA', 'B' . substr($token, 1), substr($token, 0, 20), $token . 'AAAA', '')
{
	my (undef, $error) = try_as('WORK', "SELECT sf_send_task_success('$altered')");
	like($error, qr/ERROR:  SF0(?:19|20):/, 'a token that was altered is refused');
}

# --- what PUBLIC may call in the private schema: a function that is added here has to check its caller

my %checked = map {
	$_ => 1 } qw(apply_definition ask_nodes
  athena_rows aws_install_athena aws_install_dynamodb aws_install_eventbridge aws_install_s3
  aws_install_s3_api aws_install_sfn
  aws_install_sqs aws_install_ssm aws_resources branch_names can_read
  check_rule_input console_act_on_matches console_activities console_check_act console_count_matches console_fits
  console_listed console_matches console_plan_calendar console_plan_limit console_searches console_set_alias
  console_set_calendar
  console_ahead console_alerts console_answers console_bounded console_counts_of_all console_compare console_compared
  console_create_rule console_cut console_cuts_of_all console_deadlines console_diff console_each
  console_event_payload console_events console_execution console_executions console_failed_item console_failed_jobs
  console_first_of_all console_key console_page_of_all console_sums_of_all
  	console_grid console_held console_held_worklists console_holds console_inbox console_jobs console_layout
  	console_limit
  console_limits console_machine console_machines console_may_limit console_may_release console_merged
  console_merged_alerts console_merged_inbox console_merged_tonight console_missing console_night console_one
  	console_operations console_others
  console_payload console_plan console_plan_schedule console_progress console_rights console_rows_of_all
  console_rules console_schedule
  console_schedule_rows console_schedules console_set_limit console_set_schedule console_start console_state
  console_task
  	console_test_pattern
  	console_test_state
  console_timeline console_tonight console_tried console_validate console_waits crc32 cron_runs definition_text
  	executions_away health
  histogram_add histogram_below histogram_percentiles histogram_sum history history_event_page history_event_payload
  history_event_types history_events human_not_by human_task_rights
  	job_name job_relations jobs
  is_on_page jobs_ahead longest_running machine_rights map_run_arn may_create
  mcp_call mcp_check mcp_compare_with_last_good mcp_compared mcp_last_good mcp_pointers
  mcp_filter mcp_first_of_all mcp_merged mcp_part
  mcp_execution mcp_execution_status mcp_first mcp_late_or_failing mcp_list_executions
  mcp_list_state_machines mcp_more mcp_rows mcp_schema mcp_state_machine_definition mcp_text mcp_tonight mcp_tool_list
  mcp_tools mcp_waiting_for_people
  mcp_waiting_on mcp_waits mcp_what_would_redrive_run mcp_why_did_it_fail mcp_write missing_resources
  newest
  node_alerts node_apply node_executions node_jobs
  node_labelled node_metrics node_night node_number node_page nodes_seen propose_mapping put_version remove_definition
  	template_part_exists rule_input run_schedule schedule_latest schedule_next
  schedule_next_run schedule_status schedule_zone short_hash spans start_by_rule start_scheduled
  task_slots tasks_from took_ms unfolded_jobs
  unfolded_metrics unfolded_retries waiting_on workers);
my @open = split /\n/, $node->safe_psql('postgres', q(SELECT DISTINCT proname FROM pg_proc p
	WHERE pronamespace = '_sfflow'::regnamespace AND has_function_privilege('nothing', p.oid, 'EXECUTE')));
cmp_ok(@open, '>', 10, 'PUBLIC may execute some private functions');
is(join(' ', grep { !$checked{$_} } @open), '', '... and each of them is known to check its caller');
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass
	AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'sfflow' WHERE p.prosecdef)), '0',
		'no function is SECURITY DEFINER');
is($node->safe_psql('postgres', q(SELECT string_agg(c.oid::regclass::text, ' ') FROM pg_class c
	WHERE relnamespace = '_sfflow'::regnamespace AND relkind IN ('r', 'v', 'p', 'm')
	AND (has_table_privilege('nothing', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
		OR has_any_column_privilege('nothing', c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')))),
	'', 'no table or view of the private schema is open');

# --- ... and believes no owner that it is told

is((try_as('nothing', $_->[0]))[0], $_->[1], "$_->[0] tells nothing") for
  [ q(SELECT _sfflow.can_read('nightly', 'nothing')), 'f' ],
  [ q(SELECT _sfflow.machine_rights('nightly', 'nothing')), '{}' ],
  [ q(SELECT _sfflow.can_read('there is none', 'nothing')), 'f' ],
  [ q(SELECT _sfflow.machine_rights('there is none', 'nothing')), '{}' ];
is((try_as('OPERATE', q(SELECT _sfflow.machine_rights('nightly', 'nothing'))))[0], '{OPERATE}',
	'a role with a right is told of it');

# --- a tenant's machines reach no machine and no activity that the tenant has no right on, and its tasks no process

$node->safe_psql('postgres', <<'EOQ');
CREATE ROLE tenant LOGIN;
SELECT sf_grant('CREATE', '*', 'tenant');
SET SESSION AUTHORIZATION tenant;
SELECT sf_create_state_machine('feed', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:shell",
	"End": true}}}'),
	sf_create_state_machine('begin', '{"StartAt": "A", "States": {"A": {"Type": "Task",
		"Resource": "arn:aws:states:::states:startExecution",
		"Parameters": {"StateMachineArn": "nightly"}, "End": true}}}'),
	sf_create_state_machine('signal', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:query",
		"Parameters": {"Statement": "SELECT pg_terminate_backend(pg_backend_pid())"}, "End": true}}}');
RESET SESSION AUTHORIZATION;
SELECT sf_enable();
EOQ

# Run a machine of the tenant with workers; returns its status, error and cause.
sub run_as_tenant
{
	my ($machine, $name) = @_;
	my $printed = '';
	for ("SELECT sf_start('$machine', '{}', '$name')", "SELECT sf_await('$machine:$name', '180 s')",
		"SELECT concat_ws('|', status, error, cause) FROM sf_executions WHERE execution_id = '$machine:$name'")
	{
		$printed = $node->safe_psql('postgres', $_, extra_params => [ '-U', 'tenant' ]);
	}
	return $printed;
}

like(run_as_tenant('feed', 'a'), qr/^FAILED\|States.Runtime\|.*does not exist/,
	q(a tenant's machine gives no work to another owner's activity));
like(run_as_tenant('begin', 'a'), qr/^FAILED\|StepFunctions.StateMachineDoesNotExistException/,
	'... and starts none of its machines');
$node->safe_psql('postgres', q(SELECT sf_grant('READ', 'nightly', 'tenant'),
	sf_grant('SEND', 'activity:shell', 'tenant')));
like(run_as_tenant('feed', 'b'), qr/^FAILED\|States.Permissions/, 'nor with the right SEND');
like(run_as_tenant('begin', 'b'), qr/^FAILED\|StepFunctions.AccessDeniedException/, 'nor with the right READ');
like(run_as_tenant('signal', 'a'), qr/^FAILED\|insufficient_privilege/, 'a task cannot end the process of its worker');
for my $signal ('pg_terminate_backend', 'pg_cancel_backend')
{
	my (undef, $error) = try_as('tenant', "SELECT $signal(pid) FROM sf_workers WHERE pid IS NOT NULL");
	like($error, qr/ERROR:  42501:/, "$signal of a worker is refused");
}

# --- what the owner of a database sets for it reaches tasks, and neither the engine nor the superuser whose rights it
# has

$node->safe_psql('postgres', 'CREATE ROLE landlord LOGIN; CREATE DATABASE flat OWNER landlord');
$node->safe_psql('flat', <<'EOQ');
CREATE EXTENSION sfflow;
SET SESSION AUTHORIZATION tenant;
SELECT sf_create_state_machine('who', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:query",
	"Parameters": {"Statement": "SELECT current_user AS who, current_setting(''search_path'') AS path"},
		"End": true}}}');
EOQ
$node->safe_psql('flat', join(';', map { "ALTER DATABASE flat SET $_" } "role = 'landlord'",
	"session_authorization = 'landlord'", "search_path = 'trap'",
	'default_transaction_read_only = on', "default_transaction_isolation = 'serializable'", 'row_security = off',
		'statement_timeout = 1'),
	extra_params => [ '-U', 'landlord' ]);
# A timeout of a millisecond may end the statement that would lift it.
local $ENV{PGOPTIONS} = '-c statement_timeout=0';
my $freely = q(SET SESSION AUTHORIZATION postgres; SET ROLE none; SET default_transaction_read_only = off;
	SET default_transaction_isolation = 'read committed');
# Workers that are there have the settings of before.
my $before = $node->safe_psql('postgres', q(SELECT coalesce(string_agg(pid::text, ', '), '0') FROM pg_stat_activity
	WHERE datname = 'flat' AND backend_type LIKE 'sfflow worker%'));
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN ($before)");
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid IN ($before)"),
	'workers leave');
$node->safe_psql('flat', "$freely; SELECT public.sf_start('who', '{}', 'a')");
is($node->safe_psql('flat', "$freely; SELECT public.sf_await('who:a', '180 s')"), 'SUCCEEDED',
	'an execution runs whatever is set for its database');
is($node->safe_psql('flat', "$freely; SELECT output -> 'Rows' FROM public.sf_executions"),
	'[{"who": "tenant", "path": "trap"}]', q(its tasks run as the machine's owner));
is($node->safe_psql('flat', "$freely; SELECT count(*) FROM public.sf_check()"), '0', 'nothing is wrong');

no_surprises($node);
$node->stop;
done_testing();
