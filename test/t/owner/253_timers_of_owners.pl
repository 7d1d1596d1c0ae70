# More owners have timers than one part of a scan reads: a timer of an owner in a later part is on time, although
# nothing of the owners in the parts before it is due.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

# One worker: no other one makes up for what it misses. No poll comes to its help.
my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.poll_interval = 3600\nfsync = off\n");
my ($owners, $early) = (600, 20);

# A scan reads owners in the order of their OIDs: the last ones that are made have the early timers.
$node->safe_psql('postgres', <<"EOS");
SELECT sf_disable();
DO \$\$
BEGIN
	FOR i IN 1 .. $owners LOOP
		EXECUTE format('CREATE ROLE owner_%s', i);
		EXECUTE format('SET LOCAL ROLE owner_%s', i);
		PERFORM sf_create_state_machine('wait_' || i,
			'{"StartAt": "W", "States": {"W": {"Type": "Wait", "SecondsPath": "\$.s", "End": true}}}');
		PERFORM sf_start('wait_' || i, jsonb_build_object('s', CASE WHEN i > $owners - $early THEN 5
			ELSE 900 END), 'e');
		RESET ROLE;
	END LOOP;
END \$\$;
SELECT sf_enable();
EOS
my $enabled = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
# The early ones may have come by then.
ok($node->poll_query_until('postgres', "SELECT (SELECT count(*) FROM _sfflow.branch
	WHERE due_at > now() - interval '1 hour' AND due_at <> 'infinity')
	+ (SELECT count(*) FROM sf_executions WHERE status = 'SUCCEEDED') = $owners"),
	'all are there');
ok($node->poll_query_until('postgres', "SELECT count(*) = $early FROM sf_executions WHERE status = 'SUCCEEDED'"),
	'the early timers come');
my $late = $node->safe_psql('postgres',
	qq{SELECT round(extract(epoch FROM max(stopped_at) - greatest(max(requested_at) + interval '5 s', '$enabled')))
		FROM sf_executions WHERE status = 'SUCCEEDED'});
cmp_ok($late, '<', 60, 'they are on time, not found by a poll');
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE status <> 'SUCCEEDED'}), $owners - $early,
	'the others wait');
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'the tables hold together');
$node->stop;
done_testing();
