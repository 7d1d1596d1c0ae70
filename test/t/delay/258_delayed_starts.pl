# Starts in the future, with workers: they begin at their time and not with the next poll, also after a crash and after
# COMMIT PREPARED; one whose transaction rolls back never begins; a dump has them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main',
	conf => "sfflow.workers = 2\nsfflow.poll_interval = '1h'\nmax_prepared_transactions = 10\n");

sub sql { return $node->safe_psql('postgres', shift) }

# Start an execution that begins after some seconds.
sub start
{
	my ($name, $delay, $around) = @_;
	my $start = qq(SELECT sf_start('later', '{}', options => '{"name": "$name", "delay": $delay}'););
	return sql(join '', $around->[0] // '', $start, $around->[1] // '');
}

# Whether an execution has ended, and not begun before it was to.
sub in_time
{
	my ($name, $delay) = @_;
	sql("SELECT sf_await('later:$name', '1 min')");
	return sql("SELECT status || ' ' || (started_at >= requested_at + '$delay s')::text FROM sf_executions
		WHERE execution_id = 'later:$name'");
}

sql(q(SELECT sf_create_state_machine('later', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}')));
start('one', 1);
is(in_time('one', 1), 'SUCCEEDED true', 'an execution begins at its time, long before the next poll');

# A nearer one that comes later is not kept up by one that is further away.
start('far', 3600);
start('near', 1);
is(in_time('near', 1), 'SUCCEEDED true', '... also beside one that is to begin in an hour');

sql(q(BEGIN; SELECT sf_start('later', '{}', options => '{"name": "none", "delay": 0.1}'); ROLLBACK));
start('prepared', 1, [ 'BEGIN; ', q(PREPARE TRANSACTION 'start';) ]);
start('crash', 3);
$node->stop('immediate');
$node->start;
is(sql(q(SELECT count(*) FROM sf_executions WHERE execution_id = 'later:far' AND started_at IS NULL)), '1',
	'one that is to begin in an hour has not begun after a crash');
is(in_time('crash', 3), 'SUCCEEDED true', 'one begins after a crash');
is(sql(q(SELECT count(*) FROM sf_executions WHERE execution_id = 'later:prepared')), '0',
	'one of a prepared transaction is not there yet');
sql(q(COMMIT PREPARED 'start'));
is(in_time('prepared', 1), 'SUCCEEDED true', '... and begins after COMMIT PREPARED');
is(sql(q(SELECT count(*) FROM sf_executions WHERE execution_id = 'later:none')), '0',
	'one whose transaction rolled back never began');

# The dump of a database has the one that is to begin in an hour.
my $dump = "$PostgreSQL::Test::Utils::tmp_check/later.dump";
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('postgres') ], 'pg_dump');
sql('CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('copy'), $dump ], 'pg_restore');
is($node->safe_psql('copy', q(SELECT string_agg(name || ' ' || (started_at IS NULL), ' ')
	FROM sf_list_executions(status => 'RUNNING'))), 'far true', 'a restored copy lists it');
is(sql('SELECT * FROM sf_check()'), '', 'the tables hold together');
$node->stop;
done_testing();
