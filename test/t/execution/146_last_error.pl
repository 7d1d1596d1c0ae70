# sf_health shows what keeps the workers from working, while it does and afterwards.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.poll_interval = 1s");
$node->safe_psql('postgres', q(
CREATE ROLE nobody_special;
CREATE ROLE monitor IN ROLE pg_read_all_stats;
SELECT sf_create_state_machine('m', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');));

# What the row says, to a role.
sub last_error
{
	my $role = shift // 'postgres';
	return $node->safe_psql('postgres', "SET ROLE $role; SELECT ok, detail FROM sf_health
		WHERE item = 'last worker error'");
}

# Switch a debug point of the workers on, or all of them off.
sub debug_point
{
	my $point = shift;
	$node->safe_psql('postgres', "ALTER SYSTEM SET sfflow.debug_point = '$point'");
	$node->reload;
	# From then on workers find that they are to reload before they find work.
	$node->poll_query_until('postgres', "SELECT current_setting('sfflow.debug_point') = '$point'") or die 'no reload';
}

is(last_error(), 't|none since the server started', 'nothing has happened');
$node->safe_psql('postgres', "SELECT sf_start('m', '{}', 'before')");
is($node->safe_psql('postgres', "SELECT sf_await('m:before', '3 min')"), 'SUCCEEDED', 'the workers work');
is(last_error(), 't|none since the server started', 'still nothing');

# The disk is full.
debug_point('commit:error=53100');
$node->safe_psql('postgres', "SELECT sf_start('m', '{}', 'full')");
ok($node->poll_query_until('postgres', "SELECT NOT ok FROM sf_health WHERE item = 'last worker error'"),
	'the row is not ok');
like(last_error(), qr/^f\|53100 at \d{4}-.*: debug point "commit"; \d+ in a row/, 'and says why');
ok($node->poll_query_until('postgres', "SELECT detail ~ '; ([2-9]|[0-9]{2,}) in a row' FROM sf_health
	WHERE item = 'last worker error'"), 'it counts');
like(last_error('monitor'), qr/: debug point/, 'to a role that monitors, too');
like(last_error('nobody_special'), qr/^f\|53100 at [-0-9:.+ ]+; \d+ in a row/, 'any other sees the SQLSTATE alone');
is($node->safe_psql('postgres', "SELECT status FROM sf_executions WHERE execution_id = 'm:full'"), 'RUNNING',
	'the execution waits');

# There is room again.
debug_point('');
is($node->safe_psql('postgres', "SELECT sf_await('m:full', '3 min')"), 'SUCCEEDED', 'it goes on');
ok($node->poll_query_until('postgres', "SELECT ok FROM sf_health WHERE item = 'last worker error'"),
	'the row is ok again');
like(last_error(), qr/^t\|53100 at .*; the workers have got on since$/, 'and tells what there was');

# A process that ends.
debug_point('commit:fatal');
$node->safe_psql('postgres', "SELECT sf_start('m', '{}', 'fatal')");
ok($node->poll_query_until('postgres', "SELECT NOT ok AND detail LIKE 'XX000 %' FROM sf_health
	WHERE item = 'last worker error'"),
	'a worker that ends with an error leaves it');
debug_point('');
is($node->safe_psql('postgres', "SELECT sf_await('m:fatal', '3 min')"), 'SUCCEEDED', 'another one goes on');
ok($node->poll_query_until('postgres', "SELECT ok FROM sf_health WHERE item = 'last worker error'"),
	'the row is ok again');

# To end it is no error.
my $at = last_error();
$node->safe_psql('postgres', q(SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE backend_type = 'sfflow worker'));
$node->safe_psql('postgres', "SELECT sf_start('m', '{}', 'ended'); ");
is($node->safe_psql('postgres', "SELECT sf_await('m:ended', '3 min')"), 'SUCCEEDED',
	'a worker that was ended is replaced');
is(last_error(), $at, 'and that is no error');
$node->stop;
done_testing();
