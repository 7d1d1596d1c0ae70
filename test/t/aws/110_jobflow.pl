# A night batch that was written for Step Functions runs as it is: a job table in DynamoDB, events that
# start each job, task tokens, shell scripts by Systems Manager (here: by sfworker). JOB-005 fails; the
# same id resumes.
#
# test/fixtures/jobflow/ holds the definitions as they were printed in an article, in which words had
# been lost. What had to be repaired, and what was shown only as a picture, is below; all else is as
# printed.
use strict;
use warnings;
use utf8;
use Encode ();
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

my $folder = "$FindBin::Bin/../../fixtures/jobflow";
my $json = JSON::PP->new->canonical;

# The scripts: one that says which job it ran, and has a bug in JOB-005 until somebody mends it.
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/broken", '');
append_to_file("$dir/process.sh", <<"EOS");
#!/bin/sh
echo "\$1" >> $dir/ran
if [ "\$1" = JOB-005 ] && [ -e $dir/broken ]; then
	echo "cannot read the file" >&2
	exit 1
fi
EOS
chmod 0755, "$dir/process.sh";

# The repairs: where AWS's name had stood, a blank in a key, the account, where the scripts are.
my @repairs = (
	[ qr/arn:ユースカジノ 最低出金額:/, 'arn:aws:' ],
	[ qr/ユースカジノ 最低出金額_STEP_FUNCTIONS/, 'AWS_STEP_FUNCTIONS' ],
	[ qr/" S\.\$"/, '"S.$"' ],
	[ qr/\[アカウントID\]/, '000000000000' ],
	[ qr{/home/ec2-user}, $dir ]);

# Shown as a picture: a job that is to be skipped is not run.
my $skip_choice = {
	Type => 'Choice',
	Choices => [ { Variable => '$.Item.job_status.S', StringEquals => 'skip', Next => 'SendTaskSuccess' } ],
	Default => 'UpdateJobStatusToRuning' };

my %shown = map { %$_ } printed('flow');
my ($init, $job) = @shown{qw(init JOB-001)};
my ($event) = printed('job');
my ($initialise) = printed('init');
my %control = (map({ %$_ } printed('control')), checkStetus_skip => $skip_choice);

# Shown as a picture: the order of the jobs, each of them like the one that is printed.
my $flow = {
	StartAt => 'init',
	States => {
		init => $init,
		'JOB-001' => $job,
		Parallel => { Type => 'Parallel', Branches => [ branch('JOB-002', 'JOB-003'), branch('JOB-004', 'JOB-005') ],
			Next => 'JOB-006' },
		'JOB-006' => job_state(undef) } };
my %machines = (
	'stm-jobflow-01' => $flow,
	'stm-jobflow-init' => $initialise,
	'stm-job-run' => $event,
	'stm-job-control' => { StartAt => 'GetJobStatus', States => \%control });

my $node = new_node('main', conf => "shared_preload_libraries = ''\n", bare => 1);
$node->safe_psql('postgres', <<'EOS');
CREATE EXTENSION sfflow;
CREATE ROLE batch LOGIN;
GRANT CREATE ON DATABASE postgres TO batch;
GRANT CREATE ON SCHEMA public TO batch;
EOS

# All is the batch's own; what stands in for AWS, too.
as_batch($_) for map({ sprintf "SELECT sf_create_state_machine('%s', \$asl\$%s\$asl\$)", $_,
	$json->encode($machines{$_}) } sort keys %machines), <<'EOS';
SELECT sf_aws_install();
SELECT sfflow_aws.create_table('JOB_CONTROLL', 'id', 'job_id');
SELECT sfflow_aws.create_table('JOB_RELATION', 'job_id', 'pre_job_id');
INSERT INTO sfflow_aws.dynamodb_item
SELECT 'JOB_RELATION', 'S:JOB-' || job, 'S:JOB-' || pre,
	jsonb_build_object('job_id', jsonb_build_object('S', 'JOB-' || job), 'pre_job_id',
	jsonb_build_object('S', 'JOB-' || pre))
FROM (VALUES ('002', '001'), ('004', '001'), ('003', '002'), ('005', '004'), ('006', '003'),
	('006', '005')) AS v (job, pre);
SELECT sf_create_activity('shell');
SELECT sfflow_aws.put_instance('i-015a72a1bcba8853a', 'shell');
SELECT sfflow_aws.put_rule('job-call', '{"source": ["job-run"], "detail-type": ["job_call"]}', 'stm-job-control',
	'base-ec2-run-jobflow-customeventbus');

