# Quotas of owners with workers: machines that start themselves, and loops without a history, come to an
# end, whoever owns them; other owners are served meanwhile.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('quotas', conf => "sfflow.max_starts_per_owner = 2000\n");
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE tenant;
CREATE ROLE neighbour;
ALTER ROLE tenant SET sfflow.max_transitions = 20000;
SET SESSION AUTHORIZATION tenant;
SELECT sf_create_state_machine('itself',
	'{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution",
	"Parameters": {"StateMachineArn": "itself"}, "End": true}}}');
SELECT sf_create_state_machine('bomb', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "arn:aws:states:::states:startExecution",
	"Parameters": {"StateMachineArn": "bomb"}, "Next": "B"}, "B": {"Type": "Task",
		"Resource": "arn:aws:states:::states:startExecution",
	"Parameters": {"StateMachineArn": "bomb"}, "Next": "C"}, "C": {"Type": "Wait", "Seconds": 3600, "End": true}}}');
SELECT sf_create_state_machine('loop', '{"StartAt": "A", "States": {"A": {"Type": "Choice",
	"Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "B"}],
	"Default": "A"}, "B": {"Type": "Succeed"}}}', options => '{"history": "NONE"}');
SET SESSION AUTHORIZATION neighbour;
SELECT sf_create_state_machine('quiet', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');
SQL

# What ends the chain is the quota: 2,000 at once and 33 a second after that.
$node->safe_psql('postgres', q{SELECT sf_start('itself', name => 'first')});
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM sf_executions
	WHERE state_machine = 'itself' AND error = 'StepFunctions.ExecutionLimitExceeded'}),
		'a machine that starts itself is stopped');
is($node->safe_psql('postgres', q{SELECT cause FROM sf_executions WHERE state_machine = 'itself'
	AND status = 'FAILED'}),
	'Execution Limit Exceeded: sfflow.max_starts_per_owner (2000) of role "tenant" is reached',
		'the cause names the setting and the owner');
ok(ended($node), 'nothing of it goes on');
my $made = $node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE state_machine = 'itself'});
# Those that were started while the bucket filled again come on top: a second is 33 of them.
cmp_ok($made, '>=', 2000, 'it has made as many executions as it may');
cmp_ok($made, '<', 12000, 'and not many more');
note("$made executions");
is($node->safe_psql('postgres', q{SELECT ok FROM sf_health WHERE item = 'quotas'}), 'f', 'sf_health is not ok');
like($node->safe_psql('postgres', q{SELECT detail FROM sf_health WHERE item = 'quotas'}), qr/"tenant" is reached/,
	'and names the owner');

# Another owner starts and runs meanwhile.
$node->safe_psql('postgres', q{SELECT sf_start('quiet', name => 'q')});
is($node->safe_psql('postgres', q{SELECT sf_await('quiet:q', '180 s')}), 'SUCCEEDED', 'another owner is served');

# Running executions: each of the bomb starts two and waits.
$node->safe_psql('postgres', q{ALTER ROLE tenant SET sfflow.max_executions_per_owner = 300; ALTER ROLE tenant
	SET sfflow.max_starts_per_owner = 0});
$node->restart;
$node->safe_psql('postgres', q{SELECT sf_start('bomb', name => 'first')});
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM sf_executions
	WHERE state_machine = 'bomb' AND cause LIKE '%sfflow.max\_executions\_per\_owner (300)%'}),
		'a machine that starts two is stopped');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE status = 'RUNNING'}), '<=', 330,
	'as many run as may');

# Those that have not come to their Wait would start others without end once the quota is gone.
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM sf_stop_many('bomb')}), 'all of them can be stopped');

# Transitions that no history knows of.
$node->safe_psql('postgres', q{ALTER ROLE tenant RESET sfflow.max_executions_per_owner});
$node->restart;
$node->safe_psql('postgres', q{SELECT sf_start('loop', name => 'l')});
is($node->safe_psql('postgres', q{SELECT sf_await('loop:l', '180 s')}), 'FAILED', 'a loop without a history ends');
like($node->safe_psql('postgres', q{SELECT cause FROM sf_executions WHERE execution_id = 'loop:l'}),
	qr/maximum number of state transitions \(20000\)/, 'and says why');

# The server's own values follow its configuration, for owners without values of their own.
$node->safe_psql('postgres', q{ALTER SYSTEM SET sfflow.max_starts_per_owner = 3});
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('sfflow.max_starts_per_owner') = '3'})
	or die 'not reloaded';
my ($result, $out, $error) = $node->psql('postgres', q{SELECT sf_start('quiet') FROM generate_series(1, 40)});
isnt($result, 0, 'starts beyond the third are refused');
like($error, qr/sfflow\.max_starts_per_owner \(3\) of role "neighbour" is reached/, 'in the name of the server');

# What a role has for its own machines is no value for those of others that it starts.
$node->safe_psql('postgres', q{CREATE ROLE caller LOGIN; ALTER ROLE caller SET sfflow.max_starts_per_owner = 1000;
	SELECT sf_grant('START', 'quiet', 'caller')});
($result, $out, $error) = $node->psql('postgres', q{SELECT sf_start('quiet') FROM generate_series(1, 40)},
	extra_params => [ '-U', 'caller' ]);
like($error, qr/sfflow\.max_starts_per_owner \(3\) of role "neighbour" is reached/, 'the quota is that of the owner');
# A quota that was taken away for a while begins anew: what was started meanwhile is no debt.
for ([5, 1], [0, 100], [5, 1])
{
	my ($quota, $starts) = @$_;
	$node->safe_psql('postgres', "ALTER ROLE neighbour SET sfflow.max_starts_per_owner = $quota");
	($result, $out, $error) = $node->psql('postgres',
		"SELECT count(sf_start('quiet')) FROM generate_series(1, $starts)");
	is($error, '', "$starts of a quota of $quota");
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_check()}), '0', 'nothing is wrong');
$node->stop;
done_testing();
