# Sessions that hold more due branches than workers note: what looks at them cost, whose are noted, and that all go on.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $held = 600;						# there are 256 places
my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.poll_interval = 600\nautovacuum = off\n");
my ($holder, $other) = map { $node->background_psql('postgres') } 1 .. 2;

sub sql { return $node->safe_psql('postgres', shift) }

# Start executions whose timer is due when their rows are held.
sub start_held
{
	my ($role, $count) = @_;
	sql("SET ROLE $role; SELECT count(*)
		FROM sf_start_many('$role', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, $count)))");
	$node->poll_query_until('postgres',
		"SELECT count(*) = $count FROM _sfflow.branch WHERE owner = '$role'::regrole AND phase = " . phase('WAIT'))
	  or die "the executions of $role do not wait";
	return;
}

# Lock the branches of a role.
sub hold
{
	my ($session, $role) = @_;
	return $session->query_safe("BEGIN; SELECT count(*)
		FROM (SELECT FROM _sfflow.branch WHERE owner = '$role'::regrole FOR UPDATE) AS b");
}

# Wait until their timers are past, and workers have nothing to do.
sub pass_by
{
	$node->poll_query_until('postgres', "SELECT max(due_at) < clock_timestamp() - interval '1 s' FROM _sfflow.branch")
	  or die 'the timers are not past';
	$node->poll_query_until('postgres', "SELECT bool_and(state = 'idle') FROM sf_workers WHERE role = 'worker'")
	  or die 'the workers do not rest';
	return;
}

# How many transactions there are in a second, by those of some seconds.
sub transactions
{
	my $seconds = shift;
	my $count = 'SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()';
	my ($before, $began) = (sql($count), time);
	sleep $seconds;
	return (sql($count) - $before) / (time - $began);
}

for my $role (qw(many few))
{
	sql("CREATE ROLE $role; SET ROLE $role; SELECT sf_create_state_machine('$role', '{\"StartAt\": \"W\", \"States\": {
		\"W\": {\"Type\": \"Wait\", \"Seconds\": 10, \"End\": true}}}')");
}

# --- one branch, for long

start_held('few', 1);
sql('UPDATE _sfflow.branch SET due_at = due_at - interval $$1 h$$');
is(hold($holder, 'few'), '1', 'a session holds a branch that is due for an hour');
# Nothing has told workers of the other time: all that is due is scanned for.
sql('SELECT sf_enable()');
pass_by();
my $looks = transactions(30);
note(sprintf('%.2f transactions a second while a session holds a branch', $looks));
cmp_ok($looks, '<', 2, 'workers look at it every few seconds');
$holder->query_safe('ROLLBACK');
is(sql("SELECT sf_await(execution_id, '60 s') FROM sf_executions WHERE state_machine = 'few'"), 'SUCCEEDED',
	'... and it goes on when the session lets go');

# --- more than there are places

start_held('many', $held);
is(hold($holder, 'many'), $held, 'a session holds more branches than there are places');
start_held('few', 3);
is(hold($other, 'few'), '3', 'another one holds a few of another owner');
pass_by();
my $transactions = transactions(20);
note(sprintf('%.1f transactions a second while sessions hold %d branches', $transactions, $held + 3));
cmp_ok($transactions, '<', 100, 'workers do not come again all the time');
$other->query_safe('ROLLBACK');
my $began = time;
is(sql("SELECT DISTINCT sf_await(execution_id, '60 s') FROM sf_executions WHERE state_machine = 'few'"), 'SUCCEEDED',
	'those of the other owner have places, and go on');
note(sprintf('... after %.1f s', time - $began));
$holder->query_safe('ROLLBACK');
$began = time;
ok(ended($node), 'all go on when the session lets go');
note(sprintf('... after %.1f s', time - $began));
cmp_ok(time - $began, '<', 120, '... not with the next poll');

$_->quit for $holder, $other;
no_surprises($node);
$node->stop;
done_testing();
