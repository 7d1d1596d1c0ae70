# More values of keys of limits than shared memory has entries for: rates stay exact, and other owners and databases do
# not notice. Places are given back when a bucket is full again, and with the limit, the extension and the database.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(time);

# A machine of the role that calls this: it notes the customer. $name also names its table.
sub machine
{
	my $name = shift;
	return <<"EOS";
CREATE TABLE $name (customer text);
CREATE FUNCTION note_$name(customer text) RETURNS void LANGUAGE sql AS 'INSERT INTO $name VALUES (customer)';
SELECT sf_create_state_machine('$name', '{"StartAt": "T", "States": {"T": {"Type": "Task",
	"Resource": "sql:public.note_$name", "End": true,
	"Parameters": {"customer.\$": "\$.customer"}}}}');
EOS
}

# Start executions of that machine, one for each of so many customers.
sub start
{
	my ($name, $many) = @_;
	return "SELECT count(*) FROM sf_start_many('$name', ARRAY(SELECT jsonb_build_object('customer', n::text)
		FROM generate_series(1, $many) AS n));\n";
}

my $entries = 256;
my $many = 4200;
my $node = new_node('main', conf => "sfflow.workers = 4\nsfflow.poll_interval = 2\nsfflow.max_limit_keys = $entries\n");
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION sfflow');
$node->safe_psql('postgres', 'CREATE ROLE mallory; CREATE ROLE alice');
for my $database ('postgres', 'other')
{
	$node->safe_psql($database, 'GRANT CREATE ON SCHEMA public TO mallory, alice');
}
my $health = "SELECT ok, detail FROM sf_health WHERE item = 'limit keys'";
like($node->safe_psql('postgres', $health), qr/^t\|0 rates and 0 queues of $entries each/, 'no key of a limit yet');

# --- one owner: a slow rate with more customers than there are entries

$node->safe_psql('postgres', 'SET ROLE mallory;' . machine('flood')
	. "SELECT sf_set_limit('flood/T', rate => 1, per => '1 day', key => '\$.customer');" . start('flood', $many));
ok($node->poll_query_until('postgres', "SELECT count(*) = $many FROM flood"),
	"each of $many customers has its first step");
$node->safe_psql('postgres', 'SET ROLE mallory;' . start('flood', 300));
ok($node->poll_query_until('postgres', "SELECT waiting = 300 FROM sf_limits"), 'those that begin a second one wait');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT customer) FROM flood'), "$many|$many",
	'... and none has begun');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM _sfflow.rate_token'), '>=', $many - $entries / 2,
	'what has no place is counted in the table');
like($node->safe_psql('postgres', $health), qr/^f\|.* role "mallory" has as many as it may have/,
	'sf_health names the role');

# --- others, here and in another database

for my $database ('postgres', 'other')
{
	my $began = time;
	$node->safe_psql($database, 'SET ROLE alice;' . machine('calm')
		. "SELECT sf_set_limit('calm/T', rate => 1, per => '1 day', key => '\$.customer');" . start('calm', 20));
	ok($node->poll_query_until($database, 'SELECT count(*) = 20 FROM calm'),
		"another owner's keys have their entries ($database)");
	cmp_ok(time - $began, '<', 60, '... and begin at once');
	is($node->safe_psql($database, "SELECT count(*) FROM _sfflow.rate_token
		WHERE limit_no = (SELECT limit_no FROM _sfflow.run_limit WHERE name = 'calm')"),
		'0', '... in shared memory');
}

# --- queues: what waits beyond the entries is found, too

$node->safe_psql('postgres', "SET ROLE mallory; SELECT sf_set_limit('flood/T', rate => 1000000, key => '\$.customer')");
ok(ended($node), 'with a greater rate all go on');
is($node->safe_psql('postgres', 'SELECT count(*) FROM flood'), $many + 300, '... each once');

# --- a fast rate: entries of full buckets are used again

$node->safe_psql('other', "SET ROLE alice;
	SELECT sf_set_limit('calm/T', rate => 1, per => '10 ms', key => '\$.customer');" . start('calm', 1000));
ok(ended($node, 'other'), 'a thousand keys of a fast rate begin');

# --- entries are given back

$node->safe_psql('postgres', "SET ROLE mallory; SELECT sf_drop_limit('flood/T', '\$.customer')");
$node->safe_psql('postgres', "SET ROLE alice; SELECT sf_drop_limit('calm/T', '\$.customer')");
$node->safe_psql('other', "SET ROLE alice; SELECT sf_drop_limit('calm/T', '\$.customer')");
ok($node->poll_query_until('postgres', "SELECT detail ~ '^0 rates and 0 queues' FROM sf_health
	WHERE item = 'limit keys'"), 'a limit that is dropped gives its entries back');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.rate_token'),
	'... and its tokens are deleted');
for my $how ('DROP EXTENSION sfflow CASCADE', undef)
{
	$node->safe_psql('other', 'DROP TABLE IF EXISTS calm; DROP FUNCTION IF EXISTS note_calm;
		CREATE EXTENSION IF NOT EXISTS sfflow');
	$node->safe_psql('other', 'SET ROLE alice;' . machine('calm')
		. "SELECT sf_set_limit('calm/T', rate => 1, per => '1 day', key => '\$.customer');" . start('calm', 20));
	ok($node->poll_query_until('other', 'SELECT count(*) = 20 FROM calm'), 'keys of the other database');
	like($node->safe_psql('postgres', $health), qr/\|20 rates/, '... have entries');
	$how ? $node->safe_psql('other', $how) : patiently($node, 'DROP DATABASE other');
	ok($node->poll_query_until('postgres', "SELECT detail ~ '^0 rates' FROM sf_health WHERE item = 'limit keys'"),
		($how // 'DROP DATABASE') . ' gives them back');
	last unless $how;
	$node->safe_psql('other', 'DROP FUNCTION note_calm; DROP TABLE calm');
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
$node->stop;

done_testing();