-- Go on with whatever runs, a few steps each, without waiting for Wait states, until all has ended.
CREATE PROCEDURE drive() LANGUAGE plpgsql AS $$
DECLARE
	running text;
	began timestamptz := clock_timestamp();
BEGIN
	WHILE clock_timestamp() < began + interval '180 s' LOOP
		FOR running IN SELECT execution_id FROM sf_executions WHERE status = 'RUNNING' ORDER BY requested_at LOOP
			PERFORM sf_run(running, skip_waits => true, max_steps => 6);
		END LOOP;
		COMMIT;
		EXIT WHEN NOT EXISTS (SELECT FROM sf_executions WHERE status = 'RUNNING');
		PERFORM pg_sleep(0.02);
	END LOOP;
END $$;

CREATE VIEW job_controll AS
SELECT item->'id'->>'S' AS id, item->'job_id'->>'S' AS job_id, item->'job_status'->>'S' AS job_status
FROM sfflow_aws.dynamodb_item WHERE table_name = 'JOB_CONTROLL';
EOS

my $worker = start_worker($node, '-a', 'shell', '-c', '4');

# The first night: JOB-005 fails, its siblings go on to the join, JOB-006 is skipped.
as_batch(q{SELECT sf_start('stm-jobflow-01', '{"id": "20250205"}', '20250205')});
as_batch('CALL drive()');
is(as_batch(q{SELECT status FROM sf_executions WHERE execution_id = 'stm-jobflow-01:20250205'}), 'SUCCEEDED',
	'the whole flow has ended');
is(as_batch('SELECT job_id, job_status FROM job_controll ORDER BY 1'),
	join("\n", map({ "JOB-00$_|success" } 1 .. 4), 'JOB-005|failure', 'JOB-006|skip'),
		'JOB-005 failed, JOB-006 was skipped');
is(ran(), join(' ', map { "JOB-00$_" } 1 .. 5), 'five scripts ran');
is(as_batch(q{SELECT count(*) FROM sf_executions WHERE state_machine = 'stm-job-control' AND status = 'FAILED'}), 1,
	'one job shows as failed');

# The next morning: mended, started again with the same id.
unlink "$dir/broken";
as_batch(q{SELECT sf_start('stm-jobflow-01', '{"id": "20250205"}', '20250205-2')});
as_batch('CALL drive()');
is(as_batch('SELECT job_id, job_status FROM job_controll ORDER BY 1'), join("\n", map { "JOB-00$_|success" } 1 .. 6),
	'all jobs have succeeded');
is(ran(), 'JOB-001 JOB-002 JOB-003 JOB-004 JOB-005 JOB-005 JOB-006', 'nothing that had succeeded ran again');
is(as_batch(q{SELECT count(*) FROM sf_executions WHERE status = 'RUNNING'}), 0, 'nothing is left running');

# Another id is another night.
as_batch(q{SELECT sf_start('stm-jobflow-01', '{"id": "20250206"}', '20250206')});
as_batch('CALL drive()');
is(as_batch(q{SELECT count(*) FROM job_controll WHERE job_status = 'success'}), 12, 'another id runs all jobs');
is(ran() =~ tr/J//, 13, 'once');
is(stop_worker($worker), 0, 'the worker leaves');

no_surprises($node);
$node->stop;
done_testing();

# Read the definitions of a file, repaired: objects, or states that become one object.
sub printed
{
	my $name = shift;
	my $text = Encode::decode('UTF-8', slurp_file("$folder/$name.txt"));
	for (@repairs)
	{
		my ($damaged, $right) = @$_;
		$text =~ s/$damaged/$right/g;
	}
	# In one place a comma follows the last state that is printed.
	return map { decode_json(Encode::encode('UTF-8', /^\{/ ? $_ : "{$_}")) } map { s/,?\s*$//r } split /\n\n/, $text;
}

# A job's state: as the one that is printed, with another next state, or none.
sub job_state
{
	my $next = shift;
	my %state = %$job;
	delete $state{Next};
	return { %state, defined $next ? (Next => $next) : (End => JSON::PP::true) };
}

# A branch of two jobs.
sub branch
{
	my ($first, $second) = @_;
	return { StartAt => $first, States => { $first => job_state($second), $second => job_state(undef) } };
}

# Tell which scripts ran, in the order of their names.
sub ran
{
	return join ' ', sort split ' ', slurp_file("$dir/ran");
}

# Run SQL as the batch's role.
sub as_batch
{
	my $sql = shift;
	return $node->safe_psql('postgres', $sql, extra_params => [ '-U', 'batch' ]);
}
