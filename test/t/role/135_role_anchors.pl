# A role that sfflow stores cannot be dropped: whatever was dropped or reassigned before, from another database, in a
# copy made of a template, and in a restored dump from sf_enable() on.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');
my $pass = '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}';
$node->safe_psql('postgres', <<"EOC");
CREATE ROLE maker;
CREATE ROLE reader;
CREATE ROLE other;
SET ROLE maker;
SELECT sf_create_state_machine('kept', '$pass');
SELECT sf_grant('READ', 'kept', 'reader');
EOC

# Try to drop a role; gives the error.
sub refusal
{
	my ($database, $role) = @_;
	my ($code, $out, $err) = $node->psql($database, "DROP ROLE $role");
	return $code == 0 ? 'dropped' : $err;
}

my $detail = qr/privileges for type _sfflow\.owner_or_grantee/;
for my $role ('maker', 'reader')
{
	like(refusal('postgres', $role), $detail, "DROP ROLE $role is refused");
	for my $before ("SET ROLE $role; DROP OWNED BY $role", "DROP OWNED BY $role", "REASSIGN OWNED BY $role TO other")
	{
		$node->safe_psql('postgres', $before);
		like(refusal('postgres', $role), $detail, "... after $before");
	}
	like(refusal('template1', $role), qr/1 object in database postgres/, '... in another database');
}
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'sf_check() finds nothing');

# Copies.
$node->safe_psql('template1', 'CREATE DATABASE copied TEMPLATE postgres');
like(refusal('copied', 'reader'), $detail, 'DROP ROLE is refused in a template copy');
my $dump = "$PostgreSQL::Test::Utils::tmp_check/dump.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'pg_dump');
patiently($node, $_) for 'DROP DATABASE copied', 'CREATE DATABASE restored';
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], 'restore');
is( $node->safe_psql('restored', 'SELECT problem, detail FROM sf_check()'),
	"role_droppable|DROP ROLE maker would not be refused; sf_enable() mends that\n"
	  . 'role_droppable|DROP ROLE reader would not be refused; sf_enable() mends that',
	'sf_check() names the roles that a restored dump does not keep');
$node->safe_psql('restored', 'SELECT sf_enable()');
is($node->safe_psql('restored', 'SELECT * FROM sf_check()'), '', '... until sf_enable()');
like(refusal('restored', 'maker'), $detail, 'then DROP ROLE is refused there too');

# The last row that names a role lets it go.
for my $database ('postgres', 'restored')
{
	$node->safe_psql($database, q{SELECT sf_revoke('READ', 'kept', 'reader'); SELECT sf_drop_state_machine('kept')});
}
is(refusal('postgres', $_), 'dropped', "no row names $_: it can be dropped") for 'maker', 'reader';

# What a transaction that rolled back left there needlessly goes with sf_enable().
my $background = $node->background_psql('postgres');
$node->safe_psql('postgres', "CREATE ROLE late; SELECT sf_create_state_machine('kept', '$pass');
	SELECT sf_grant('READ', 'kept', 'late')");
$background->query_safe(q{BEGIN; SELECT sf_grant('START', 'kept', 'late')});
$node->safe_psql('postgres', q{SELECT sf_revoke('READ', 'kept', 'late')});
$background->query_safe('ROLLBACK');
$background->quit;
like(refusal('postgres', 'late'), $detail, 'an anchor may stay after a rollback');
$node->safe_psql('postgres', 'SELECT sf_enable()');
is(refusal('postgres', 'late'), 'dropped', '... until sf_enable()');

$node->stop;
done_testing();
