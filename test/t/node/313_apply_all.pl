# One document of definitions on three servers: with one down, with one that says nothing, twice, changed, and by
# sessions at the same time. In the end digests and versions are equal on all, and sf_health names who lags until then.
# needs: node limit
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my %node = map { $_ => new_node($_, conf => "sfflow.workers = 1\n") } qw(c n1 n2);
my $c = $node{c};
my $stopped;    # a postmaster that a test has stopped by a signal
END { kill 'CONT', $stopped if $stopped }

sub sql { return $c->safe_psql('postgres', $_[0], extra_params => [ '-U', $_[1] // 'postgres' ]) }
sub error_of { my (undef, undef, $error) = $c->psql('postgres', $_[0]); return $error }

# A document whose machines differ by a mark.
sub document
{
	my ($mark, $more) = @_;
	return '{"format": 1, "name": "shop", "activities": {"mail": {"lease": "5 minutes"}}, "state_machines": {"order": {'
	  . qq("definition": {"StartAt": "S", "Comment": "$mark", "States": {"S": {"Type": "Succeed"}}}, )
	  . '"grants": {"READ": ["public"]}}}, "limits": [{"target": "order", "max_running": 3}]' . ($more // '') . '}';
}

# Apply a document; what has come of it on each node.
sub apply
{
	my ($document, $role) = @_;
	my $argument = defined $document ? "'$document'" : '';
	return sql("SELECT node, ok, node_error, document, revision, changed FROM sf_apply_all($argument) ORDER BY node",
		$role);
}

# Apply until all nodes have it: a busy machine may need longer than a node has.
sub converge
{
	my ($document) = @_;
	for (1 .. 40)
	{
		my $said = apply($document);
		return 1 unless $said =~ /\|f\|/;
	}
	return 0;
}

# What all nodes have, which is one line if it is the same.
sub what_all_have
{
	my %have = map { $node{$_}->safe_psql('postgres', q{SELECT sf_export_definitions() ->> 'digest',
		(SELECT string_agg(version || CASE WHEN is_current THEN '*' ELSE '' END || (definition ->> 'Comment'), ' '
			ORDER BY version) FROM sf_state_machines WHERE state_machine = 'order')}) => 1 } keys %node;
	return join "\n", map { s/^\w{64}\|//r } sort keys %have;
}

sub health { return sql(q{SELECT ok, detail FROM sf_health WHERE item = 'definitions'}) }

sql(sprintf q{SELECT sf_add_node(0, 'c'), sf_add_node(1, 'n1', 'host=%s port=%d'),
	sf_add_node(2, 'n2', 'host=%s port=%d')}, map { $node{$_}->host, $node{$_}->port } qw(n1 n2));
is(health(), '', 'no document, and nothing to say of it');
is(sql('SELECT count(*) FROM sf_apply_all()'), '0', 'nothing to send again');

ok(converge(document('a')), 'a document is on all nodes');
is(what_all_have(), '1*a', '... and they have the same');
my $again;
for (1 .. 40)
{
	$again = apply(document('a'));
	last unless $again =~ /\|f\|/;
}
is($again, "0|t||shop|1|0\n1|t||shop|1|0\n2|t||shop|1|0",
	'twice: nothing changes, it is the same revision');
is(health(), 't|all nodes have the documents of sf_apply_all', '... and all is well');

# A mistake is an error, and goes nowhere.
like(error_of(q{SELECT sf_apply_all('{"format": 1, "name": "shop", "limitz": []}')}), qr/has an unknown member "limitz"/,
	'a mistake');
like(error_of(q{SELECT sf_apply_all('{"format": 1, "name": "shop",
	"limits": [{"target": "none", "max_running": 1}]}')}), qr/none/, 'a mistake that only sf_apply sees');
is(what_all_have(), '1*a', '... changes nothing');
like(error_of(q{BEGIN; SELECT sf_apply_all()}), qr/cannot run inside a transaction block/, 'not where it could be taken back');

# One is down, then one more accepts and says nothing; documents change meanwhile.
$node{n1}->stop;
like(apply(document('b')), qr/^0\|t\|\|shop\|2\|1\n1\|f\|.*\|shop\|2\|\n2\|/, 'a node is down: a row says so');
like(health(), qr/^f\|node 1 "n1" lacks revision 2 of the document "shop" of role "postgres": /, '... and sf_health does');
$stopped = slurp_file($node{n2}->data_dir . '/postmaster.pid') =~ /^(\d+)/ ? $1 : die;
kill 'STOP', $stopped;
like(apply(document('c')), qr/^0\|t\|\|shop\|3\|1\n1\|f\|.*\n2\|f\|it has not answered within 1500 ms\|shop\|3\|$/,
	'one more says nothing');
like(health(), qr/^f\|node 1 "n1" lacks revision 3 .*, and 1 more like it; sf_apply_all\(\) sends it again$/, '... sf_health counts');
kill 'CONT', $stopped;
undef $stopped;
$node{n1}->start;
ok(converge(), 'both are back, and the document is sent again');
is(what_all_have(), '1a 2b 3*c', '... with the versions that a node has missed, by the same numbers');
is(health(), 't|all nodes have the documents of sf_apply_all', '... and all is well');

# A node that has something else by that number keeps it, and says so; when it is gone it gets what all have.
$node{n2}->safe_psql('postgres', q{SELECT sf_create_state_machine('order',
	'{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}', or_replace => true)});
for (1 .. 40)
{
	last if apply(document('d')) =~ /^2\|f\|.*version/m;
}
like(health(), qr/^f\|node 2 "n2" lacks revision 4 .*version/, '... sf_health says why');
$node{n2}->safe_psql('postgres', q{SELECT sf_drop_state_machine('order')});
ok(converge(), '... until it is gone there');
is(what_all_have(), '1a 2b 3c 4*d', '... and it gets all of them');

# What was taken out of the document goes everywhere, also from a node that was changed by hand.
$node{n1}->safe_psql('postgres', q{SELECT sf_set_limit('order/S', max_running => 9)});
ok(defined sql(q{SELECT count(*) FROM sf_apply_all('} . document('d') . q{', remove => true)}), 'with remove');
ok(converge(), '... which is kept with the document');
is($node{n1}->safe_psql('postgres', q{SELECT string_agg(target, ' ') FROM sf_limits}), 'order',
	'what a node has beside it is gone');

# Sessions at the same time, while a node comes and goes.
my @sessions = map { $c->background_psql('postgres', on_error_stop => 0) } 1 .. 4;
for my $round (1 .. 3)
{
	$node{n1}->stop if $round == 2;
	$sessions[$_]->{stdin} .= sprintf "SELECT count(*) FROM sf_apply_all('%s');\n", document("s$_-$round") for 0 .. 3;
	$sessions[$_]->query("SELECT 'round $round'") for 0 .. 3;
	$node{n1}->start if $round == 2;
}
$_->quit for @sessions;
ok(converge(), 'after twelve documents of four sessions, the last one once more');
my $all = what_all_have();
unlike($all, qr/\n/, '... all nodes have the same');
is(scalar(() = $all =~ /\bs\d-\d|\*s\d-\d|\d+s/g), 12, '... all twelve versions') or diag($all);
is(health(), 't|all nodes have the documents of sf_apply_all', '... and all is well');

# Revisions that are given, and another role with documents of its own.
like(error_of(q{SELECT sf_apply_all('} . document('x', ', "revision": 3') . q{')}), qr/is older than the one that was applied to all/,
	'a revision that is older');
like(apply(document('x', ', "revision": 90')), qr/^0\|t\|\|shop\|90\|1\n/, 'one that is newer');
$node{$_}->safe_psql('postgres', 'CREATE ROLE alice LOGIN') for keys %node;
my $hers = '{"format": 1, "activities": {"hers": {}}}';
like(apply($hers, 'alice'), qr/^0\|t\|\|\|1\|1\n/, 'a role has documents of its own');
for (1 .. 40)
{
	last if apply(undef, 'alice') !~ /\|f\|/;
}
my @owners = map { $node{$_}->safe_psql('postgres', q{SELECT owner FROM sf_activities WHERE activity = 'hers'}) }
  qw(c n1 n2);
is("@owners", 'alice alice alice', '... and is the owner everywhere');
my $last = apply(undef);
is(health() =~ s/\|.*//r, $last =~ /\|f\|/ ? 'f' : 't', 'sf_health agrees with what was said last');

$_->stop for values %node;
done_testing;
