# The statements of docs/tutorial.md and docs/how-to.md run, one after the other, as they stand there, and print what
# the pages show. The tutorial's commands for the shell run, too, but for those that build.
use strict;
use warnings;
use FindBin;
use File::Temp qw(tempdir);
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

chdir "$FindBin::Bin/../.." or die "cannot enter the source tree: $!\n";
my $pgtmp = 'test/tools/pgtmp';
my @directories;
END { my $status = $?; system $pgtmp, 'rm', $_ for @directories; $? = $status }

# Run the blocks of a page against a server of its own. The page may start and remove the server by itself, in /tmp/sf.
sub try_page
{
	my ($page, @started) = @_;
	my $dir = tempdir('/tmp/sfXXXXXX');
	push @directories, $dir;
	system_or_bail($pgtmp, 'start', $dir) unless @started;

	my $tried = 0;
	my $text = slurp_file("docs/$page");
	while ($text =~ /^```(sh|sql)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/msg)
	{
		my ($language, $block, $shown) = ($1, $2, $3 // '');
		if ($language eq 'sh')
		{
			# psql is typed into below, and what is tested is built already.
			for my $command (grep { /^\Q$pgtmp\E (?!psql)/ } split /\n/, $block)
			{
				is(system($command =~ s{/tmp/sf\b}{$dir}gr), 0, "$page: $command");
			}
			next;
		}
		is_shown($page, $dir, $block, $shown);
		$tried++;
	}
	return $tried;
}

# Type a block into psql and compare what it prints. One that only reads is tried again for a while, as a person looks
# again: what it shows may have to come about first.
sub is_shown
{
	my ($page, $dir, $block, $shown) = @_;
	my ($first) = $block =~ /\A(.*)$/m;
	my $printed;
	for my $look (1 .. ($block =~ /\A(?:SELECT [^;]*FROM sf_[^;]*;\n)+\z/ ? 100 : 1))
	{
		sleep(0.1) if $look > 1;
		IPC::Run::run([ $pgtmp, 'psql', $dir, qw(-q -v ON_ERROR_STOP=1 -P pager=off -P footer=off) ], '<', \$block, '>&', \$printed);
		$printed =~ s/ +$//mg;
		$printed =~ s/\A\n+|\n+\z//g;
		$printed .= "\n" if $printed ne '';
		last if $printed eq $shown;
	}
	is($printed, $shown, "$page: $first");
	return;
}

cmp_ok(try_page('tutorial.md', 'starts its server'), '>', 10, 'the tutorial has statements');
ok(!-e $directories[0], 'the tutorial removes its server');
cmp_ok(try_page('how-to.md'), '>', 10, 'the how-to page has statements');

# Its line for YAML, which needs PyYAML.
SKIP:
{
	skip 'PyYAML is not installed', 2 if system("python3 -c 'import yaml' 2>/dev/null");
	my ($line) = slurp_file('docs/how-to.md') =~ /^(\\set definition `python3 .*)$/m;
	my $yaml = "$directories[-1]/payment.asl.yaml";
	append_to_file($yaml, "StartAt: Wait\nStates:\n  Wait:\n    Type: Wait\n    Seconds: \${Seconds}  # of a day\n    End: true\n");
	my $typed = ($line =~ s/payment\.asl\.yaml/$yaml/r)
	  . "\nSELECT sf_import(:'definition', '{\"Seconds\": 86400}', 'yaml');\nSELECT definition FROM sf_state_machines WHERE state_machine = 'yaml';\n";
	IPC::Run::run([ $pgtmp, 'psql', $directories[-1], qw(-q -A -t -v ON_ERROR_STOP=1) ], '<', \$typed, '>&', \my $printed);
	ok($line, 'how-to.md has a line for YAML');
	is($printed, qq(1\n{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 86400, "End": true}}}\n), '... which converts it');
}
done_testing();
