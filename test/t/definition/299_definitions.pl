# Definitions as code: what one server exports makes the same of an empty one, byte for byte, schedules and rules
# included; sf_apply is quiet when nothing differs, converges after a failure, and two calls at once agree.
# needs: schedule deadline rule limit event human
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my %nodes = map {
	$_ => new_node($_, conf => <<'EOC') } qw(one two);
shared_preload_libraries = 'sfflow, pg_cron'
cron.database_name = 'postgres'
cron.use_background_workers = on
cron.launch_active_jobs = off
EOC
sub sql { my ($name, $sql) = @_; return $nodes{$name}->safe_psql('postgres', $sql) }

# Apply a document, given as text; extra: further arguments.
sub apply
{
	my ($name, $document, $extra) = @_;
	return sql($name, "SELECT * FROM sf_apply(\$doc\$$document\$doc\$" . ($extra // '') . ')');
}

sub exported { return sql(shift, 'SELECT sf_export_definitions()') }

for my $name (qw(one two))
{
	sql($name, <<'EOQ');
CREATE EXTENSION pg_cron;
CREATE ROLE shop LOGIN;
CREATE ROLE web;
GRANT USAGE ON SCHEMA cron TO shop;
SELECT sf_grant('CREATE', '*', 'shop');
EOQ
}
sql('one', <<'EOQ');
SET ROLE shop;
SELECT sf_create_state_machine('order', E'{"StartAt": "A",\n\t"States": {"A": {"Type": "Pass", "End": true}}}\n');
SELECT sf_create_state_machine('order', '{"StartAt": "B", "States": {"B": {"Type": "Task",
	"Resource": "activity:shell", "End": true}}}', or_replace => true,
	execution_id_path => '$.id', options => '{"history": "TASKS", "priority": 2}');
SELECT sf_set_alias('order', 'live', '{"1": 90, "2": 10}'), sf_grant('START', 'order', 'web'),
	sf_grant('READ', 'order', 'public'), sf_revoke('SEND', 'order', 'public');
SELECT sf_create_activity('shell', '5 min', 3), sf_grant('WORK', 'activity:shell', 'web');
SELECT sf_map_resource('arn:aws:lambda:*', 'activity:shell');
SELECT sf_set_limit('order/B', '$.tenant', 3), sf_set_limit('sql:shop.f', rate => 0.5, per => '1 min'),
	sf_set_limit('activity:shell', max_running => 7, on_limit => 'fail');
SELECT sf_create_event('paid', '36 hours', alert_unreceived => true), sf_grant('EMIT', 'event:paid', 'web');
SELECT sf_create_worklist('approve', '{"type": "object"}', '{"description": "by the book"}'),
	sf_grant('DO', 'human:approve', 'web');
SELECT sf_create_calendar('zz', '{"Weekdays": ["MON", "TUE"]}'), sf_create_calendar('aa', '{"Extends": "zz"}');
SELECT sf_schedule('nightly', '0 2 * * *', 'order/live', '{"a": null, "id": "x"}', timezone => 'Europe/Berlin',
	calendar => 'aa', on_closed => 'next', starts => '2026-01-01 00:00+01', overlap => 'queue');
SELECT sf_set_deadline('schedule:nightly', end_by => '06:00'), sf_set_deadline('order/B', start_by => '03:30',
	timezone => 'UTC', calendar => 'zz');
SELECT sf_create_rule('on_paid', '{"source": ["sfflow.events"]}', 'order', '{"id.$": "$.detail.key"}',
	'$.detail.key', 'resume'),
	sf_create_rule('ended', '{"detail": {"status": ["FAILED"]}}', 'notify:bell');
RESET ROLE;
SELECT sf_set_limit('sql:shop.f', max_running => 9);
EOQ
my $document = exported('one');
is(exported('one'), $document, 'an export is the same each time');
my @parts = split /\n/, apply('one', $document);
cmp_ok(scalar(@parts), '>', 25, 'it has objects of all kinds');
is(join("\n", grep { !/\|unchanged\|$/ } @parts), '', '... which are unchanged on the server that they come from');

# --- an empty server
my $dry = apply('two', $document, ', dry_run => true');
is(sql('two', 'SELECT count(*) FROM sf_state_machines'), '0', 'a dry run makes nothing');
is(sql('two', 'SELECT count(*) FROM cron.job'), '0', '... no job of pg_cron either');
my $done = apply('two', $document);
is($done, $dry, '... and tells what a run does');
is(exported('two'), $document, 'the other server exports the same bytes');
unlike(apply('two', $document), qr/created|\bchanged|removed/, 'a second call finds all unchanged');
is(sql('two', "SELECT count(*) FROM cron.job WHERE username = 'shop'"), '1', 'the schedule has its job');
is(sql('two', "SELECT definition::text FROM sf_state_machines WHERE version = 1"),
	sql('one', "SELECT definition::text FROM sf_state_machines WHERE version = 1"), 'definitions have their text');
