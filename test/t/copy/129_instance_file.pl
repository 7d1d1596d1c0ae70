# The file by which a data directory knows itself: killed at any instruction, damaged, or not to be written,
# it never has a copy drive, nor the original stand still.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfCopies;
use SfTest;
use Test::More;

# A kill of the postmaster at its start is seen by pg_ctl, and by nobody else.
sub dies_at
{
	my ($node, $point) = @_;
	$node->append_conf('postgresql.conf', "sfflow.debug_point = '$point:crash'\n");
	ok(!$node->start(fail_ok => 1), "killed at $point");
	$node->stop('immediate', fail_ok => 1);
	unlink $node->data_dir . '/postmaster.pid';
	return;
}

# Let it pass again.
sub mend
{
	my $node = shift;
	$node->append_conf('postgresql.conf', "sfflow.debug_point = ''\n");
	return;
}

my $original = new_original('original');
my %original = file_of($original);
is($original{role}, 'settled', 'the original has settled');
is(sprintf('%o', (stat($original->data_dir . '/sfflow.instance'))[2] & 07777), '600',
	'its file is for the server alone');
$original->backup('base');
my @points = qw(instance-file-before-sync instance-file-before-rename instance-file-after-rename);

# A backup that is opened, killed while it writes its file, at each point, and opened again.
for my $point (@points)
{
	my $copy = new_copy("copy-$point", $original, 'base');
	dies_at($copy, $point);
	my %left = file_of($copy);
	if ($point eq 'instance-file-after-rename')
	{
		is($left{role}, 'copy', 'the new file is there');
		isnt($left{id}, $original{id}, '... with another id');
	}
	else
	{
		is_deeply(\%left, \%original, 'the file that came with the copy is there as it was');
	}
	mend($copy);
	start_again($copy);
	drives_not($copy, "copy killed at $point");
	ok(!-e $copy->data_dir . '/sfflow.instance.tmp', 'no temporary file is left');
	$copy->stop;
}

# The same while a standby writes its file: it is the successor in the end.
for my $point (@points)
{
	my $standby = new_copy("standby-$point", $original, 'base', has_streaming => 1);
	dies_at($standby, $point);
	mend($standby);
	start_again($standby);
	$standby->promote;
	drives($standby, "standby killed at $point, promoted");
	$standby->stop;
}

# Killed while the roles are carried out: before the mark or the takeover commits, before the file says
# settled, while it does.
for my $point (qw(settle-before-commit settle-before-file), @points)
{
	for my $kind (qw(copy standby))
	{
		my $node = new_copy("settling-$kind-$point", $original, 'base', $kind eq 'standby' ? (has_streaming => 1) : ());
		$node->start;
		if ($kind eq 'standby')
		{
			$original->wait_for_catchup($node);
		}
		else
		{
			# its first start is over, without the label: as before, but for the mark that is to be made
			settled($node);
			$node->safe_psql('postgres', q(UPDATE _sfflow.instance SET enabled = true, stopped_because = NULL));
			$node->stop;
			unlink $node->data_dir . '/sfflow.instance';
		}
		$node->append_conf('postgresql.conf', "restart_after_crash = off\nsfflow.debug_point = '$point:crash'\n");
		if ($kind eq 'standby')
		{
			# at the start of a standby no file is written any more: all points are in the launcher
			$node->restart;
			system('pg_ctl', '-D', $node->data_dir, 'promote', '-W');
		}
		else
		{
			# it may be gone before Cluster::start has looked for its process, which would end all tests
			system_log('pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile, 'start');
		}
		ok(crashed($node), "$kind killed at $point");
		$node->stop('immediate', fail_ok => 1);
		unlink $node->data_dir . '/postmaster.pid';
		mend($node);
		start_again($node);
		$kind eq 'copy' ? drives_not($node, "copy killed at $point") : drives($node, "standby killed at $point");
		$node->stop;
	}
}

# Wait until a server has gone down by a kill.
sub crashed
{
	my $node = shift;
	my $file = $node->data_dir . '/postmaster.pid';
	for (1 .. 1800)
	{
		open my $in, '<', $file or return 1;    # it goes with the server: gone is down
		my ($pid) = split /\n/, do { local $/ = undef; <$in> // '' };
		close $in;
		return 1 unless $pid && kill 0, $pid;
		select undef, undef, undef, 0.1;
	}
	return 0;
}

# A damaged file is no file: safe, and said.
$original->stop;
my $path = $original->data_dir . '/sfflow.instance';
my $whole = slurp_file($path);
for my $damage (sub { '' }, sub { substr $whole, 0, length($whole) - 2 }, sub { $whole =~ s/settled/setlled/r },
	sub { "\0" x 100 })
{
	open my $out, '+<', $path or die $!;
	truncate $out, 0;
	print $out $damage->();
	close $out;
	$original->start;
	drives_not($original, 'damaged file');
	$original->safe_psql('postgres', 'SELECT sf_enable()');
	drives($original, 'adopted');
	$original->stop;
	$whole = slurp_file($path);
}

# Where no file can be written, none that is stale stays; sf_enable() says what is wrong.
my $copy = new_copy('full', $original, 'base');
mkdir $copy->data_dir . '/sfflow.instance.tmp' or die $!;
$copy->start;
like(slurp_file($copy->logfile), qr/LOG:  could not write file "sfflow.instance.tmp"/, 'the file cannot be written');
ok(!file_of($copy), 'the one that came with the copy is gone');
ok($copy->poll_query_until('postgres', q(SELECT count(*) = 1 FROM sf_health WHERE item = 'driven'
	AND detail LIKE '%copy of a data directory%')), 'not driven');
my (undef, undef, $error) = $copy->psql('postgres', 'SELECT sf_enable()');
like($error, qr/ERROR:  could not write file "sfflow.instance" in the data directory/, 'sf_enable() says so');
rmdir $copy->data_dir . '/sfflow.instance.tmp' or die $!;
$copy->safe_psql('postgres', 'SELECT sf_enable()');
is($copy->safe_psql('postgres', q(SELECT sf_start('tick', '{}', 'full'); SELECT sf_await('tick:full', '180 s'))),
	"tick:full\nSUCCEEDED", 'and works when it can');
$copy->restart;
drives($copy, 'the same, restarted');
$copy->stop;

# A read-only mark must not be missed: where the stale file cannot be removed either, the server does not start.
SKIP:
{
	skip 'root may remove anything', 1 if $> == 0;
	$copy = new_copy('stuck', $original, 'base');
	mkdir $copy->data_dir . '/sfflow.instance.tmp' or die $!;
	unlink $copy->data_dir . '/sfflow.instance';
	mkdir $copy->data_dir . '/sfflow.instance' or die $!;
	ok(!$copy->start(fail_ok => 1), 'the server does not start with a stale file that stays');
	like(slurp_file($copy->logfile), qr/FATAL:  could not remove file "sfflow.instance"/, '... and says why');
}

# Tools that read the data directory.
command_ok([ 'pg_checksums', '--check', '-D', $original->data_dir ], 'pg_checksums passes the file over');
$original->start;
$original->command_ok([ 'pg_basebackup', '-D', $original->backup_dir . '/verified', '-c', 'fast', '--no-sync' ],
	'pg_basebackup copies it');
command_ok([ 'pg_verifybackup', $original->backup_dir . '/verified' ], 'pg_verifybackup agrees');
$original->stop;

done_testing();
