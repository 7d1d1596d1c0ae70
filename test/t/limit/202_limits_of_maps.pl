# A Map whose items a task or an activity reads, in a transaction of its own, keeps its slot in a limit until it ends.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_workers = 4\n");
$node->safe_psql('postgres', <<'EOS');
CREATE FUNCTION items() RETURNS TABLE (n int) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_sleep(0.1);
	RETURN QUERY SELECT generate_series(1, 2);
END $$;
SELECT sf_create_activity('desk'), sf_create_activity('reader');
EOS
my $tasks = "SELECT count(*) FROM sf_tasks WHERE status = 'queued'";
for my $reader ('sql:public.items', 'activity:reader')
{
	my $machine = $reader =~ /^activity/ ? 'a' : 'm';
	my $limits = "SELECT in_use || '|' || waiting FROM sf_limits WHERE target = '$machine/Map'";
	$node->safe_psql('postgres', <<"EOS");
SELECT sf_create_state_machine('$machine', '{"StartAt": "Map", "States": {"Map": {"Type": "Map", "End": true,
	"ItemReader": {"Resource": "$reader"},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "Each", "States": {"Each": {"Type": "Task", "Resource": "activity:desk", "End": true}}}}}}');
SELECT sf_set_limit('$machine/Map', max_running => 1);
SELECT sf_start('$machine', '{}', n::text) FROM generate_series(1, 3) AS n;
EOS
	for my $left (2, 1, 0)
	{
		ok($node->poll_query_until('postgres', "SELECT sf_send_task_success(task_token, '[1, 2]') IS NOT NULL
			FROM sf_get_activity_task('activity:reader', 'w')"), 'an activity reads the items') if $machine eq 'a';
		ok($node->poll_query_until('postgres', "SELECT ($tasks) >= 2 AND
			(SELECT in_use + waiting = $left + 1 FROM sf_limits WHERE target = '$machine/Map')"),
			"$reader: a Map runs, $left are left");
		sleep 1;
		is($node->safe_psql('postgres', $tasks) . ' ' . $node->safe_psql('postgres', $limits), "2 1|$left",
			'... by itself');
		$node->safe_psql('postgres', "SELECT sf_send_task_success(task_token, '{}')
			FROM sf_get_activity_task('activity:desk', 'w')") for 1 .. 2;
	}
	is($node->safe_psql('postgres', "SELECT string_agg(sf_await('$machine:' || n, '180 s'), ' ')
		FROM generate_series(1, 3) AS n"), 'SUCCEEDED SUCCEEDED SUCCEEDED', 'all end');
	is($node->safe_psql('postgres', $limits), '0|0', 'no slot is taken');
}
no_surprises($node);
$node->stop;
done_testing();
