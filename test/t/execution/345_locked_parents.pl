# An execution that ends tells the one that has started it. Where a session has that locked and stays idle, workers put
# the end off, and others go on.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_workers = 2\n");
$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_state_machine('child', '{"StartAt": "W", "States": {
	"W": {"Type": "Wait", "Seconds": 3600, "End": true}}}');
SELECT sf_create_state_machine('parent', '{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
	"ItemsPath": "$", "ItemProcessor": {"StartAt": "C", "States": {"C": {"Type": "Task",
	"Resource": "arn:aws:states:::states:startExecution.sync",
	"Parameters": {"StateMachineArn": "child", "Input": {}}, "End": true}}}}}}');
SELECT sf_create_state_machine('other', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_start('parent', '[1, 2, 3, 4, 5, 6]', 'p');
EOS
my $children = "_sfflow.branch b USING (execution_no) WHERE e.execution_id LIKE 'child:%' AND b.due_at > now()";
ok($node->poll_query_until('postgres', "SELECT count(*) = 6 FROM _sfflow.execution e JOIN $children"),
	'six children wait');

my $session = $node->background_psql('postgres');
$session->query_safe(q{BEGIN; SELECT sf_stop('parent:p')});
$node->safe_psql('postgres', <<'EOS');
-- one after the other, so that one worker does not take all of them
UPDATE _sfflow.branch b SET due_at = now() + c.n * interval '0.3 s'
FROM (SELECT e.execution_no, row_number() OVER () AS n FROM _sfflow.execution e WHERE e.execution_id LIKE 'child:%') c
WHERE c.execution_no = b.execution_no;
SELECT sf_enable();
EOS
my $last = $node->safe_psql('postgres', "SELECT now() + 6 * interval '0.3 s'");
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type LIKE 'sfflow%'
	AND wait_event_type = 'Lock'}), 'a worker meets the lock');
ok($node->poll_query_until('postgres', "SELECT clock_timestamp() > '$last'"), 'all children have come due');
for my $n (1 .. 3)
{
	is($node->safe_psql('postgres', "SELECT sf_start('other', name => '$n'); SELECT sf_await('other:$n', '30 s')"),
		"other:$n\nSUCCEEDED", "another execution ends meanwhile, $n");
}
$session->query_safe('ROLLBACK');
$session->quit;
is($node->safe_psql('postgres', q{SELECT sf_await('parent:p', '180 s')}), 'SUCCEEDED',
	'the parent gets its answers when it is let go');
no_surprises($node);
$node->stop;
done_testing();
