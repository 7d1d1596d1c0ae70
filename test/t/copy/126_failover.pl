# A standby that is promoted goes on with what its primary has driven, in every way of failing over, and
# what cannot be told from a failover is driven twice (docs/copies.md says what to do about it).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfCopies;
use SfTest;
use Test::More;

my $primary = new_original('primary', "wal_log_hints = on\n");
$primary->backup('base');

# Stop and start a server, or kill it in between.
sub again
{
	my ($node, $how) = @_;
	$node->stop($how // 'fast');
	$node->start;
	return;
}

# Make and start a standby on a backup.
sub new_standby
{
	my ($name, $of, $backup, $conf) = @_;
	my $standby = new_copy($name, $of, $backup, has_streaming => 1, conf => $conf);
	$standby->start;
	return $standby;
}

# Assert that a standby waits, and says so.
sub waits
{
	my ($standby, $what) = @_;
	is( $standby->safe_psql('postgres', q(SELECT ok, detail FROM sf_health WHERE item = 'driven')),
		't|standby: driven after promotion', "$what: waits");
	return;
}

# A standby and one behind it.
my $standby = new_standby('standby', $primary, 'base');
waits($standby, 'standby');
$standby->backup('of_standby');
my $cascading = new_standby('cascading', $standby, 'of_standby');
waits($cascading, 'cascading standby');
again($standby);
waits($standby, 'restarted standby');
$standby->promote;
drives($standby, 'standby promoted');
again($standby);
drives($standby, 'the same, restarted');
again($standby, 'immediate');
drives($standby, 'the same, crashed');
$standby->wait_for_catchup($cascading);
$standby->stop;
$cascading->promote;
drives($cascading, 'cascading standby promoted');
$cascading->stop;

# What no guard can tell apart: the primary is still there.
drives($primary, 'primary beside a standby that was promoted as a test');

# A standby that is older than the file.
unlink $primary->backup_dir . '/base/sfflow.instance' or die $!;
$standby = new_standby('older', $primary, 'base');
$standby->promote;
drives($standby, 'standby older than the file, promoted');
$standby->stop;

# A crash in the middle of a promotion: standby.signal is gone, recovery has not ended.
$standby = new_standby('crashed', $primary, 'base');
$primary->wait_for_catchup($standby);
$standby->stop('immediate');
unlink $standby->data_dir . '/standby.signal' or die $!;
$standby->start;
drives($standby, 'crash in promotion');
$standby->stop;

# The same after a clean shutdown is a hand at work.
$standby = new_standby('by_hand', $primary, 'base');
$primary->wait_for_catchup($standby);
$standby->stop;
unlink $standby->data_dir . '/standby.signal' or die $!;
$standby->start;
drives_not($standby, 'standby.signal removed by hand');
$standby->stop;

# A standby that stays behind.
$standby = new_standby('delayed', $primary, 'base', "recovery_min_apply_delay = '1h'\n");
$standby->promote;
drives($standby, 'delayed standby promoted');
$standby->stop;

# Both signal files.
$standby = new_copy('both', $primary, 'base', has_streaming => 1);
$standby->append_conf('recovery.signal', '');
$standby->start;
like(slurp_file($standby->logfile), qr/WARNING:  the data directory has both "standby.signal" and "recovery.signal"/,
	'both signal files: a warning');
$standby->promote;
drives($standby, 'both signal files, promoted');
# The second recovery ends at once, having found nothing to restore.
$standby->append_conf('postgresql.conf', "restore_command = 'false'\n");
again($standby);
ok($standby->poll_query_until('postgres', q(SELECT NOT pg_is_in_recovery())), 'it opens');
drives_not($standby, 'the same, restarted');
$standby->stop;

# A primary that was restored from the backup that its standby was made of.
my $restored = new_copy('restored', $primary, 'base');
$restored->start;
$restored->safe_psql('postgres', 'SELECT sf_enable()');
drives($restored, 'restored and adopted');
$standby = new_standby('of_restored', $primary, 'base',
	"primary_conninfo = '" . ($restored->connstr =~ s/'/''/gr) . "'\n");
$restored->wait_for_catchup($standby);
$restored->stop;
$standby->promote;
drives($standby, 'standby of the same backup as its primary, promoted');
$standby->stop;

# The old primary back after the failover: rewound it follows, opened as it is it drives.
$primary->backup('late');
my $successor = new_standby('successor', $primary, 'late');
$primary->wait_for_catchup($successor);
$primary->stop('immediate');
$successor->promote;
drives($successor, 'successor');
$primary->start;
drives($primary, 'old primary, back beside its successor');
$primary->stop;
sub rewind
{
	my @conf = slurp_file($primary->data_dir . '/postgresql.conf');
	$successor->safe_psql('postgres', 'CHECKPOINT');
	command_ok([ 'pg_rewind', '--source-server', $successor->connstr('postgres'), '--target-pgdata',
		$primary->data_dir ], 'pg_rewind');
	unlink $primary->data_dir . '/postgresql.conf';
	$primary->append_conf('postgresql.conf', @conf);
	return;
}
rewind();
$primary->append_conf('postgresql.conf', "archive_mode = off\n");
$primary->enable_streaming($successor);
$primary->start;
$successor->wait_for_catchup($primary);
waits($primary, 'rewound');
$successor->stop;
$primary->promote;
drives($primary, 'pg_rewind, standby, promoted');

# The other way round, opened without a signal file.
$successor->start;
drives($successor, 'and its old primary beside it');
$successor->stop;
($primary, $successor) = ($successor, $primary);
rewind();
unlink $primary->data_dir . '/standby.signal';
$primary->start;
drives_not($primary, 'pg_rewind, opened without a signal file');
$_->stop for $primary, $successor;

# There and back, with databases left out by a setting: neither role outlives what it is for.
my $left = new_original('left', "sfflow.databases = 'postgres'\n");
$left->safe_psql('postgres', 'CREATE DATABASE other');
$left->backup('base');
my $right = new_standby('right', $left, 'base');
for my $n (1, 2)
{
	$left->wait_for_catchup($right);
	$left->stop;
	$right->promote;
	drives($right, "switchover $n");
	$left->enable_streaming($right);
	$left->append_conf('postgresql.conf', "archive_mode = off\n");
	$left->start;
	waits($left, "former primary $n");
	($left, $right) = ($right, $left);
}
$_->stop for $left, $right;

done_testing();
