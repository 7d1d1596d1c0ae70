# Pictures of machines, of our own and random ones: no line crosses a box, no two labels overlap, and every transition
# is drawn. Large machines are drawn soon, and drawing can be cancelled.
use strict;
use warnings;
use utf8;
use File::Basename qw(basename);
use FindBin;
use JSON::PP;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $checker = "$FindBin::Bin/../../tools/check-picture";
my $json = JSON::PP->new->canonical->utf8;
my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = new_node('main', conf => "client_min_messages = error\n");
$node->safe_psql('postgres', 'SELECT sf_disable()');

# Draw a machine into a file; returns the picture.
sub draw
{
	my ($name, $definition) = @_;
	my $text = ref $definition ? $json->encode($definition) : $definition;
	my $svg = $node->safe_psql('postgres',
		"SELECT sf_create_state_machine('$name', \$definition\$$text\$definition\$) \\g /dev/null
		SELECT sf_graph('$name', 'svg')");
	open my $out, '>', "$dir/$name.svg" or die "$dir/$name.svg: $!\n";
	print $out $svg;
	close $out or die "$dir/$name.svg: $!\n";
	return $svg;
}

# What the checker says of pictures.
sub complaints
{
	my $said = '';
	IPC::Run::run([ $checker, map { "$dir/$_.svg" } @_ ], '>&', \$said);
	return $said;
}

# List the transitions of a definition as "from -> to".
sub transitions
{
	my ($scope) = @_;
	my %found;
	for my $name (keys %{ $scope->{States} })
	{
		my $state = $scope->{States}{$name};
		my @to = ($state->{Default}, map { $_->{Next} } $state, @{ $state->{Choices} // [] },
			@{ $state->{Catch} // [] });
		$found{"$name -> $_"} = 1 for grep { defined } @to;
		for my $job (keys %{ $state->{Jobs} // {} })
		{
			my $what = $state->{Jobs}{$job};
			$found{ (ref $_ ? $_->{Job} : $_) . " -> $job" } = 1 for @{ $what->{After} // [] };
			%found = (%found, transitions($what->{Type} ? { States => { $job => $what } } : $what));
		}
		%found = (%found, transitions($_)) for @{ $state->{Branches} // [] }, $state->{ItemProcessor}
			// $state->{Iterator} // ();
	}
	return %found;
}

# Check that a picture has the transitions of a definition, and no others.
sub same_transitions
{
	my ($svg, $definition, $what) = @_;
	my %expected = transitions($definition);
	my %drawn;
	while ($svg =~ /<g id="line-\d+" data-from="([^"]*)" data-to="([^"]*)"/g)
	{
		my ($from, $to) = ($1, $2);
		s/&#(\d+);/chr $1/ge for $from, $to;
		$drawn{"$from -> $to"} = 1 unless $from eq '(start)' || $to eq '(end)';
	}
	is_deeply([ sort keys %drawn ], [ sort map { my $line = $_; utf8::encode($line); $line } keys %expected ], $what);
	return;
}

# Choose a random element.
sub one_of { return $_[ rand @_ ] }

my $number;

# A name for a state: short, long, of words, of one word, from other scripts.
sub state_name
{
	$number++;
	return one_of("S$number", "Load the rows of day $number", "CheckWhetherTheOrderOfCustomer${number}IsComplete",
		'x' x one_of(1, 30, 60) . $number, "検査と承認 $number", "<b>&\"quoted\" \\ $number");
}

# A random scope: every state is reached from the one before it, or from an earlier Choice.
sub random_scope
{
	my ($size, $depth) = @_;
	my @names = map { state_name() } 1 .. $size;
	my (%states, @choices);
	for my $i (0 .. $#names)
	{
		my %state = random_state($depth);
		my $next = $names[ $i + 1 ];
		if ($state{Type} eq 'Choice' && defined $next)
		{
			$state{Default} = $next;
			$state{Choices} = [ map { random_rule(one_of(@names)) } 1 .. one_of(1, 1, 2, 3, one_of(1, 12)) ];
			push @choices, $state{Choices};
		}
		elsif (!defined $next || (@choices && rand() < 0.2))
		{
			%state = (Type => one_of('Succeed', 'Fail')) if $state{Type} eq 'Choice' || rand() < 0.3;
			$state{End} = JSON::PP::true if $state{Type} !~ /Succeed|Fail/;
			push @{ one_of(@choices) }, random_rule($next) if defined $next;
		}
		else { $state{Next} = rand() < 0.1 && $i > 0 && @choices ? back(\@choices, $next, @names[ 0 .. $i ]) : $next }
		$state{Catch} = [ map { { ErrorEquals => [ one_of('E', 'Some.LongName.OfAnError') . $_ ],
			Next => one_of(@names) } } 1 .. one_of(1, 3) ]
		  if $state{Type} =~ /Task|Map|Parallel|JobNet/ && rand() < 0.5;
		$states{ $names[$i] } = \%state;
	}
	return { StartAt => $names[0], States => \%states };
}

# Random jobs of a net, some of which are flows of states. A job waits for some of those before it, or for the failure
# of one; then nothing waits for it.
sub random_jobs
{
	my ($size, $depth) = @_;
	my (%jobs, @before);
	for (1 .. $size)
	{
		my %job = rand() < 0.2 ? %{ random_scope(one_of(1 .. 4), $depth) } : random_state($depth);
		%job = (Type => 'Pass') if ($job{Type} // '') eq 'Choice';
		my %after = map { one_of(@before) => 1 } 1 .. (@before ? one_of(0 .. 4) : 0);
		my $on_failure = %after && rand() < 0.1;
		$job{After} = $on_failure ? [ { Job => (sort keys %after)[0], On => ['failure'] } ] :
		  [ map { rand() < 0.7 ? $_ : { Job => $_, On => [ one_of('end', 'success') ] } } sort keys %after ]
		  if %after;
		$job{Condition} = { Variable => '$.weekday', NumericLessThan => 6 } if rand() < 0.2;
		my $name = state_name();
		$jobs{$name} = \%job;
		push @before, $name unless $on_failure;
	}
	return \%jobs;
}

# Lead back to one of some states, and let an earlier Choice reach the next one.
sub back
{
	my ($choices, $next, @names) = @_;
	push @{ one_of(@$choices) }, random_rule($next);
	return one_of(@names);
}

# A rule of a Choice.
sub random_rule
{
	my $next = shift;
	return { Variable => '$.' . one_of('a', 'order.customer.address.country', 'x' x 40),
		StringEquals => one_of('b', 'y' x 30), Next => $next };
}

# A random state without its transitions.
sub random_state
{
	my $depth = shift;
	my $type = one_of(qw(Pass Task Task Task Choice Choice Wait), $depth > 0 ? qw(Map Parallel JobNet) : ());
	return (Type => 'Task', Resource => one_of('activity:a', 'sql:query',
		'arn:aws:states:::lambda:invoke.waitForTaskToken')) if $type eq 'Task';
	return (Type => 'Wait', Seconds => 1) if $type eq 'Wait';
	return (Type => 'JobNet', Jobs => random_jobs(one_of(1 .. 12), $depth - 1)) if $type eq 'JobNet';
	return (Type => 'Map', ItemProcessor => random_scope(one_of(1 .. 5), $depth - 1)) if $type eq 'Map';
	return (Type => 'Parallel', Branches => [ map { random_scope(one_of(1 .. 5), $depth - 1) } 1 .. one_of(1 .. 4) ])
		if $type eq 'Parallel';
	return (Type => $type);
}

# A chain of tasks; further fields of each come from a function of its number.
sub chain
{
	my ($n, $more) = @_;
	return map { ("T$_" => { Type => 'Task', Resource => 'activity:a', Next => $_ < $n ? 'T' . ($_ + 1) : 'Done',
		$more->($_) }) } 1 .. $n;
}

my %own = (
	# thirty tasks whose errors one state handles
	handler => { StartAt => 'T1', States =>
		{ chain(30, sub { (Catch => [ { ErrorEquals => ['States.ALL'], Next => 'Tell' } ]) }),
			Tell => { Type => 'Task', Resource => 'activity:a', Next => 'Failed' }, Failed => { Type => 'Fail' },
				Done => { Type => 'Succeed' } } },
	# one Choice among thirty states
	router => { StartAt => 'Which?', States =>
		{ 'Which?' => { Type => 'Choice', Default => 'Done', Choices => [ map { { Variable => '$.kind',
						StringEquals => "kind number $_", Next => "T$_" } } 1 .. 30 ] }, chain(30, sub { () }),
							Done => { Type => 'Succeed' } } },
	# loops: of one state, of two, of a loop in a loop
	loops => { StartAt => 'Get', States => { Get => { Type => 'Task', Resource => 'activity:a', Next => 'Ready?',
				Catch => [ { ErrorEquals => ['Again'], Next => 'Get' },
					{ ErrorEquals => ['Later'], Next => 'Pause' } ] },
			'Ready?' => { Type => 'Choice', Default => 'Pause',
				Choices => [ map { { Variable => '$.s', StringEquals => $_->[0], Next => $_->[1] } }
				  [ 'done', 'Done' ], [ 'new', 'Get' ], [ 'same', 'Ready?' ], [ 'old', 'Pause' ] ] },
			Pause => { Type => 'Wait', Seconds => 1, Next => 'Get' }, Done => { Type => 'Succeed' } } },
	# jobs that many wait for, by success, by failure and in any case; jobs that nothing waits for
	net => { StartAt => 'Night', States => { Night => { Type => 'JobNet', End => JSON::PP::true, Jobs => {
				(map { ("load$_" => { Type => 'Task', Resource => 'activity:a' }) } 1 .. 9),
				(map { ("sum$_" => { Type => 'Task', Resource => 'activity:a',
					After => [ "load$_", 'load' . ($_ % 9 + 1) ] }) } 1 .. 9),
				report => { StartAt => 'Print', States => { Print => { Type => 'Pass', Next => 'Mail' },
					Mail => { Type => 'Pass', End => JSON::PP::true } },
					After => [ map { "sum$_" } 1 .. 9 ] },
				clean => { Type => 'Pass', After => [ map { { Job => "load$_", On => ['end'] } } 1 .. 9 ] },
				alarm => { Type => 'Pass', After => [ { Job => 'report', On => ['failure'] } ] },
				inner => { Type => 'JobNet',
					Jobs => { a => { Type => 'Pass' }, b => { Type => 'Pass', After => ['a'] } },
					After => [ 'report', 'clean' ] } } } } },
	one => { StartAt => 'Only', States => { Only => { Type => 'Fail' } } });
same_transitions(draw($_, $own{$_}), $own{$_}, "$_: every transition is drawn") for sort keys %own;

for my $file (glob "$FindBin::Bin/../../demo/*.asl.json")
{
	my $name = basename($file, '.asl.json');
	my $text = PostgreSQL::Test::Utils::slurp_file($file);
	same_transitions(draw($name, $text), $json->decode($text), "$name: every transition is drawn");
	$own{$name} = 1;
}
is(complaints(sort keys %own), '', 'the pictures of our own machines are in order');

# Random ones, with a seed that a failure tells.
my $seed = $ENV{SFFLOW_SEED} // 1;
srand $seed;
my $random = full(40, 1000);
my @random = map {
	my $definition = random_scope(one_of(2 .. 8, 20, 40), one_of(0 .. 2));
	same_transitions(draw("random$_", $definition), $definition, "random machine $_: every transition is drawn");
	"random$_"
} 1 .. $random;
is(complaints(@random), '', "the pictures of $random random machines are in order (SFFLOW_SEED=$seed)");

# Random nets, of jobs like those of a night.
my $nets = full(10, 200);
my @nets = map {
	my $definition = { StartAt => 'Net',
		States => { Net => { Type => 'JobNet', End => JSON::PP::true, Jobs => random_jobs(one_of(20, 60, 100), 1) } } };
	same_transitions(draw("net$_", $definition), $definition,
		"random net $_: every job is joined with those that it waits for");
	"net$_"
} 1 .. $nets;
is(complaints(@nets), '', "the pictures of $nets random nets are in order (SFFLOW_SEED=$seed)");

# The checker notices what is wrong.
my $svg = draw('broken', $own{loops});
my %damage = (
	'a box in the way of lines' => [ qr/(data-state="Pause".*?<rect class="box" x=")\d+(" y=")\d+/s,
		'"$1" . 150 . "$2" . 100' ],
	'a label elsewhere' => [ qr/(<g class="label.*?<rect x=")\d+(" y=")\d+/s, '"$1" . 0 . "$2" . 9999' ],
	'a line that ends elsewhere' => [ qr/(data-to="Done"><path class="line" d="M\d+,)\d+/, '"$1" . 5' ]);
for my $what (sort keys %damage)
{
	(my $damaged = $svg) =~ s/$damage{$what}[0]/$damage{$what}[1]/ee;
	open my $out, '>', "$dir/damaged.svg" or die "$dir/damaged.svg: $!\n";
	print $out $damaged;
	close $out;
	isnt(complaints('damaged'), '', "the checker notices $what");
}

# Large machines: 500 states soon; a long chain whose lines would need too many places is drawn with some lines cut.
srand $seed;
my %large = (
	tangle500 => random_scope(500, 0),
	tangle2000 => random_scope(2000, 0),
	net1000 => { StartAt => 'Net', States =>
		{ Net => { Type => 'JobNet', End => JSON::PP::true, Jobs => random_jobs(1000, 0) } } },
	handlers500 => { StartAt => 'T1', States =>
		{ chain(250, sub { (Catch => [ { ErrorEquals => ['States.ALL'], Next => "H$_[0]" } ]) }),
			(map { ("H$_" => { Type => 'Pass', Next => 'Done' }) } 1 .. 250), Done => { Type => 'Succeed' } } },
	far3000 => { StartAt => 'T1', States =>
		{ chain(1500, sub { (Catch => [ { ErrorEquals => ['States.ALL'], Next => 'H' . (1501 - $_[0]) } ]) }),
			(map { ("H$_" => { Type => 'Pass', Next => $_ < 1500 ? 'H' . ($_ + 1) : 'Done' }) } 1 .. 1500),
				Done => { Type => 'Succeed' } } });
# The seconds of CPU that a session has used: on a busy machine a clock would measure the others.
my $cpu = q{SELECT (split_part(f, ' ', 12)::int + split_part(f, ' ', 13)::int) / 100.0
	FROM regexp_replace(pg_read_file('/proc/self/stat'), '.*\) ', '') AS f};
for my $name (sort keys %large)
{
	draw($name, $large{$name});
	my $took = (split /\n/, $node->safe_psql('postgres', "SELECT length(sf_graph('$name', 'svg')); $cpu"))[-1];
	note sprintf '%s: %.2f s', $name, $took;
	cmp_ok($took, '<', 5, "$name is drawn in " . sprintf('%.2f s', $took));
}
is(complaints('handlers500'), '', 'handlers500 is in order');
like(PostgreSQL::Test::Utils::slurp_file("$dir/far3000.svg"), qr/>to H\d+</,
	'lines too long to be drawn name where they lead');
my ($status, $out, $err) = $node->psql('postgres',
	"SET statement_timeout = '50ms'; SELECT length(sf_graph('tangle2000', 'svg'))");
like($err, qr/canceling statement due to statement timeout/, 'drawing can be cancelled');

$node->stop;
done_testing();