is(sql('two', 'SELECT count(*) FROM sf_check()'), '0', 'sf_check finds nothing');
is(sql('two', 'SELECT count(*) FROM _sfflow.named_role r WHERE r.role::oid NOT IN (SELECT refobjid FROM pg_shdepend)
	AND r.role::oid >= 16384'), '0', 'roles are anchored');

# --- what runs there runs by it
sql('two', "SELECT sf_start('order', '{\"id\": \"r\"}')");
is(sql('two', 'SELECT version FROM sf_executions'), '2', 'the highest version is the one that starts take');

# --- servers that differ come together
sql('two', <<'EOQ');
SELECT sf_drop_rule('ended'), sf_set_limit('order/B', '$.tenant', 4), sf_unschedule('nightly'),
	sf_revoke('START', 'order', 'web'), sf_grant('READ', 'order', 'web'), sf_alter_owner('calendar:zz', 'web');
SELECT sf_create_rule('stray', '{"source": ["aws.states"]}', 'notify:bell');
EOQ
my $report = apply('two', $document, ', remove => true');
like($report, qr/^\Q$_\E$/m, $_) for 'rule|ended|created|', 'limit|order/B by $.tenant|changed|max_running: 4 -> 3',
	'schedule|nightly|created|', 'deadline|schedule:nightly|created|', 'grant|START on order to web|created|',
	'grant|READ on order to web|removed|', 'calendar|zz|changed|owner: web -> shop', 'rule|stray|removed|';
is(exported('two'), $document, 'and the export is the same again');

# --- a document that fails half way
my $bad = $document =~ s/"activity:shell", "pattern"|"resource": "activity:shell"/"resource": "nonsense"/r;
isnt($bad, $document, 'a document with a mistake');
$bad =~ s/"max_running": 3/"max_running": 2/;
my (undef, undef, $error) = $nodes{two}->psql('postgres', "SELECT * FROM sf_apply(\$doc\$$bad\$doc\$)");
like($error, qr{ERROR:.*\n(?:.*\n)*?.*definitions at "/resources/0"}, 'is refused with its place');
is(exported('two'), $document, '... and changes nothing');

# --- two at once, of an empty server
sql('two', <<'EOQ');
SELECT sf_stop(execution_id) FROM sf_executions;
EOQ
$nodes{two}->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'")
  or die 'the execution runs on';
my $gone = '{"format": 1, "rules": {}, "deadlines": {}, "schedules": {}, "limits": [], "state_machines": {},'
  . '"resources": [], "worklists": {}, "events": {}, "calendars": {}, "activities": {}}';
apply('two', $gone, ', remove => true');
is(sql('two', "SELECT sf_export_definitions() - 'digest'"),
	'{"format": 1, "grants": {"CREATE": ["shop"]}}', 'all that a document lacks can be removed');
my @sessions = map { $nodes{two}->background_psql('postgres', on_error_stop => 0) } 1 .. 2;
my $call = "SELECT count(*) FROM sf_apply(\$doc\$$document\$doc\$);\n";
$_->{run}->pump_nb() for @sessions;
for my $session (@sessions)
{
	$session->{stdin} .= "$call\\echo over\n";
	$session->{run}->pump_nb();
}
PostgreSQL::Test::Utils::pump_until($_->{run}, $_->{timeout}, \$_->{stdout}, qr/over/) for @sessions;
$_->quit for @sessions;
apply('two', $document);
is(exported('two'), $document, 'two calls at once, and one more if one of them failed, end with the document');

# --- a dump has what was applied
sql('two', q(SELECT * FROM sf_apply('{"format": 1, "name": "n", "revision": 7}')));
$nodes{two}->command_ok([ 'pg_dump', '-Fc', '-f', $nodes{two}->basedir . '/dump', 'postgres' ], 'a dump');
$nodes{one}->safe_psql('postgres', 'CREATE DATABASE copy');
$nodes{one}->command_ok([ 'pg_restore', '--exclude-schema=cron', '-L', list_without_cron(), '-d', 'copy',
	$nodes{two}->basedir . '/dump' ], '... is restored');
my (undef, undef, $older) = $nodes{one}->psql('copy',
	q(SELECT * FROM sf_apply('{"format": 1, "name": "n", "revision": 6}')));
like($older, qr/revision 6 .* is older/, '... and knows the revision');

# The contents of the dump but for pg_cron, which one database of a server can have.
sub list_without_cron
{
	my $list = $nodes{two}->basedir . '/list';
	my ($contents) = run_command([ 'pg_restore', '-l', $nodes{two}->basedir . '/dump' ]);
	open my $out, '>', $list or die;
	print $out join '', map { "$_\n" } grep { !/cron/ } split /\n/, $contents;
	close $out;
	return $list;
}
done_testing();
