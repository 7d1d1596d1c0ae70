# A copy of a data directory drives nothing beside its original: backups, restores and clones of every kind
# (docs/copies.md), and what they are after a restart.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use PostgreSQL::Test::RecursiveCopy;
use SfCopies;
use Test::More;

my $original = new_original('original');
my $original_dir = $original->data_dir;

# Stop and start a server, or kill it in between.
sub again
{
	my ($node, $how) = @_;
	$node->stop($how // 'fast');
	$node->start;
	return;
}

# The original goes on through whatever happens to it.
drives($original, 'new cluster');
again($original);
drives($original, 'restart');
again($original, 'immediate');
drives($original, 'crash');
my %before = file_of($original);
$original->stop;
rename $original_dir, "$original_dir.moved" or die $!;
rename "$original_dir.moved", "$original_dir.again" or die $!;
rename "$original_dir.again", $original_dir or die $!;
$original->start;
drives($original, 'renamed directory');
is({ file_of($original) }->{id}, $before{id}, 'its id has not changed');

$original->backup('base');
$original->safe_psql('postgres', q(SELECT pg_create_restore_point('here'); SELECT pg_switch_wal()));
ok($original->poll_query_until('postgres',
	q(SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 16777216) FROM pg_stat_archiver)),
	'the archive has the restore point');

# A base backup, opened.
my $copy = new_copy('opened', $original, 'base');
$copy->start;
drives_not($copy, 'base backup opened');
isnt({ file_of($copy) }->{id}, $before{id}, 'it has an id of its own');
again($copy);
drives_not($copy, 'the same, restarted');
again($copy, 'immediate');
drives_not($copy, 'the same, crashed');
like($copy->safe_psql('postgres', q(SELECT enabled, stopped_because FROM _sfflow.instance)),
	qr/^f\|copy of a data directory/,
	'the mark is in the tables, for standbys of the copy');
$copy->safe_psql('postgres', 'SELECT sf_enable()');
drives($copy, 'sf_enable() adopts it');
again($copy);
drives($copy, 'the same, restarted');
$copy->stop;

# Its first start without the library.
$copy = new_copy('bare', $original, 'base', conf => "shared_preload_libraries = ''\n");
$copy->start;
is($copy->safe_psql('postgres', q(CALL sf_run_due(); SELECT status FROM sf_executions
	WHERE execution_id = 'nap:under-way')), 'RUNNING',
	'without the library, sf_run_due() does nothing either');
$copy->stop;
$copy->append_conf('postgresql.conf', "shared_preload_libraries = 'sfflow'\n");
$copy->start;
drives_not($copy, 'first start without the library');
$copy->stop;

# The label removed.
$copy = new_copy('unlabelled', $original, 'base');
unlink $copy->data_dir . '/backup_label' or die $!;
$copy->start;
drives_not($copy, 'backup_label removed');
$copy->stop;

# Point in time.
$copy = new_copy('pitr', $original, 'base', has_restoring => 1, standby => 0,
	conf => "recovery_target_name = 'here'\nrecovery_target_action = 'promote'\n");
$copy->start;
drives_not($copy, 'point in time');
$copy->stop;

# ... restarted as a standby, as Patroni starts every server, and promoted.
$copy->append_conf('standby.signal', '');
$copy->append_conf('postgresql.conf', "recovery_target_name = ''\nprimary_conninfo = ''\nrestore_command = ''\n");
$copy->start;
$copy->promote;
drives_not($copy, 'point in time, restarted through standby.signal, promoted');

# ... and a standby of it, promoted.
$copy->backup('of the copy');
my $standby = new_copy('standby_of_copy', $copy, 'of the copy', has_streaming => 1);
$standby->start;
$standby->promote;
drives_not($standby, 'standby of such a copy, promoted');
$standby->stop;
$copy->stop;

# A crash in the middle of the recovery.
$copy = new_copy('pitr_crash', $original, 'base', has_restoring => 1, standby => 0,
	conf => "recovery_target_name = 'here'\nrecovery_target_action = 'pause'\n");
$copy->start;
ok($copy->poll_query_until('postgres', q(SELECT pg_get_wal_replay_pause_state() = 'paused')),
	'it has come to the target');
again($copy, 'immediate');
ok($copy->poll_query_until('postgres', q(SELECT pg_get_wal_replay_pause_state() = 'paused')),
	'... and again after a crash');
$copy->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
ok($copy->poll_query_until('postgres', q(SELECT NOT pg_is_in_recovery())), 'it opens');
drives_not($copy, 'crash in the middle of the recovery');
$copy->stop;

# No target: all there is.
$copy = new_copy('targetless', $original, 'base', has_restoring => 1, standby => 0);
$copy->start;
ok($copy->poll_query_until('postgres', q(SELECT NOT pg_is_in_recovery())), 'it opens');
drives_not($copy, 'recovery without a target');
$copy->stop;

# A target and standby.signal: it stops there and promotes itself.
$copy = new_copy('disguised', $original, 'base', has_restoring => 1,
	conf => "recovery_target_name = 'here'\nrecovery_target_action = 'promote'\n");
$copy->start;
ok($copy->poll_query_until('postgres', q(SELECT NOT pg_is_in_recovery())), 'it opens');
drives_not($copy, 'standby.signal with a target');
$copy->stop;

# Cold copies.
$original->stop;
for my $way ([ cp => 'cp', '-a', '%s/.', '%s' ], [ tar => 'sh', '-c', 'tar -C "$1" -cf - . | tar -C "$2" -xpf -', 'sh',
	'%s', '%s' ])
{
	my ($name, @command) = @$way;
	$copy = server_on($name, sub {
		my $dir = shift;
		mkdir $dir;
		my @paths = ($original_dir, $dir);
		system_or_bail(map { s/%s/shift @paths/er } @command);
	});
	chmod 0700, $copy->data_dir;
	$copy->start;
	drives_not($copy, "cold copy by $name");
	$copy->stop;
}
$original->start;
drives($original, 'the original, after all of them');

# A clone that is to have its own life: never driven, and so are its schedules (docs/copies.md).
$copy = new_copy('clone', $original, 'base', conf => "sfflow.databases = 'none'\n");
$copy->start;
settled($copy);
$copy->safe_psql('postgres', 'SELECT sf_disable()');
$copy->append_conf('postgresql.conf', "sfflow.databases = ''\n");
again($copy);
settled($copy);
is($copy->safe_psql('postgres', q(SELECT sf_start('tick', '{}', 'clone'); SELECT sf_await('tick:clone', '500 ms'))),
	"tick:clone\nRUNNING",
	'a clone that was disabled while nothing was driven stays so');
like($copy->safe_psql('postgres', q(SELECT detail FROM sf_health WHERE item = 'driven')), qr/copy of a data directory/,
	'... as a copy');
$copy->stop;

$original->stop;
done_testing();
