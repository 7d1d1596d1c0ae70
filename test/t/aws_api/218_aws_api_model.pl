# The AWS API against the model of the service that botocore brings: each constraint of each member of a request is
# checked, with the message of the service, and each answer that the tests of the API get has the shape of the model.
# SFFLOW_BOTOCORE is a folder with a newer botocore than Python finds.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use SfTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $json = JSON::PP->new->allow_nonref->canonical;

# The newest model of those that are installed: it has the most shapes.
my ($model) = sort { keys %{ $b->{shapes} } <=> keys %{ $a->{shapes} } } map { read_model($_) } folders();
plan skip_all => 'botocore is not installed' unless $model;
my $shapes = $model->{shapes};

# Older models lack operations and members.
my $is_new = exists $shapes->{MockInput};
note 'the model has ' . keys(%{ $model->{operations} }) . ' operations'
	. ($is_new ? '' : '; members that it lacks are not judged');

# The folders of botocore that Python finds.
sub folders
{
	my @folders = grep { defined } $ENV{SFFLOW_BOTOCORE};
	for my $python ('python3', '/usr/bin/python3')
	{
		my ($out, $err) = ('', '');
		push @folders, $out
		  if IPC::Run::run([ $python, '-c', 'import botocore; print(botocore.__path__[0], end="")' ], '>', \$out, '2>',
		  	\$err);
	}
	return @folders;
}

# Read the model in a folder of botocore.
sub read_model
{
	my $folder = shift;
	my $text = '';
	my $program = 'import glob, gzip, sys; name = glob.glob(sys.argv[1] + "/data/stepfunctions/*/service-2.json*")[0];'
	  . ' sys.stdout.buffer.write((gzip.open if name.endswith("gz") else open)(name, "rb").read())';
	return IPC::Run::run([ 'python3', '-c', $program, $folder ], '>', \$text) ? decode_json($text) : ();
}

