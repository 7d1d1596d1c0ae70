package SfCopies;

# What the tests of physical copies share: an original with work under way, and whether a server drives.
use strict;
use warnings;
use Exporter 'import';
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Copy ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

our @EXPORT = qw(new_original new_copy server_on settled drives drives_not file_of);

my $started = 0;

# Make and start the original: one task under way, so that whoever drives a copy has something to do.
sub new_original
{
	my ($name, $conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(allows_streaming => 1, has_archiving => 1, extra => ['--data-checksums']);
	$node->append_conf('postgresql.conf', <<"EOC" . ($conf // ''));
shared_preload_libraries = 'sfflow'
max_worker_processes = 16
max_wal_senders = 10
wal_keep_size = '512MB'
recovery_target_timeline = 'latest'
EOC
	$node->start;
	$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION sfflow;
CREATE FUNCTION nap() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(3600); END $$;
SELECT sf_create_state_machine('nap', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.nap", "End": true}}}');
SELECT sf_create_state_machine('tick', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_start('nap', '{}', 'under-way');
EOC
	settled($node);
	$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM sf_workers WHERE execution_id = 'nap:under-way'))
	  or BAIL_OUT('the original does not run');
	return $node;
}

# Make a server on a backup; options as of init_from_backup, and conf.
sub new_copy
{
	my ($name, $original, $backup, %how) = @_;
	my $conf = delete $how{conf};
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init_from_backup($original, $backup, %how);
	$node->append_conf('postgresql.conf', "archive_mode = off\n" . ($conf // ''));
	return $node;
}

# Make a server on a data directory that a function makes.
sub server_on
{
	my ($name, $make) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	mkdir $node->basedir;
	mkdir $node->backup_dir;
	mkdir $node->archive_dir;
	$make->($node->data_dir);
	$node->append_conf('postgresql.conf',
		"archive_mode = off\nport = " . $node->port . "\nunix_socket_directories = '" . $node->host . "'\n");
	return $node;
}

# Wait until the launcher has looked at every database.
sub settled
{
	my $node = shift;
	return $node->poll_query_until('postgres',
		q(SELECT count(*) = 1 FROM sf_health WHERE item = 'data directory' AND detail LIKE '%, settled'))
	  || BAIL_OUT($node->name . ' does not settle');
}

# Assert that a server drives.
sub drives
{
	my ($node, $what) = @_;
	settled($node);
	my $name = 'n' . ++$started;
	$node->safe_psql('postgres', "SELECT sf_start('tick', '{}', '$name')");
	is($node->safe_psql('postgres', "SELECT sf_await('tick:$name', '180 s')"), 'SUCCEEDED', "$what: driven");
	return;
}

# Assert that a server drives nothing, by itself or by a tick of pg_cron, and says so.
sub drives_not
{
	my ($node, $what) = @_;
	settled($node);
	my $name = 'n' . ++$started;
	like(
		$node->safe_psql('postgres', q(SELECT detail FROM sf_health WHERE item = 'driven' AND NOT ok)),
		qr/copy of a data directory.*sf_enable\(\) adopts it/, "$what: not driven, and sf_health says why");
	$node->safe_psql('postgres', "SELECT sf_start('tick', '{}', '$name')");
	my (undef, undef, $warning) = $node->psql('postgres', 'CALL sf_run_due()');
	like($warning, qr/sf_run_due\(\) runs nothing/, '... nor does sf_run_due() run anything');
	is( $node->safe_psql('postgres', "SELECT sf_await('tick:$name', '500 ms') || count(*) FROM sf_workers WHERE role <> 'launcher'"),
		'RUNNING0', '... nothing runs');
	return;
}

# Read the file of a server's data directory, as a hash.
sub file_of
{
	my $node = shift;
	my $path = $node->data_dir . '/sfflow.instance';
	return unless -e $path;
	return map { /^(\w+) (.*)$/ ? ($1 => $2) : () } split /\n/, slurp_file($path);
}

1;
