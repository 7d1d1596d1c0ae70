# What comes under a limit late gets a slot that nothing has, also where more numbers are in use than is noted.
# needs: limit
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_activity('slow');
SELECT sf_create_state_machine('late', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:slow",
	"End": true}}}');
SELECT sf_start('late', '{}', n::text) FROM generate_series(1, 3) AS n;
EOS
$node->poll_query_until('postgres', q{SELECT count(*) = 3 FROM sf_tasks WHERE status = 'queued'})
	or die 'the tasks are not handed out';
$node->safe_psql('postgres', q{SELECT sf_set_limit('activity:slow', max_running => 1)});
$node->poll_query_until('postgres', 'SELECT count(*) = 3 FROM _sfflow.limit_slot')
	or die 'the limit does not count what runs';

# As after a limit was lowered while another transaction took the third slot, with one execution not counted yet. A
# worker that looks in between would find all of them counted.
$node->safe_psql('postgres', q{BEGIN; UPDATE _sfflow.run_limit SET highest = 2, counted = false;
	DELETE FROM _sfflow.limit_slot WHERE slot = 1; COMMIT});
my $from = -s $node->logfile;
$node->restart;
ok($node->poll_query_until('postgres', 'SELECT count(*) = 3 AND count(DISTINCT slot) = 3 FROM _sfflow.limit_slot'),
	'all that runs has a slot');
unlike(slurp_file($node->logfile, $from), qr/duplicate key/, 'and no worker took one that was in use');
cmp_ok($node->safe_psql('postgres', 'SELECT highest - (SELECT max(slot) FROM _sfflow.limit_slot)
	FROM _sfflow.run_limit'), '>=', 0,
	'the limit knows the greatest number in use');

# As after a session took slots of a limit that was set anew meanwhile, and was told of that later: all have slots, and
# the last one of the looks that count notes which.
$node->safe_psql('postgres', 'UPDATE _sfflow.run_limit SET highest = max_running, counted = false');
$node->restart;
ok($node->poll_query_until('postgres', 'SELECT counted FROM _sfflow.run_limit'), 'all that runs is counted');
cmp_ok($node->safe_psql('postgres', 'SELECT highest - (SELECT max(slot) FROM _sfflow.limit_slot)
	FROM _sfflow.run_limit'), '>=', 0,
	'... and the greatest number in use is noted');
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'the tables hold together');
$node->stop;
done_testing();