my $node = new_node('main');
$node->safe_psql('postgres', <<'EOS');
CREATE EXTENSION pgtap;
-- The name and the message with which a request is refused.
CREATE FUNCTION refusal(action text, request jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	name text;
BEGIN
	PERFORM sf_aws_api(action, request);
	RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS name = CONSTRAINT_NAME;
	RETURN concat_ws(': ', name, sqlerrm);
END $$;
-- Answer, and write the answer, or the name of the error, to the log.
CREATE FUNCTION recorded(action text, request jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	answer jsonb;
	name text;
BEGIN
	answer := sf_aws_api(action, request);
	RAISE LOG 'answer of %: %', action, answer;
	RETURN answer;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS name = CONSTRAINT_NAME;
	RAISE LOG 'refusal of %: %', action, coalesce(nullif(name, ''), sqlstate);
	RAISE;
END $$;
EOS

# --- requests

# Operations by their names; each is known.
my @operations = sort keys %{ $model->{operations} };
my @checks;

# Have a request that has one bad member refused with a message.
sub expect_problem
{
	my ($operation, $request, $path, $shape, $shown, $rule) = @_;
	my $value = $shape->{sensitive} ? '' : " $shown";
	push @checks, [ $operation, $request,
		qr/^ValidationException: \d+ validation errors? detected: .*Value\Q$value\E at '\Q$path\E' failed to satisfy constraint: Member must \Q$rule\E/s, "$path must $rule" ];
}

# Have values of a member refused; $wrap puts a value of it into a request.
sub check_member
{
	my ($operation, $path, $name, $wrap) = @_;
	my $shape = $shapes->{$name};
	my $type = $shape->{type};
	if ($type eq 'string')
	{
		push @checks, [ $operation, $wrap->(1),
			qr/^SerializationException: NUMBER_VALUE can not be converted to a String$/, "$path is a text" ];
		expect_problem($operation, $wrap->('NONE_OF_THEM'), $path, $shape, "'NONE_OF_THEM'",
			'satisfy enum value set: [') if $shape->{enum};
		expect_problem($operation, $wrap->(''), $path, $shape, "''",
			"have length greater than or equal to $shape->{min}") if $shape->{min};
		if ($shape->{max})
		{
			my $long = 'x' x ($shape->{max} + 1);
			expect_problem($operation, $wrap->($long), $path, $shape, "'$long'",
				"have length less than or equal to $shape->{max}");
		}
		expect_problem($operation, $wrap->("\x{e9}"), $path, $shape, "'\x{e9}'",
			"satisfy regular expression pattern: $shape->{pattern}") if $shape->{pattern};
	}
	elsif ($type =~ /^(integer|long|float)$/)
	{
		push @checks, [ $operation, $wrap->('1'),
			qr/^SerializationException: STRING_VALUE can not be converted to an? /, "$path is a number" ];
		for ([ min => -1, 'greater' ], [ max => 1, 'less' ])
		{
			my ($limit, $step, $word) = @$_;
			next unless defined $shape->{$limit};
			my $number = $shape->{$limit} + $step;
			expect_problem($operation, $wrap->($number), $path, $shape, "'$number'",
				"have value $word than or equal to $shape->{$limit}");
		}
	}
	elsif ($type eq 'boolean')
	{
		push @checks, [ $operation, $wrap->('true'),
			qr/^SerializationException: STRING_VALUE can not be converted to a Boolean$/, "$path is a truth value" ];
	}
	elsif ($type eq 'list')
	{
		push @checks, [ $operation, $wrap->({}), qr/^SerializationException: /, "$path is a list" ];
		expect_problem($operation, $wrap->([]), $path, $shape, "'[]'",
			"have length greater than or equal to $shape->{min}") if $shape->{min};
		my $element = $shapes->{ $shape->{member}{shape} };
		if ($element->{type} eq 'structure')
		{
			check_structure($operation, "$path.1.member.", $element, sub { $wrap->([ $_[0] ]) });
		}
		else
		{
			my $long = 'x' x ($element->{max} + 1);
			expect_problem($operation, $wrap->([$long]), $path, $shape, "'[$long]'",
				"satisfy constraint: [Member must have length less than or equal to $element->{max}");
		}
	}
	else
	{
		push @checks, [ $operation, $wrap->([]), qr/^SerializationException: Start of list found where not expected$/,
			"$path is an object" ];
		check_structure($operation, "$path.", $shape, $wrap);
	}
}

# Have each member of a structure refused, absent and with bad values.
sub check_structure
{
	my ($operation, $prefix, $shape, $wrap) = @_;
	expect_problem($operation, $wrap->({}), "$prefix$_", $shapes->{ $shape->{members}{$_}{shape} }, 'null',
		'not be null') for @{ $shape->{required} // [] };
	for my $member (sort keys %{ $shape->{members} })
	{
		check_member($operation, "$prefix$member", $shape->{members}{$member}{shape},
			sub { $wrap->({ $member => $_[0] }) });
	}
}

check_structure($_, '', $shapes->{ $model->{operations}{$_}{input}{shape} }, sub { $_[0] }) for @operations;

# Older models do not say which members are sensitive, and know fewer values.
SKIP:
{
	skip 'the model is old', 1 unless $is_new;
	my $statements = join '', map { sprintf "SELECT public.refusal('%s', \$request\$%s\$request\$);\n", $_->[0],
		$json->ascii->encode($_->[1]) } @checks;
	my @got = split /\n/, $node->safe_psql('postgres', "SET sfflow.max_payload_bytes = 262144;\n$statements");
	utf8::decode($_) for @got;
	is(@got, @checks, @checks . ' requests are answered');
	my @wrong = grep { $got[$_] !~ $checks[$_][2] } 0 .. $#checks;
	is(@wrong, 0, 'each of them is refused with the message of the service');
	diag "$checks[$_][0]: $checks[$_][3]: " . substr($got[$_], 0, 300) for @wrong;
}

# --- answers

# Tell what is wrong with a value that is to have a shape.
sub problems
{
	my ($name, $value, $path) = @_;
	my $shape = $shapes->{$name};
	my $type = $shape->{type};
	return "$path is null" unless defined $value;
	if ($type eq 'structure')
	{
		return "$path is no object" unless ref $value eq 'HASH';
		my @known = grep { exists $shape->{members}{$_} } sort keys %$value;
		return ((map { "$path lacks $_" } grep { !exists $value->{$_} } @{ $shape->{required} // [] }),
			(map { "$path has $_" } grep { $is_new && !exists $shape->{members}{$_} } sort keys %$value),
			map { problems($shape->{members}{$_}{shape}, $value->{$_}, "$path.$_") } @known);
	}
	if ($type eq 'list')
	{
		return "$path is no list" unless ref $value eq 'ARRAY';
		return map { problems($shape->{member}{shape}, $value->[$_], "$path\[$_]") } 0 .. $#$value;
	}
	if ($type eq 'map')
	{
		return "$path is no map" unless ref $value eq 'HASH';
		return map { problems($shape->{value}{shape}, $value->{$_}, "$path.$_") } sort keys %$value;
	}
	my $text = $json->encode($value);
	return $text =~ /^(true|false)$/ ? () : "$path is $text" if $type eq 'boolean';
	return $text =~ /^\d{10,11}(\.\d{1,3})?$/ ? () : "$path is $text" if $type eq 'timestamp';
	return $text =~ /^-?\d+$/ ? () : "$path is $text" if $type =~ /^(integer|long)$/;
	return $text =~ /^-?\d+(\.\d+)?$/ ? () : "$path is $text" if $type =~ /^(float|double)$/;
	return "$path is $text" unless $text =~ /^"/;
	return "$path is $text" if $is_new && $shape->{enum} && !grep { $_ eq $value } @{ $shape->{enum} };
	return "$path is too short" if length $value < ($shape->{min} // 0);
	# Payloads are limited by a setting.
	return "$path has " . length($value) . ' characters' if ($shape->{max} // 0) != 262144
		&& length $value > ($shape->{max} // 1e9);
	return ();
}

# Run the tests of the API, with what they get in the log.
for my $file (sort glob "$FindBin::RealBin/../../pgtap/aws_api/*.sql")
{
	my $text = slurp_file($file);
	$text =~ s/\bsf_aws_api\(/public.recorded(/g;
	my ($name) = $file =~ m{([^/]+)\.sql$};
	my ($out, $err) = ('', '');
	$node->psql('postgres', $text, stdout => \$out, stderr => \$err, extra_params => [ '-v', 'ON_ERROR_STOP=0' ]);
	unlike("$out$err", qr/^not ok|ERROR:/m, "the tests of $name hold");
}

# Errors that the model has for no operation, and those that only a database has: docs/aws-api.md.
my %anywhere = map { $_ => 1 } qw(ValidationException SerializationException AccessDeniedException);
my %own = map { $_ => 1 } ('DeleteStateMachine ConflictException', 'DeleteActivity ConflictException',
	'ListStateMachineVersions StateMachineDoesNotExist');
my (%answers, %wrong);
for my $line (split /\n/, slurp_file($node->logfile))
{
	if ($line =~ /LOG:  answer of (\w+): (.*)$/)
	{
		my ($operation, $answer) = ($1, $2);
		my $known = $model->{operations}{$operation} or next;
		$answers{$operation}++;
		$wrong{"$operation: $_"}++ for problems($known->{output}{shape}, $json->decode($answer), 'answer');
	}
	elsif ($line =~ /LOG:  refusal of (\w+): (\w+)/ && $model->{operations}{$1})
	{
		my ($operation, $error) = ($1, $2);
		# Errors of PostgreSQL have no name. An old model does not have all errors, nor all of an operation.
		next if $error =~ /^\d/ || $anywhere{$error} || $own{"$operation $error"};
		next if !$is_new;
		$wrong{"$operation is refused with $error"}++
			unless grep { $_->{shape} eq $error } @{ $model->{operations}{$operation}{errors} // [] };
	}
}
is(join(', ', grep { !$answers{$_} } @operations), '', 'each operation was answered');
is(keys %wrong, 0, 'all answers have the shape of the model, and all errors are those of their operation');
diag $_ for sort keys %wrong;
$node->stop;
done_testing();
