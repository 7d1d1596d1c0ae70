package ApiCases;

# Recorded cases: read them, make the calls of the AWS API that a transcript has, and judge the answers. run makes the
# calls in SQL, t/aws_api/217_gateway_cases.pl over HTTP.
use strict;
use warnings;
use Compare qw(differences);
use Exporter 'import';
use JSON::PP;

our @EXPORT_OK = qw(api_calls consumer_of drive_function judge_api problem_of read_cases value_of);

my $json = JSON::PP->new->allow_nonref->canonical;

# Read cases; each keeps the text of its members, for the order of keys.
sub read_cases
{
	my $file = shift;
	my $value;
	$value = qr/(?:"(?:[^"\\]++|\\.)*+"|\{(?:[^{}"]++|"(?:[^"\\]++|\\.)*+"|(??{$value}))*+\}|\[(?:[^\[\]"]++|"(?:[^"\\]++|\\.)*+"|(??{$value}))*+\]|[^\s,\[\]{}"]+)/s;
	my @cases;
	open my $in, '<:utf8', $file or die "$file: $!\n";
	while (my $line = <$in>)
	{
		my $case = JSON::PP->new->decode(without_halves($line));
		my %raw;
		$line =~ /\A\s*\{/g;
		while ($line =~ /\G\s*"([^"]+)"\s*:\s*($value)\s*,?/gc)
		{
			$raw{$1} = $2 if grep { $1 eq $_ } qw(definition data bindings);
		}
		$case->{raw} = \%raw;
		push @cases, $case;
	}
	close $in;
	return @cases;
}

# Replace escapes that are half of a surrogate pair, which PostgreSQL's JSON and Perl's cannot hold, in JSON text.
sub without_halves
{
	my $text = shift;
	$text =~ s/(\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.))/$1 =~ m{^\\u[dD][89a-fA-F]..$} ? '\ufffd' : $1/ges;
	return $text;
}

# List the calls of a transcript: the action, the request as JSON, and after the start of an execution what to give to
# drive(). The recording names executions by what the service made up for those that were started without a name; each
# runs to its end, as the recording waited for it.
sub api_calls
{
	my $case = shift;
	my ($started, $activity, @calls) = (0);
	for my $step (@{ $case->{expected}{steps} })
	{
		my %params = %{ $step->{params} };
		my $starts = $step->{operation} eq 'start_execution' && !$step->{error};
		$activity = $params{name} if $step->{operation} eq 'create_activity';
		$params{name} //= $case->{bindings}{"<ExecArnPart_${started}idx>"} if $starts;
		my %call = (action => join('', map { ucfirst } split /_/, $step->{operation}), request => $json->encode(\%params));
		if ($starts)
		{
			my ($machine) = $params{stateMachineArn} =~ /:stateMachine:([^:]+)/;
			$call{drive} = [ "$machine:$params{name}", '', $activity, consumer_of($case) ];
			$started++;
		}
		push @calls, \%call;
	}
	return @calls;
}

