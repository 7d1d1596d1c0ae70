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
$node->stop;
done_testing();
