# The statements of README.md, docs/tutorial.md, docs/how-to.md and all pages in docs/how-to/ run, one after the other,
# as they stand there, and print what the pages show. Their commands for the shell run, too, but for those that build.
use strict;
use warnings;
use FindBin;
use File::Basename;
use File::Temp qw(tempdir);
use IPC::Run ();
use POSIX ();
use PostgreSQL::Test::Cluster ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

chdir "$FindBin::Bin/../../.." or die "cannot enter the source tree: $!\n";
my $pgtmp = 'test/tools/pgtmp';
my (@directories, @shells);

END
{
	my $status = $?;
	kill 'KILL', map { -$_ } @shells if @shells;
	system $pgtmp, 'rm', $_ for @directories;
	$? = $status;
}

# Run the blocks of a page against a server of its own, which it may start and remove by itself, in /tmp/sf. In place
# of that directory and of the port 8080 the test takes others.
sub try_page
{
	my $page = shift;
	my $text = slurp_file($page eq 'README.md' ? $page : "docs/$page");
	my $dir = tempdir('/tmp/sfXXXXXX');
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	push @directories, $dir;
	system_or_bail($pgtmp, 'start', $dir) unless $text =~ m{^\Q$pgtmp\E start /tmp/sf\b}m;
	$text =~ s{/tmp/sf\b}{$dir}g;
	$text =~ s/\b8080\b/$port/g;

	my $tried = 0;
	while ($text =~ /^```(sh|sql)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/msg)
	{
		my ($language, $block, $shown) = ($1, $2, $3 // '');
		if ($language eq 'sh')
		{
			run_shell($page, $dir, $block);
			next;
		}
		is_shown($page, $dir, $block, $shown);
		$tried++;
	}
	cmp_ok($tried, '>', 2, "$page has statements");
	return;
}

# Run a block of commands in a shell whose programs find the server of the page, if it is there. What the shell leaves
# behind in the background ends with the test. psql is typed into below, and what is tested is built already.
sub run_shell
{
	my ($page, $dir, $block) = @_;
	$block =~ s/^(?:make|\Q$pgtmp\E psql).*\n//mg;
	$block = "eval \"\$($pgtmp env $dir)\"\n$block" if -d "$dir/data";
	my $shell = fork // die "fork: $!";
	if ($shell == 0)
	{
		setpgrp;
		open STDIN, '<', '/dev/null' or POSIX::_exit(99);
		open STDOUT, '>>', "$PostgreSQL::Test::Utils::tmp_check/shell.log" or POSIX::_exit(99);
		open STDERR, '>&', \*STDOUT or POSIX::_exit(99);
		exec 'bash', '-ec', $block or POSIX::_exit(98);
	}
	push @shells, $shell;
	waitpid $shell, 0;
	is($?, 0, "$page: " . ($block =~ /([^\n]*)\n\z/)[0]);
	return;
}

# Type a block into psql and compare what it prints. One that only reads is tried again for a while, as a person looks
# again: what it shows may have to come about first.
sub is_shown
{
	my ($page, $dir, $block, $shown) = @_;
	my ($first) = $block =~ /\A(.*)$/m;
	my $printed;
	my $only_reads = $block =~ /\A(?:SELECT [^;]*FROM sf_[^;]*;\n)+\z/;
	my $end = time + ($only_reads ? 180 : 0);
	do
	{
		IPC::Run::run([ $pgtmp, 'psql', $dir, qw(-q -v ON_ERROR_STOP=1 -P pager=off -P footer=off) ], '<', \$block,
			'>&', \$printed);
		$printed =~ s/ +$//mg;
		$printed =~ s/\A\n+|\n+\z//g;
		$printed .= "\n" if $printed ne '';
		sleep(0.1) if $printed ne $shown && time < $end;
	} while ($printed ne $shown && time < $end);
	is($printed, $shown, "$page: $first");
	return;
}

# Ask the server of the last page.
sub query
{
	my $sql = shift;
	IPC::Run::run([ $pgtmp, 'psql', $directories[-1], '-Atqc', $sql ], '>', \my $printed);
	return $printed;
}

try_page('README.md');
is(query('SELECT execution_id, status, redrive_count FROM sf_executions ORDER BY 1'),
	"order:A-1|SUCCEEDED|0\norder:A-2|SUCCEEDED|1\n", 'the README does what it says');
is(query('SELECT * FROM stock ORDER BY 1'), "chair|8\nlamp|3\n", 'to the data too');

try_page('tutorial.md');
ok(!-e $directories[-1], 'the tutorial removes its server');
try_page('how-to/' . basename($_)) for sort glob 'docs/how-to/*.md';
try_page('how-to.md');

# The line for YAML of the page on moving from Step Functions.
my ($line) = slurp_file('docs/how-to/from-step-functions.md') =~ /^(\\set definition `cat payment\.asl\.yaml`)$/m;
my $yaml = "$directories[-1]/payment.asl.yaml";
append_to_file($yaml,
	"StartAt: Wait\nStates:\n  Wait:\n    Type: Wait\n    Seconds: \${Seconds}  # of a day\n    End: true\n");
my $typed = (($line // '') =~ s/payment\.asl\.yaml/$yaml/r)
  . "\nSELECT sf_import(:'definition', '{\"Seconds\": 86400}', 'yaml');\nSELECT definition FROM sf_state_machines "
  	. "WHERE state_machine = 'yaml';\n";
IPC::Run::run([ $pgtmp, 'psql', $directories[-1], qw(-q -A -t -v ON_ERROR_STOP=1) ], '<', \$typed, '>&', \my $printed);
is($printed, qq(1\n{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":86400,"End":true}}}\n),
	'the line for YAML imports it');

# What the reference says of arguments that have another type is what PostgreSQL says.
my $reference = slurp_file('docs/sql-reference.md');
my ($refusal) = $reference =~ /`sf_start\('order', \$1::jsonb\)`\. Without that PostgreSQL says `([^`]+)`/;
my @psql = ($pgtmp, 'psql', $directories[-1], '-c');
IPC::Run::run([ @psql, q(SELECT sf_start('order', '{}'::text)) ], '>&', \$printed);
is(($printed =~ /^ERROR:  (.*)/)[0], $refusal // 'nothing', 'the reference tells what a text in place of jsonb meets');
IPC::Run::run([ @psql, q(SELECT sf_set_deadline('order', end_by => '06:00'::text)) ], '>&', \$printed);
like($printed, qr/^ERROR:  function sf_set_deadline\(/, '... and one in place of a time');
like($reference, qr/`sf_set_deadline`, are cast likewise: `end_by => \$1::time`/, '... with what helps');
done_testing();
