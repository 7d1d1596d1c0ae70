# A task that crashes the server is found, and fails, also when a rate limits how many of its kind begin.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_workers = 2\nsfflow.max_crashes = 2\n");
sub sql { return $node->safe_psql('postgres', shift) }
sql(<<'EOS');
CREATE FUNCTION job(name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF name ~ '^bad' THEN
		EXECUTE pg_catalog.format('COPY (SELECT 1) TO PROGRAM ''kill -9 %s''', pg_catalog.pg_backend_pid());
		PERFORM pg_catalog.pg_sleep(60);
	END IF;
	RETURN name;
END $$;
SELECT sf_create_state_machine('jobs', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.job",
	"Parameters": {"name.$": "$$.Execution.Name"}, "End": true}}}');
SELECT sf_set_limit('jobs/T', rate => 1, per => '2 s');
SELECT sf_start('jobs', '{}', 'good1');
EOS
is(sql("SELECT sf_await('jobs:good1', '180 s')"), 'SUCCEEDED', 'a task that ends well');
# The server may crash before the session has its answer.
try_sql($node, "SELECT sf_start('jobs', '{}', 'bad'), sf_start('jobs', '{}', 'good2')");
fails_alone($node, 'bad');
cmp_ok(scalar(() = slurp_file($node->logfile) =~ /terminated by signal 9/g), '<=', 4, '... after few crashes');
is(sql("SELECT sf_await('jobs:good2', '180 s')"), 'SUCCEEDED', 'what waited beside it goes on');
is(sql("SELECT ok FROM sf_health WHERE item = 'suspects'"), 't', 'no suspect is left');
is(sql('SELECT count(*) FROM sf_check()'), '0', 'the tables are in order');
$node->stop;
done_testing();
