# Tasks for sfworker that are no UTF-8, in databases that do not know what characters their bytes are: each fails by
# itself, and keeps no others.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use SfWorker;
use Test::More;

my $node = new_node('main');
my $umlaut = "\xC3\xBC";
# A byte that is no character of the encoding, and what the server says of it
my %bad = (SQL_ASCII => [ '\xff', qr/invalid byte sequence for encoding "UTF8": 0xff/ ],
	WIN1252 => [ '\x81', qr/character with byte sequence 0x81 in encoding "WIN1252" has no equivalent in encoding "UTF8"/ ]);

for my $encoding (sort keys %bad)
{
	my ($byte, $problem) = @{ $bad{$encoding} };
	my $database = lc $encoding;
	local $ENV{PGCLIENTENCODING} = $encoding;
	$node->safe_psql('postgres',
		"CREATE DATABASE $database ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
	$node->safe_psql($database, 'CREATE EXTENSION sfflow');
	activity_machine($node, 'shell', database => $database);

	# Start an execution of "echo TEXT", whose text and name are parts of E'' strings.
	my $start = sub {
		my ($text, $name) = @_;
		return $node->safe_psql($database,
			qq(SELECT sf_start('shell', jsonb_build_object('Command', E'echo $text'), E'$name')));
	};
	# In WIN1252 this is one byte, in SQL_ASCII what UTF-8 has.
	my $character = $encoding eq 'SQL_ASCII' ? '\xC3\xBC' : '\xFC';
	$start->(@$_) for [ "a$character", 'first' ], [ "b$byte", 'second' ], [ 'c', 'third' ], [ "d$byte", 'fourth' ],
	  [ 'e', "fifth$byte" ], [ "f$character", 'sixth' ];
	my $worker = start_worker($node, '-d', $database, '-a', 'shell', '-c', '4');
	ok(wait_for('all have ended', sub {
		$node->safe_psql($database, q{SELECT count(*) FROM sf_executions WHERE status <> 'RUNNING'}) == 6 }, 60),
		"$encoding: no task keeps the others") or diag worker_log($worker);
	my $outcome = sub { $node->safe_psql($database,
		qq(SELECT status, output->>'stdout', error, cause FROM sf_executions WHERE name LIKE '$_[0]%')) };
	my $said = $encoding eq 'SQL_ASCII' ? $umlaut : "\xFC";
	is($outcome->('first'), "SUCCEEDED|a$said\n||", '... one with a character that UTF-8 has runs');
	is($outcome->('third'), "SUCCEEDED|c\n||", '... another one, too');
	is($outcome->('sixth'), "SUCCEEDED|f$said\n||", '... and the last');
	like($outcome->($_), qr/^FAILED\|\|Shell\.InvalidParameters\|the task cannot be read as UTF-8: $problem$/,
		"... the $_ fails, and tells why")
	  for qw(second fourth fifth);
	is(stop_worker($worker), 0, '... the worker leaves');
	unlike(worker_log($worker), qr/cannot take tasks/, '... and has logged no error');
}

# The server has given the task out, and then does not convert it: it refuses to, or the connection ends. Each task says
# what is to become of it. The last ones are no UTF-8, so that all are claimed as bytes.
local $ENV{PGCLIENTENCODING} = 'SQL_ASCII';
$node->safe_psql('sql_ascii', <<'SQL');
CREATE SEQUENCE losses;
ALTER FUNCTION pg_catalog.convert_from(bytea, name) RENAME TO original;
CREATE FUNCTION pg_catalog.convert_from(bytea, name) RETURNS text LANGUAGE plpgsql VOLATILE STRICT AS $$
DECLARE
	text text := pg_catalog.original($1, $2);
BEGIN
	IF text LIKE '%cancelled%' THEN
		RAISE 'canceling statement due to statement timeout' USING ERRCODE = '57014';
	ELSIF text LIKE '%lost-often%' OR text LIKE '%lost-once%' AND nextval('public.losses') = 1 THEN
		PERFORM pg_terminate_backend(pg_backend_pid());
	END IF;
	RETURN text;
END $$;
SQL
$node->safe_psql('sql_ascii',
	qq(SELECT sf_start('shell', jsonb_build_object('Command', E'echo $_->[0]$_->[1]'), '$_->[0]')))
  for [ 'lost-once', '' ], [ 'lost-often', '\xff' ], [ 'cancelled', '\xff' ];
my $worker = start_worker($node, '-d', 'sql_ascii', '-a', 'shell', '-c', '4');
wait_for('all have ended', sub {
	$node->safe_psql('sql_ascii', q{SELECT count(*) FROM sf_executions WHERE status = 'RUNNING'}) == 0 }, 60)
	or diag worker_log($worker);
my $outcome = sub { $node->safe_psql('sql_ascii',
	qq(SELECT status, output->>'stdout', error, cause FROM sf_executions WHERE name = '$_[0]')) };
is($outcome->('lost-once'), "SUCCEEDED|lost-once\n||", 'a task is converted again after the connection was lost');
cmp_ok($node->safe_psql('sql_ascii', 'SELECT last_value FROM losses'), '>', 1, '... which it was');
is($outcome->('lost-often'), 'FAILED||Shell.InvalidParameters|the task cannot be converted to UTF-8:'
	  . ' the connection was lost twice', 'one that ends the connection again fails');
is($outcome->('cancelled'), 'FAILED||Shell.InvalidParameters|the task cannot be converted to UTF-8:'
	  . ' canceling statement due to statement timeout', 'one that the server refuses to convert fails');
is(stop_worker($worker), 0, 'the worker leaves');
$node->stop;
done_testing();
