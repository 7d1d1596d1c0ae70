# Commands run by sfworker: what goes in, what comes out, what cannot get out of its place.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

my $node = new_node('main');
activity_machine($node, 'shell', lease => '10 min', receives => 3);
my $dir = PostgreSQL::Test::Utils::tempdir();
$ENV{SFWORKER_SECRET} = 'not for commands';
$ENV{SFWORKER_SHARED} = 'for commands';
my $worker = start_worker($node, '-a', 'shell', '-c', '4', '--pass-env', 'SFWORKER_SH*',
	'--max-output', '64kB', '--max-stderr', '100', '--kill-after', '1s');

# Run a task and compare "status|output|error|cause".
sub gives
{
	my ($payload, $expected, $what) = @_;
	my $got = run_task($node, 'shell', $payload);
	return ref $expected ? like($got, $expected, $what) : is($got, $expected, $what);
}

# What comes out.
gives('{"Command": ["echo", "{\"total\": 1.10, \"list\": [1, null]}"]}',
	'SUCCEEDED|{"list": [1, null], "total": 1.10}||',
	'standard output that is JSON is the output');
gives('{"Command": ["echo", "two", "words"]}', 'SUCCEEDED|{"stdout": "two words\n"}||', 'else it is text');
gives('{"Command": ["true"]}', 'SUCCEEDED|{"stdout": ""}||', 'nothing is an empty text');
gives('{"Command": "printf \'{\"a\": \"\\\\\\\\u0000\"}\'"}', 'SUCCEEDED|{"stdout": "{\"a\": \"\\\\u0000\"}"}||',
	'JSON that jsonb cannot hold is text');
gives('{"Command": "printf \'a\\\\000b\\\\377c\'"}', "SUCCEEDED|{\"stdout\": \"a\xEF\xBF\xBDb\xEF\xBF\xBDc\"}||",
	'bytes that text cannot hold are replaced');
gives('{"Command": "head -c 70000 /dev/zero | tr \'\\\\0\' x"}',
	qr/^SUCCEEDED\|\{"stdout": "(?:x{256}){256}", "truncated": true\}\|\|$/,
	'what is too much is cut and marked');

gives('{"Command": ["echo", "1e200000"]}', qr/^FAILED\|\|Shell\.InvalidOutput\|value overflows numeric format/,
	'what only the database finds out is a failure');
