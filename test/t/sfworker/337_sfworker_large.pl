# Outputs for sfworker that are larger than any database takes: the task fails, and is not tried for ever.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use SfWorker;
use Test::More;

my $node = new_node('main');
activity_machine($node, $_) for qw(shell sql);

# Each of these characters has six in JSON: a third of a gigabyte.
my $worker = start_worker($node, '-a', 'shell', '--max-output', '300MB');
is(run_task($node, 'shell', q({"Command": "head -c 50000000 /dev/zero | tr '\\\\000' '\\\\001'"})),
	'FAILED||States.DataLimitExceeded|the output has 300000013 bytes, and the database takes 268435456 at most',
	'an output that no database takes');
unlike(worker_log($worker), qr/cannot be stored|could not be given/, '... is not sent to one');
is(stop_worker($worker), 0, 'the worker leaves');

$worker = start_worker($node, '-a', 'sql');
like(run_task($node, 'sql', q({"Statement": "SELECT repeat('x', 2000000) AS text"})),
	qr/^FAILED\|\|States\.DataLimitExceeded\|the rows are larger than the worker takes/,
	'a row that is larger than max-output');
is(stop_worker($worker), 0, 'the worker leaves');
no_surprises($node);
$node->stop;
done_testing();
