# A change of sfflow.max_payload_bytes by ALTER DATABASE, and its end, reach the workers that run.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();

my $node = new_node('limits');
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION public.large(p jsonb) RETURNS jsonb LANGUAGE sql RETURN to_jsonb(repeat('x', 5000));
SELECT sf_create_state_machine('large', '{"StartAt": "L", "States": {"L": {"Type": "Task",
	"Resource": "sql:public.large", "End": true}}}');
SQL

# Start executions until one ends in a way; the way that the last one ended in.
sub ends
{
	my $wanted = shift;
	my $got = '';
	for (1 .. $PostgreSQL::Test::Utils::timeout_default)
	{
		$got = $node->safe_psql('postgres', <<'SQL');
SELECT sf_start('large') AS id \gset
SELECT sf_await(:'id', '1 minute') \g /dev/null
SELECT concat_ws(' ', status, error) FROM sf_executions WHERE execution_id = :'id';
SQL
		last if $got eq $wanted;
		Time::HiRes::sleep(0.2);
	}
	return $got;
}

is(ends('SUCCEEDED'), 'SUCCEEDED', 'a result within the limit of the server');
$node->safe_psql('postgres', q{ALTER DATABASE postgres SET sfflow.max_payload_bytes = '2kB'});
is(ends('FAILED States.DataLimitExceeded'), 'FAILED States.DataLimitExceeded', 'a lower limit of the database');
$node->safe_psql('postgres', q{ALTER DATABASE postgres SET sfflow.max_payload_bytes = '8kB'});
is(ends('SUCCEEDED'), 'SUCCEEDED', 'a higher one');
$node->append_conf('postgresql.conf', q{sfflow.max_payload_bytes = '2kB'});
$node->reload;
is(ends('SUCCEEDED'), 'SUCCEEDED', 'the database counts, not the server');
$node->safe_psql('postgres', q{ALTER DATABASE postgres RESET sfflow.max_payload_bytes});
is(ends('FAILED States.DataLimitExceeded'), 'FAILED States.DataLimitExceeded', 'without it the server counts');
$node->append_conf('postgresql.conf', q{sfflow.max_payload_bytes = '1MB'});
$node->reload;
is(ends('SUCCEEDED'), 'SUCCEEDED', '... as it is by now');
$node->stop;
done_testing();
