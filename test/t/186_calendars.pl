# Ten years of the days that calendars pick equal those that test/tools/calendar-reference finds in another way.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my ($begin, $end) = ('2025-01-01', '2034-12-31');
my $file = "$FindBin::Bin/../fixtures/calendars.json";
my $node = new_node('main');

# What the reference prints, by the first word of its lines.
sub reference
{
	my (@how) = @_;
	my ($out, $error) = run_command([ 'python3', "$FindBin::Bin/../tools/calendar-reference", $how[0], $file, $begin, $end, @how[ 1 .. $#how ] ]);
	is($error, '', "the reference prints @how");
	my %lines;
	push @{ $lines{ (split /\|/)[0] } }, $_ for split /\n/, $out;
	return \%lines;
}

# Compare lists; the first lines that differ are shown.
sub same
{
	my ($got, $expected, $what) = @_;
	my ($n) = grep { ($got->[$_] // '') ne ($expected->[$_] // '') } 0 .. ($#$got > $#$expected ? $#$got : $#$expected);
	is(defined $n ? $got->[$n] // 'nothing' : undef, defined $n ? $expected->[$n] // 'nothing' : undef, "$what: " . scalar @$expected);
	return;
}

# The calendars of the file, which are in such an order that each comes after what it extends.
my $names = $node->safe_psql('postgres', <<"EOQ");
CREATE TABLE given AS SELECT pg_read_file('$file')::json AS doc;
SELECT c.key FROM given, json_each(doc -> 'calendars') c WHERE sf_create_calendar(c.key, (c.value -> 'rule')::jsonb, (c.value -> 'days')::jsonb) IS NOT NULL;
EOQ
my @names = split /\n/, $names;
cmp_ok(scalar @names, '>=', 20, 'calendars');

my $expected = reference('days');
for my $name (@names)
{
	my $got = $node->safe_psql('postgres', qq(SELECT c, o.o, day FROM (VALUES ('$name')) AS n(c), unnest('{skip,previous,next,run}'::text[]) WITH ORDINALITY AS o(o, n),
		sf_calendar_days(c, '$begin', '$end', o.o) WHERE is_picked ORDER BY o.n, day));
	same([ split /\n/, $got ], $expected->{$name}, $name);
}

no_surprises($node);
done_testing();
