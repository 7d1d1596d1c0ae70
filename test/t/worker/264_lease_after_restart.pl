# A lease that runs out soon after a restart of the server, when no worker has met an owner of anything that is due: the
# task goes back into its queue in time, and not with the next scan of everything.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use SfWorker;
use Test::More;
use Time::HiRes 'time';

my $node = new_node('main', conf => "sfflow.poll_interval = 600\n");
my $queued = q(SELECT queued FROM sf_activities);
$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_activity('outside', '1 s');
SELECT sf_create_state_machine('m', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:outside",
	"End": true}}}');
SELECT sf_start('m', '{}', 'x');
EOS
ok(wait_for('the task is queued', sub { $node->safe_psql('postgres', $queued) eq '1' }), 'a task is queued');
$node->restart;
ok(wait_for('a worker is there', sub { $node->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity
	WHERE backend_type = 'sfflow worker')) > 0 }),
	'a worker has looked at what is due');
my $taken = time;
$node->safe_psql('postgres', q(SELECT FROM sf_get_activity_task('outside')));
ok(wait_for('the task is queued again', sub { $node->safe_psql('postgres', $queued) eq '1' }, 90),
	'nobody answers it in time');
cmp_ok(time - $taken, '<', 60, '... and it is handed out again soon');
$node->stop;
done_testing();
