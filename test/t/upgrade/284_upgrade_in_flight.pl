# Executions that are in flight while library and schema change, with clients that go on calling and processes that are
# killed: nothing is done before the update, and nothing is lost or done twice after it. Rows are those that the release
# itself has written: in a dump that was kept when it was frozen; or, where test/platforms/updates has built its
# library, a thousand executions, three times, whose server is restarted with today's, and whose schedules miss a run
# meanwhile.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use POSIX ();
use PostgreSQL::Test::Utils;
use SfRelease;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $top = "$FindBin::Bin/../../..";
my ($current) = slurp_file("$top/sfflow.control") =~ /^default_version = '([^']*)'/m;
my @frozen = grep { $_ ne $current } map { m{frozen/([\d.]+)$} } glob "$top/test/frozen/*";
my $has_cron = -e library_folder() . '/pg_cron.so';
my $conf = "max_connections = 60\nlog_line_prefix = '%m [%p] %b %d '\nrestart_after_crash = on\n";

# Ask until there is an answer: the server may be starting again.
sub ask
{
	my ($node, $sql) = @_;
	my $error;
	for (1 .. 600)
	{
		# A psql that has found no server does not read what it is to run.
		(my $code, my $answer, $error) = eval { $node->psql('flight', $sql) };
		return $answer if defined $code && $code == 0;
		sleep 0.1;
	}
	die "no answer to $sql: " . ($error // $@);
}

# Ask until the answer is the wanted one.
sub ask_until
{
	my ($node, $sql, $wanted, $what) = @_;
	my $answer;
	for (1 .. 900)
	{
		$answer = ask($node, $sql);
		last if $answer eq $wanted;
		sleep 0.1;
	}
	is($answer, $wanted, $what);
}

# Kill a process that serves or drives the database, and wait until the server answers again.
sub kill_one
{
	my ($node) = @_;
	my @pids = split /\n/, ask($node, q(SELECT pid FROM pg_stat_activity
		WHERE backend_type IN ('client backend', 'sfflow worker', 'sfflow launcher') AND pid <> pg_backend_pid()));
	return 0 unless @pids;
	kill 'KILL', $pids[ rand @pids ];
	sleep 0.2;
	return ask($node, 'SELECT 1');
}

# Start executions in a process of its own, one after the other, until a file is there; write down those that were
# acknowledged.
sub start_client
{
	my ($node, $number, $folder) = @_;
	my $connection = $node->connstr('flight');
	my $pid = fork // die "fork: $!";
	return $pid if $pid;
	open my $done, '>', "$folder/done.$number" or POSIX::_exit(1);
	open STDERR, '>', "$folder/errors.$number";
	my $parent = getppid;
	for (my $i = 1; !-e "$folder/enough" && getppid == $parent; $i++)
	{
		my $answer = `psql -XAtqc "SELECT sf_start('task', '{}', 'load-$number-$i')" -d "$connection"`;
		syswrite $done, $answer if $answer =~ /^task:/;
		sleep 0.02;
	}
	POSIX::_exit(0);
}

# The folder of the libraries that a server can load.
sub library_folder
{
	chomp(my $folder = `\${PG_CONFIG:-pg_config} --pkglibdir`);
	return $folder;
}

# Let the schedule of each minute run once more after all this, end it, and write down the runs that there must have
# been.
sub end_schedule
{
	my ($node) = @_;
	my $since = ask($node, 'SELECT now()');
	ask_until($node, qq(SELECT count(*) > 0 FROM sf_executions WHERE state_machine = 'scheduled'
		AND to_timestamp(name || '+00', '"schedule-"YYYYMMDD"T"HH24MISS"Z"TZH') > '$since'), 't',
		'... the schedule goes on');
	ask($node, q(BEGIN;
		INSERT INTO wanted_run SELECT 'scheduled', to_char(run AT TIME ZONE 'UTC', '"schedule-"YYYYMMDD"T"HH24MISS"Z"')
		FROM _sfflow.schedule s
		CROSS JOIN generate_series(date_trunc('minute', s.changed_at) + interval '1 minute', now(), '1 minute') run
		WHERE s.name = 'minute';
		SELECT sf_unschedule('minute');
		COMMIT));
}

# Bring a database with rows of a release to today's schema, and see all of them through.
sub update_in_flight
{
	my ($node, $what, $is_copy, $has_schedules) = @_;
	my $untouched = q(SELECT md5(string_agg(e::text, ' ' ORDER BY execution_no)) FROM _sfflow.execution e);
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $running = ask($node, q(SELECT count(*) FROM _sfflow.execution));
	my $before = ask($node, $untouched);
	my $booked = ask($node, 'SELECT count(*) FROM ledger');
	my @clients = map { start_client($node, $_, $folder) } 1 .. 2;
	my (undef, undef, $error) = $node->psql('flight', q(SELECT sf_start('task')));
	like($error, qr/ALTER EXTENSION sfflow UPDATE/, "$what: $running executions; calls are refused");
	is(ask($node, 'SELECT string_agg(item, \' \') FROM sf_health'), 'version', '... and sf_health says only that');
	# The waits end meanwhile, and workers look more than once.
	my $until = time + ($is_copy ? 1 : 6);
	# pg_cron calls in vain at the next full minute.
	my $minute = 60 * (1 + int(time / 60)) + 2;
	$until = $minute if $has_schedules && $until < $minute;
	while (time < $until)
	{
		kill_one($node) unless $is_copy;
		sleep 0.5;
	}
	is(ask($node, $untouched) . ' ' . ask($node, 'SELECT count(*) FROM ledger'), "$before $booked",
		'... nothing is touched');

	kill_one($node);
	# That of a copy's roles is mended by sf_enable().
	is(ask($node, q(BEGIN; ALTER EXTENSION sfflow UPDATE; SELECT problem, execution_id FROM sf_check()
		WHERE problem <> 'role_droppable'; COMMIT)), '',
		'... the update leaves nothing that sf_check() would find');
	ask($node, 'SELECT sf_enable()') if $is_copy;
	kill_one($node) for 1 .. ($is_copy ? 1 : 3);
	like(ask($node, q(SELECT count(*) FROM sf_health WHERE item = 'version' AND ok)), qr/^1$/, '... it is updated');

	# What was waited for: answers with tokens that were handed out before, a repair, answers to what was queued.
	ask($node, 'ALTER TABLE repaired ADD IF NOT EXISTS done boolean');
	ask($node, q(SELECT sf_redrive_many(state_machine => 'failed') \g /dev/null));
	ask($node, "DO \$\$ DECLARE t text; BEGIN FOR t IN SELECT token FROM token LOOP PERFORM sf_send_task_success(t);
		END LOOP; END \$\$");
	kill_one($node);
	$until = time + 120;
	while (time < $until)
	{
		ask($node, q(SELECT count(sf_send_task_success(task_token)) FROM sf_get_activity_task('outside', 'late', 100)));
		last if ask($node, q(SELECT count(*) FROM sf_executions WHERE state_machine IN ('activity', 'place')
			AND status = 'RUNNING')) eq '0';
		sleep 0.2;
	}
	end_schedule($node) if $has_schedules;
	append_to_file("$folder/enough", '');
	waitpid $_, 0 for @clients;
	ask_until($node, q(SELECT count(*) FROM sf_executions WHERE status <> 'SUCCEEDED'), '0', '... all succeed')
	  or diag(ask($node, q(SELECT execution_id, status, error, cause FROM sf_executions WHERE status <> 'SUCCEEDED'
	  	LIMIT 20)));
	is(ask($node, q(SELECT * FROM differences WHERE name NOT LIKE 'load-%' LIMIT 20)), '',
		'... each step has been done once');
	my @acknowledged = map { split /\n/, slurp_file("$folder/done.$_") } 1 .. 2;
	cmp_ok(scalar @acknowledged, '>', 0, '... clients have started ' . scalar @acknowledged . ' more');
	my %there = map { $_ => 1 } split /\n/,
		ask($node, q(SELECT execution_id FROM sf_executions WHERE execution_id LIKE 'task:load-%'));
	is(join(' ', grep { !$there{$_} } @acknowledged), '', '... none of which is lost');
	is(ask($node, q(SELECT count(*) = count(DISTINCT (name, step)), count(*) = 2 * (SELECT count(*) FROM sf_executions
		WHERE execution_id LIKE 'task:load-%')
		FROM ledger WHERE name LIKE 'load-%')), 't|t', '... or has done a step twice');
	is(ask($node, 'SELECT * FROM sf_check()'), '', '... sf_check() finds nothing');
	is(ask($node, q(SELECT item, detail FROM sf_health WHERE NOT ok)), '', '... nor does sf_health');
	ok(!$node->log_contains(qr/terminated by signal (?!9)|PANIC|ERROR:  XX000/), '... nothing has crashed by itself');
}

cmp_ok(scalar @frozen, '>', 0, 'a release is out');
for my $version (@frozen)
{
	if (!$ENV{SFFLOW_LIBRARIES})
	{
		my $node = new_node('dump' . $version =~ s/\./_/r, bare => 1, conf => $conf);
		load_rows($node, 'flight', $version, $version);
		update_in_flight($node, $version, 1);
		$node->stop;
		next;
	}
	my $library = frozen_library($version);
	for my $round (1 .. 3)
	{
		my $node = own_server('place' . $version =~ s/\./_/r . "_$round",
			$conf . ($has_cron ? "shared_preload_libraries = 'sfflow, pg_cron'\ncron.database_name = 'flight'\n"
				. "cron.use_background_workers = on\n" : ''));
		my $today = PostgreSQL::Test::Utils::tempdir() . '/sfflow.so';
		get_library($node, $today);
		$node->stop;
		put_library($node, $library);
		$node->start;
		$node->safe_psql('postgres', 'CREATE DATABASE flight');
		$node->safe_psql('flight', "CREATE EXTENSION sfflow VERSION '$version'");
		$node->safe_psql('flight', "\\set n 77\n" . slurp_file("$top/test/fixtures/in_flight.sql"));
		$node->safe_psql('flight', slurp_file("$top/test/fixtures/schedules_in_flight.sql")) if $has_cron;
		note('not installed: pg_cron; no schedule is tried') if !$has_cron;
		like($node->safe_psql('flight', 'SELECT release FROM sf_version()'), qr/^\Q$version\E\./,
			"$version, round $round: its library has written the rows");
		put_library($node, $today);
		$node->restart;
		update_in_flight($node, "$version, round $round", 0, $has_cron);
		$node->stop;
	}
}
done_testing();