# Say what the consumer of an activity, itself a machine in the recording, does: its name, and the
# parameters of the failure that it sends. One that sends nothing takes the task all the same.
sub consumer_of
{
	my $case = shift;
	my %consumer = (answers => JSON::PP::false);
	for my $state (values %{ $case->{activity_consumer}{States} // {} })
	{
		my $call = ($state->{Resource} // '') =~ /:sfn:(\w+)$/ ? $1 : next;
		$consumer{worker} = $state->{Parameters}{WorkerName} if $call eq 'getActivityTask';
		$consumer{answers} = JSON::PP::true if $call =~ /^sendTask(?:Success|Failure)$/;
		$consumer{failure} = { map { s/\.\$$//r => $state->{Parameters}{$_} } keys %{ $state->{Parameters} } } if $call eq 'sendTaskFailure';
	}
	return $json->encode(\%consumer);
}

# Build the function of a schema that drives an execution and all that it starts, and answers what is outside.
sub drive_function
{
	my $schema = shift;
	return <<SQL;
CREATE FUNCTION $schema.drive(id text, kind text, consumed text, consumer json) RETURNS text LANGUAGE plpgsql AS \$f\$
DECLARE
	running text;
	task record;
	body jsonb;
BEGIN
	FOR round IN 1 .. 60 LOOP
		FOR running IN SELECT execution_id FROM sf_executions WHERE status = 'RUNNING' ORDER BY requested_at LOOP
			PERFORM sf_run(running, skip_waits => running = id, max_steps => 1000);
		END LOOP;
		EXIT WHEN EXISTS (SELECT FROM sf_executions WHERE execution_id = id AND status <> 'RUNNING');
		FOR task IN SELECT t.* FROM sf_activities AS a, sf_get_activity_task('callback', max_tasks => 100) AS t WHERE a.activity = 'callback' LOOP
			PERFORM sf_send_task_success(task.task_token);
			body := task.input;
			CONTINUE WHEN NOT coalesce(body ? 'TaskToken', false);
			IF kind = 'task_failure' THEN
				PERFORM sf_send_task_failure(body->>'TaskToken', 'Failure error', 'Failure cause');
			ELSIF kind = 'task_success' THEN
				PERFORM sf_send_task_success(body->>'TaskToken', body->'Message');
			ELSIF kind = 'echo' THEN
				PERFORM sf_send_task_success(body->>'TaskToken', body);
			END IF;
		END LOOP;
		IF consumed IS NOT NULL THEN
			FOR task IN SELECT * FROM sf_get_activity_task(consumed, consumer->>'worker') LOOP
				CONTINUE WHEN NOT (consumer->>'answers')::boolean;
				IF consumer->'failure' IS NOT NULL THEN
					PERFORM sf_send_task_failure(task.task_token, consumer#>>'{failure,Error}',
						CASE WHEN consumer#>>'{failure,Cause}' LIKE '\$.%' THEN task.input::text ELSE consumer#>>'{failure,Cause}' END);
				ELSE
					PERFORM sf_send_task_success(task.task_token, task.input);
				END IF;
			END LOOP;
		END IF;
		PERFORM pg_sleep(CASE WHEN round > 5 THEN 0.2 ELSE 0 END);
	END LOOP;
	RETURN (SELECT status FROM sf_executions WHERE execution_id = id);
END \$f\$;
SQL
}

# Compare the answers, the names of errors, and their messages. What clients refuse themselves has no name.
sub judge_api
{
	my ($case, $answers) = @_;
	my @problems;
	my $n = 0;
	for my $step (@{ $case->{expected}{steps} })
	{
		my $name = 'step' . $n++;
		my $problem = problem_of($answers, $name);
		my $error = $step->{error};
		my $by_client = $error && (!$error->{error} || ($error->{typename} // '') eq 'ParamValidationError');
		my $got = value_of($answers, $name);
		if (!$error && !defined $problem)
		{
			# Recordings from before there was encryption do not tell of it.
			delete $got->{encryptionConfiguration} if $step->{response} && !exists $step->{response}{encryptionConfiguration};
			push @problems, map { "$step->{operation}: $_" } differences('', $step->{response}, $got) if $step->{response};
		}
		elsif (!$error || !defined $problem) { push @problems, "$step->{operation}: expected " . ($error ? $json->encode($error) : 'success') . ', got ' . ($problem // 'success') }
		elsif (!$by_client && $problem !~ /^22P05|^SerializationException/)
		{
			push @problems, map { "$step->{operation}: $_" } differences('error', $error->{error}, $answers->{$name}{name}),
			  differences('message', $error->{cause}, $answers->{$name}{message});
		}
	}
	return \@problems;
}

# Give the problem of a step, or nothing.
sub problem_of
{
	my ($answers, $step) = @_;
	return 'no answer' . ($answers->{noise} ? ": $answers->{noise}" : '') unless $answers && exists $answers->{$step};
	return defined $answers->{$step}{error} ? "$answers->{$step}{error}" : undef;
}

# Give the value of a step.
sub value_of
{
	my ($answers, $step) = @_;
	return $answers->{$step}{value};
}

1;
