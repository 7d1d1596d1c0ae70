# Ten years of the days that calendars pick, and of the runs of schedules in three time zones, equal those that
# test/tools/calendar-reference finds in another way.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my ($begin, $end) = ('2025-01-01', '2034-12-31');
my $file = "$FindBin::Bin/../../fixtures/calendars.json";
my $node = new_node('main');

# What the reference prints, by the first word of its lines.
sub reference
{
	my (@how) = @_;
	my ($out, $error) = run_command([ 'python3', "$FindBin::Bin/../../tools/calendar-reference", $how[0], $file, $begin,
		$end, @how[ 1 .. $#how ] ]);
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
	is(defined $n ? $got->[$n] // 'nothing' : undef, defined $n ? $expected->[$n] // 'nothing' : undef,
		"$what: " . scalar @$expected);
	return;
}

# The calendars of the file, which are in such an order that each comes after what it extends.
my $names = $node->safe_psql('postgres', <<"EOQ");
CREATE TABLE given AS SELECT pg_read_file('$file')::json AS doc;
SELECT c.key FROM given, json_each(doc -> 'calendars') c
	WHERE sf_create_calendar(c.key, (c.value -> 'rule')::jsonb, (c.value -> 'days')::jsonb) IS NOT NULL;
EOQ
my @names = split /\n/, $names;
cmp_ok(scalar @names, '>=', 20, 'calendars');

my $expected = reference('days');
for my $name (@names)
{
	my $got = $node->safe_psql('postgres',
		qq(SELECT c, o.o, day FROM (VALUES ('$name')) AS n(c),
		unnest('{skip,previous,next,run}'::text[]) WITH ORDINALITY AS o(o, n),
		sf_calendar_days(c, '$begin', '$end', o.o) WHERE is_picked ORDER BY o.n, day));
	same([ split /\n/, $got ], $expected->{$name}, $name);
}

# Schedules with these calendars, as sf_schedule makes them, in three zones that change their clocks, one by half an
# hour.
$node->safe_psql('postgres', <<'EOQ');
SELECT sf_create_state_machine('flow', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, timezone, calendar, on_closed, changed_at,
	created_at)
SELECT s->>'name', current_user::regrole, s->>'expression', 'flow', '{}', 'UTC', s->>'calendar', s->>'on_closed',
	now(), now()
FROM given, json_array_elements(doc -> 'schedules') AS s;
EOQ
for my $zone ('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe')
{
	$expected = reference('runs', $zone);
	$node->safe_psql('postgres', "UPDATE _sfflow.schedule SET timezone = '$zone'");
	for my $name (sort keys %$expected)
	{
		my $got = $node->safe_psql('postgres',
			qq(SELECT '$name', to_char(scheduled_for AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')
			FROM sf_schedule_preview('$name', '$begin'::timestamp AT TIME ZONE '$zone',
				('$end'::timestamp + interval '1 day') AT TIME ZONE '$zone' - interval '1 s')));
		same([ split /\n/, $got ], $expected->{$name}, "$name, $zone");
	}
	cmp_ok(scalar keys %$expected, '>=', 20, "schedules, $zone");
}

no_surprises($node);
done_testing();
