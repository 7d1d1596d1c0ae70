# A state labels its own execution by what it has learned, while it runs and when it has failed: it emits an
# event, for which a rule calls sf_set_labels().
# needs: event
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\n");

sub sql { return $node->safe_psql('postgres', shift) }

sql(<<'EOS');
SELECT sf_create_event('labels');
CREATE FUNCTION set_labels(event jsonb) RETURNS void LANGUAGE sql AS
	$$ SELECT sf_set_labels(event #>> '{detail,executionArn}', event #> '{detail,payload}') $$;
SELECT sf_create_rule('labels', '{"source": ["sfflow.events"], "detail-type": ["labels"]}', 'sql:public.set_labels');
SELECT sf_create_state_machine('order', '{"StartAt": "Label", "States": {
	"Label": {"Type": "Task", "Resource": "sql:sf_emit", "ResultPath": null, "Next": "Check", "Parameters": {
		"name": "labels", "key.$": "$$.Execution.Name", "payload": {"region.$": "$.region", "first": null}}},
	"Check": {"Type": "Choice", "Default": "Wait",
		"Choices": [{"Variable": "$.region", "StringEquals": "nowhere", "Next": "Bad"}]},
	"Bad": {"Type": "Fail", "Error": "Nowhere"},
	"Wait": {"Type": "Wait", "Seconds": 3600, "End": true}}}',
	options => '{"labels": {"first": "$.region"}}');
SELECT sf_start('order', '{"region": "eu"}', 'runs'), sf_start('order', '{"region": "nowhere"}', 'failed');
EOS
for (qw(runs failed))
{
	ok($node->poll_query_until('postgres',
		"SELECT NOT labels ? 'first' FROM sf_executions WHERE execution_id = 'order:$_'"),
		"$_: the label of the option is removed");
}
is(sql("SELECT execution_id, value FROM sf_labels WHERE label = 'region' ORDER BY 1"),
	"order:failed|nowhere\norder:runs|eu",
	'labels are set while an execution runs, and when it has failed');
is(sql('SELECT sum(dead) FROM sf_rules'), '0', 'no call was refused');
sql("SELECT sf_stop('order:runs')");
is(sql('SELECT * FROM sf_check()'), '', 'all is sound');

$node->stop;
done_testing();
