# Transcripts of the real service, over HTTP: each recorded call is signed, sent to sfgateway, and its answer judged as
# the suite conformance judges that of sf_aws_api. Executions are driven by hand between the calls, as there.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib", "$FindBin::Bin/../../conformance";
use ApiCases qw(api_calls drive_function judge_api read_cases);
use Compare qw(set_placeholders);
use JSON::PP ();
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

my $folder = $ENV{SFFLOW_CONFORMANCE} // "$FindBin::Bin/../../../../shared/conformance";
plan skip_all => "no recordings in $folder" unless -e "$folder/aws.jsonl";

my $node = new_node('main',
	conf => "sfflow.account_id = '111111111111'\nsfflow.max_payload_bytes = 262144\nclient_min_messages = error\n");
$node->safe_psql('postgres', 'SELECT sf_disable()');
$node->safe_psql('postgres', drive_function('public'));
my $gateway = start_gateway($node, config => "[key AKIDFILE]\nrole = postgres\nsecret = secret\n",
	'log-level' => 'info');
my $body = PostgreSQL::Test::Utils::tempdir() . '/body';

# Quote a text, or nothing, for SQL.
sub literal
{
	my $text = shift;
	return defined $text ? "'" . $text =~ s/'/''/gr . "'" : 'NULL';
}

# Make a call; gives the answer as judge_api takes it.
sub call
{
	my ($action, $request) = @_;
	unlink $body;
	append_to_file($body, $request);
	my $got = curl($gateway, '/', '--aws-sigv4', 'aws:amz:us-east-1:states', '--user', 'AKIDFILE:secret',
		'-H', 'Content-Type: application/x-amz-json-1.0', '-H', "X-Amz-Target: AWSStepFunctions.$action",
			'--data-binary', "\@$body");
	my $answer = json($got->{body});
	return { value => $answer } if $got->{status} == 200;
	return { error => "no answer: $got->{status} $got->{error}" } unless ref $answer;
	return { error => "$answer->{__type}: $answer->{message}", name => $answer->{__type},
		message => $answer->{message} };
}

# Make the calls of a case, and drive the executions that they start.
sub run_case
{
	my $case = shift;
	my ($n, $token, %answers) = (0, '');
	for my $call (api_calls($case))
	{
		my $request = $call->{request} =~ s/<mock:list_executions\.nextToken>/$token/gr
		  =~ s/<mock:logs\.describe_log_groups\.logGroups\.0\.arn>/arn:aws:logs:us-east-1:111111111111:log-group:log_group_name:*/gr;
		utf8::encode($request);
		my $answer = $answers{ 'step' . $n++ } = call($call->{action}, $request);
		$token = $answer->{value}{nextToken} // $token if $answer->{value};
		$node->safe_psql('postgres', 'SELECT drive(' . join(', ', map { literal($_) } @{ $call->{drive} }) . ')')
			if $call->{drive};
	}
	return \%answers;
}

# Drop what a case has made.
sub clean_up
{
	$node->safe_psql('postgres', <<'SQL');
SELECT sf_drop_state_machine(state_machine, force => true) FROM sf_state_machines WHERE is_current;
SELECT sf_drop_activity(activity) FROM sf_activities;
SQL
	return;
}

my @cases = grep { $_->{kind} eq 'api' } read_cases("$folder/aws.jsonl");
cmp_ok(scalar @cases, '>=', 60, 'there are recordings');
for my $case (@cases)
{
	clean_up();
	my $answers = run_case($case);
	set_placeholders(keys %{ $case->{bindings} // {} }, @{ $case->{placeholders} // [] });
	is_deeply(judge_api($case, $answers), [], $case->{id});
}
stop_gateway($gateway);
$node->stop;
done_testing();