gives('{"Command": "head -c 20000 /dev/zero | tr \'\\\\0\' [; head -c 20000 /dev/zero | tr \'\\\\0\' ]"}',
	qr/^(?:SUCCEEDED\|[[]{20000}|FAILED\|\|Shell\.InvalidOutput\|stack depth)/, 'also how deep it goes');

# How it fails.
gives('{"Command": "echo to nobody; echo first >&2; echo second >&2; exit 3"}',
	"FAILED||Shell.ExitCode.3|first\nsecond\n",
	'an exit status is an error, with standard error as its cause');
gives('{"Command": "seq 1000 >&2; exit 1"}', qr/^FAILED\|\|Shell\.ExitCode\.1\|(?!1\n)[\s\S]{90,100}\n1000\n$/,
	'of which the tail counts');
gives('{"Command": "kill -9 $$"}', 'FAILED||Shell.Signal.9|', 'a signal is an error');
gives('{"Command": ["/no/such/program"]}',
	'FAILED||Shell.StartFailed|cannot start "/no/such/program": No such file or directory',
	'a program that is not there');
gives('{"Command": ["pwd"], "Directory": "/no/such"}', qr/^FAILED\|\|Shell\.StartFailed\|/,
	'a directory that is not there');
gives('{"Command": "sleep 60", "TimeoutSeconds": 0.3}', 'FAILED||States.Timeout|', 'a time limit');
gives('{"Command": "trap \"\" TERM; while :; do sleep 1; done", "TimeoutSeconds": 0.3}', 'FAILED||States.Timeout|',
	'also for a command that does not listen');
like(worker_log($worker), qr/killing what does not end by itself/, 'which is killed');
for my $bad ('{"Cmd": "true"}', '{"Command": []}', '{"Command": {"a": 1}}', '{"Command": ["a", ["b"]]}',
	'{"Command": [""]}',
	'{"Command": "true", "Env": {"A B": "x"}}', '{"Command": "true", "Env": {"A=B": "x"}}',
		'{"Command": "true", "Env": {"A": {}}}',
	'{"Command": "true", "TimeoutSeconds": -1}', '{"Command": "true", "TimeoutSeconds": "1"}', '[1]', '"true"', 'null')
{
	gives($bad, qr/^FAILED\|\|Shell\.InvalidParameters\|./, "refused: $bad");
}

# Env has a bound: each of a million variables would be compared with all before it.
my @env = map { qq("V$_": "$_") } 1 .. 1001;
gives(sprintf('{"Command": "echo $V1000-$V1001", "Env": {%s}}', join ', ', @env[0 .. 999]),
	'SUCCEEDED|{"stdout": "1000-\n"}||', 'a thousand variables');
gives(sprintf('{"Command": "true", "Env": {%s}}', join ', ', @env),
	'FAILED||Shell.InvalidParameters|Env has more than 1000 members', 'one more');

# What goes in.
gives('{"Command": ["cat"], "Input": {"big": 123456789012345678901234567890.12345}}',
	'SUCCEEDED|{"big": 123456789012345678901234567890.12345}||', 'input arrives with every digit');
gives('{"Command": ["cat"], "Input": "plain text"}', 'SUCCEEDED|{"stdout": "plain text"}||', 'text arrives as text');
gives('{"Command": "true", "Input": "nobody reads this"}', 'SUCCEEDED|{"stdout": ""}||', 'nobody has to read it');
gives('{"Command": "echo $A-$B-$PATH", "Env": {"A": 1, "B": "it\'s", "PATH": "/bin:/usr/bin"}}',
	'SUCCEEDED|{"stdout": "1-it\'s-/bin:/usr/bin\n"}||', 'variables');
gives('{"Command": ["pwd"], "Directory": "/tmp"}', 'SUCCEEDED|{"stdout": "/tmp\n"}||', 'a directory');
gives('{"Command": "echo $SFFLOW_STATE $SFFLOW_ATTEMPT $SFFLOW_RESOURCE $SFWORKER_SHARED; env | grep -c -e SECRET '
	. '-e ^PG"}',
	qr/^FAILED\|\|Shell\.ExitCode\.1\|Work 1 activity:shell for commands\n0\n$/,
		'a command sees what it may, and nothing of the connection');

# Nothing of a payload is a line for a shell.
my $hostile = q(; touch ) . "$dir/broken" . q( ; $\(touch ) . "$dir/broken" . q(\) `touch ) . "$dir/broken"
	. q(` ' \" \n | & > < * ? ~ \\\\u0000 --);
$hostile =~ s/\\([()])/$1/g;
gives(qq({"Command": ["printf", "%s", "$hostile"]}),
	qr/^SUCCEEDED\|\{"stdout": "; touch .*\\n \| & > < \* \? ~ \\\\u0000 --"\}/, 'hostile arguments arrive');
gives(qq({"Command": "printf %s \\"\$A\\"; cat", "Env": {"A": "$hostile"}, "Input": "$hostile"}), qr/^SUCCEEDED\|/,
	'so do variables and input');
ok(!-e "$dir/broken", 'and nothing else happens');
gives('{"Command": "--help; echo not an option"}',
	qr/^SUCCEEDED\|\{"stdout": "not an option|^FAILED\|\|Shell.ExitCode.127/, 'a script is no option');
is($node->safe_psql('postgres', q[
	SELECT sf_start('shell', jsonb_build_object('Command', '["cat"]'::jsonb, 'Input',
		repeat('0123456789abcdef', 655360)), 'large');
	SELECT sf_await('shell:large', '180 s'); SELECT output->'truncated', length(output->>'stdout') FROM sf_executions
		WHERE name = 'large';
	SELECT sf_start('shell', jsonb_build_object('Command', '["wc", "-c"]'::jsonb, 'Input',
		repeat('0123456789abcdef', 655360)), 'count');
	SELECT sf_await('shell:count', '180 s'); SELECT output FROM sf_executions WHERE name = 'count']),
	"shell:large\nSUCCEEDED\ntrue|65536\nshell:count\nSUCCEEDED\n10485760", 'ten megabytes go in and are counted');

# Nothing stays behind: processes, descriptors.
# (The number tells this run from others on the machine.)
gives("{\"Command\": \"(sleep 1234.$$ >/dev/null 2>&1 &) ; (sleep 1234.$$ &) ; echo done\"}",
	'SUCCEEDED|{"stdout": "done\n"}||', 'a command that leaves others behind');
# The fourth is that of the folder that ls reads.
gives('{"Command": ["ls", "/proc/self/fd"]}', 'SUCCEEDED|{"stdout": "0\\n1\\n2\\n3\\n"}||',
	'a command has its three descriptors') for 1 .. 3;
ok(wait_for('it has no subprocesses', sub { !subprocesses($worker->{pid}) }), 'and no subprocesses');
ok(wait_for('they have ended', sub { !processes(qr/sleep 123[4][.]$$/) }), 'nor have they');

# Those that write without end do not hold the worker, either.
gives("{\"Command\": \"for n in 1 2 3 4; do yes left.$$ >&2 & done; echo done\"}",
	'SUCCEEDED|{"stdout": "done\n"}||', 'a command whose leftovers write for ever');
gives('{"Command": ["echo", "next"]}', 'SUCCEEDED|{"stdout": "next\n"}||', '... is followed by the next');
ok(wait_for('these have ended, too', sub { !processes(qr/yes left[.]$$/) }), '... and they have ended');

# Nor does the worker keep descriptors: one that may have few runs many tasks. (Its own cannot be listed.)
stop_worker($worker);
append_to_file("$dir/few", "#!/bin/sh\nulimit -n 32\nexec sfworker \"\$@\"\n");
chmod 0755, "$dir/few";
$worker = start_worker($node, '-a', 'shell', { program => "$dir/few" });
like(join('', map { run_task($node, 'shell', '{"Command": ["true"]}') =~ /^(\w+)/ } 1 .. 40), qr/^(?:SUCCEEDED){40}$/,
	'no descriptor is left open');

# Dry runs need no server.
is_deeply([ dry_run('{"Command": ["ls", "-l"]}', '-a', 'shell') ],
	[ 0, qq({"argv":["ls","-l"],"directory":null,"inputBytes":0,"decision":"allowed"}\n) ], 'what would be run');
is((dry_run('{"Command": []}', '-a', 'shell'))[0], 3, 'what would be refused');

is(stop_worker($worker), 0, 'it leaves');
unlike(worker_log($worker), qr/[\w.~-]{60,}/, 'no token is in the log');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables are as they must be');
$node->stop;
done_testing();
