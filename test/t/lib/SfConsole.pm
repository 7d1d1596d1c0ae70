package SfConsole;

# What the tests of the console share: a server with the demo's night, a gateway for it, and a script in Python that
# drives a browser and says what it finds as lines of TAP.
use strict;
use warnings;
use Exporter 'import';
use FindBin;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

our @EXPORT = qw(night_node in_browser);

my $top = "$FindBin::Bin/../../..";

# Start a server with the night in it (test/demo/night); roles sign in with their passwords.
sub night_node
{
	plan skip_all => 'no chromium, which Ubuntu has as a snap only'
	  if -e '/etc/os-release' && slurp_file('/etc/os-release') =~ /^ID=ubuntu/m && system 'command -v chromium >/dev/null';
	my $node = new_node('main', bare => 1, conf => <<'EOC');
shared_preload_libraries = 'sfflow, pg_cron'
cron.database_name = 'postgres'
cron.use_background_workers = on
EOC
	my $folder = PostgreSQL::Test::Utils::tempdir_short();
	chmod 0755, $folder;
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGUSER => 'postgres');
	my $said = '';
	IPC::Run::run([ "$top/test/demo/night", $folder ], '<', '/dev/null', '>&', \$said) or die "night: $said";
	unlink $node->data_dir . '/pg_hba.conf';
	append_to_file($node->data_dir . '/pg_hba.conf', "local all postgres trust\nlocal all all scram-sha-256\n");
	$node->reload;
	return $node;
}

# Run a script of test/console with a browser against a gateway, and hand its lines on as results.
sub in_browser
{
	my ($node, $gateway, $script, @arguments) = @_;
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGPASSWORD => 'retail-secret');
	my ($python) = grep { -x && !system "$_ -c 'import selenium' 2>/dev/null" } '/usr/bin/python3', map { "$_/python3" } split /:/, $ENV{PATH};
	my $run = IPC::Run::run([ $python // 'python3', "$top/test/console/$script", "$gateway->{url}/", @arguments ], '<', '/dev/null', '>', \my $out, '2>', \my $err);
	for my $line (split /\n/, $out)
	{
		if ($line =~ /^(not )?ok \d+ - (.*)$/) { ok(!$1, $2) }
		else { diag($line =~ s/^# //r) }
	}
	ok($run, "$script has run to its end") or diag($err);
	diag(grep { /"status":"5/ || !/"level":"(?:debug|info)"/ } map { "$_\n" } split /\n/, gateway_log($gateway)) unless Test::More->builder->is_passing;
	return;
}

1;
