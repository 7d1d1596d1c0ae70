# A transaction that gives rights on thousands of objects does not fill the server's lock table, and keeps them all from
# being dropped until it ends.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => <<'EOC');
shared_preload_libraries = 'sfflow'
max_locks_per_transaction = 10
max_connections = 10
EOC
my $n = 20000;
$node->safe_psql('postgres', q(SELECT sf_disable()));
$node->safe_psql('postgres', 'CREATE ROLE reader');
# What the objects are of does not matter here: as rows they are there at once.
$node->safe_psql('postgres', qq(
	INSERT INTO _sfflow.activity (name, owner, created_at)
	SELECT 'a' || i, current_user::regrole, now() FROM generate_series(1, $n) AS i));
# Machines in transactions of their own, which lock each.
$node->safe_psql('postgres', qq(DO \$\$ BEGIN FOR i IN 1 .. 3000 LOOP
	PERFORM sf_create_state_machine('m' || i, '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
	COMMIT; END LOOP; END \$\$));

my $one = $node->background_psql('postgres', on_error_stop => 0);
$one->query('BEGIN');
my $given = $one->query(qq(SELECT count(sf_grant('WORK', 'activity:a' || i, 'reader'))
	FROM generate_series(1, $n) AS i));
is($given, $n, 'rights on many activities in one transaction');
is($one->query(q(SELECT count(sf_grant('READ', 'm' || i, 'reader')) FROM generate_series(1, 3000) AS i)), 3000,
	'... and on many state machines');
is($node->safe_psql('postgres', q(SELECT count(*) < 50 FROM pg_locks WHERE locktype IN ('advisory', 'object'))), 't',
	'it has few locks');
for my $drop ("sf_drop_activity('a1')", "sf_drop_activity('a$n')", "sf_drop_state_machine('m3000')")
{
	my (undef, undef, $error) = $node->psql('postgres', "SET lock_timeout = '200ms'; SELECT $drop");
	like($error, $drop =~ /a1'/ ? qr/lock timeout/ : qr/could not lock all objects of a kind in time\nDETAIL:  .* keeps all/,
		"$drop waits");
}
# Others keep and start what they like.
is($node->safe_psql('postgres', q(SELECT count(sf_grant('SEND', 'activity:a' || i, 'reader'))
	FROM generate_series(1, 100) AS i)), 100, 'another session gives rights meanwhile');
is($node->safe_psql('postgres', q(SELECT sf_start('m1', name => 'x'))), 'm1:x', '... and starts a machine');
$one->query('COMMIT');
$one->quit;
is($node->safe_psql('postgres', qq(SELECT count(sf_drop_activity(a)) FROM unnest('{a1,a$n}'::text[]) AS a)), 2,
	'when it has ended they are dropped');
is($node->safe_psql('postgres', qq(SELECT count(*) FROM _sfflow.privilege WHERE object_name IN ('a1', 'a$n'))), 0,
	'... with the rights');
$node->stop;
done_testing();
