# Sessions of the console outlast a restart of the gateway, if it has a file for them: which ones do, what the file has,
# and files that are not taken.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
SET password_encryption = 'scram-sha-256';
CREATE ROLE staff;
SELECT sf_create_state_machine('m', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_grant(r, 'm', 'staff') FROM unnest('{READ,START}'::text[]) AS r;
CREATE ROLE "od d
role" LOGIN PASSWORD 'secret' IN ROLE staff;
SQL
for my $role (qw(kept altered locked left idle))
{
	$node->safe_psql('postgres', "CREATE ROLE $role LOGIN PASSWORD 'secret' IN ROLE staff");
}
unlink $node->data_dir . '/pg_hba.conf';
append_to_file($node->data_dir . '/pg_hba.conf', "local all postgres trust\nlocal all all scram-sha-256\n");
$node->reload;
my $folder = "$PostgreSQL::Test::Utils::tmp_check/sessions-$$";
mkdir $folder, 0700 or die "$folder: $!";
my $file = "$folder/file";
my ($port, $page) = (free_port(), 0);
my $gateway;

# Begin anew at the same address.
sub restart
{
	my %settings = (port => $port, 'session-file' => $file, @_);
	stop_gateway($gateway) if $gateway;
	$gateway = start_gateway($node, %settings);
	return;
}

# Sign in; gives what each request of the session has, and its secrets.
sub open_page
{
	my $role = JSON::PP->new->allow_nonref->encode(shift);
	my $jar = "$folder/page-" . ++$page;
	my @own = ('-H', 'Content-Type: application/json', '-H', "Origin: $gateway->{url}", '-b', $jar);
	my $got = curl($gateway, '/console/login', @own, '-c', $jar, '-d', qq({"role": $role, "password": "secret"}));
	is($got->{status}, 200, "$role signs in") or diag $got->{body};
	my $token = json($got->{body})->{csrf_token};
	return { own => [ @own, '-H', "X-CSRF-Token: $token" ], token => $token,
		cookie => slurp_file($jar) =~ /([0-9a-f]{64})\s*\z/ };
}

# Ask for something in a session, once the database is reached; gives the status.
sub ask
{
	my ($session, $path, $body) = @_;
	my $got;
	wait_for($path, sub { ($got = curl($gateway, "/console/$path", @{ $session->{own} }, '-d',
		$body // '{}'))->{status} != 503 });
	return $got->{status};
}

# --- which sessions go on
restart();
my %session = map { $_ => open_page($_) } qw(kept altered locked left idle), "od d\nrole";
is(ask($session{left}, 'logout'), 204, 'a role signs out');
is(ask($_, 'api/machines'), 200, 'before') for @session{qw(kept idle)};
kill 'TERM', $gateway->{pid};
waitpid($gateway->{pid}, 0);
is($?, 0, 'the gateway leaves');
is((stat $file)[2] & 07777, 0600, 'nobody else may read the file');
my $kept = slurp_file($file);
is(scalar(() = $kept =~ /\n/g), 6, '... which has a line for each of five sessions');
for my $secret ('secret', unpack('H*', 'secret'), map { ($_->{token}, $_->{cookie}) } values %session)
{
	unlike($kept, qr/\Q$secret/, '... and no password, no cookie and no token');
}
$node->safe_psql('postgres', q(ALTER ROLE altered PASSWORD 'secret'; ALTER ROLE locked NOLOGIN));
undef $gateway;
restart();
ok(!-e $file, 'the gateway takes the file away when it begins');
is(ask($session{kept}, 'api/start', '{"state_machine": "m"}'), 200, 'a session goes on, and may write at once');
is(ask($session{"od d\nrole"}, 'api/machines'), 200, '... whatever the name of its role');
is(ask($session{altered}, 'api/machines'), 401, 'one whose role was altered does not');
is(ask($session{locked}, 'api/machines'), 401, '... nor one whose role may not log in any more');
is(ask($session{left}, 'api/machines'), 401, '... nor one that had signed out');
is(curl($gateway, '/console/api/machines', (map { s/(X-CSRF-Token: )./$1x/r } @{ $session{idle}{own} }), '-d',
	'{}')->{status}, 403,
	'without the token of the page none goes on');
is(ask($session{idle}, 'api/machines'), 200, '... with it, it does');
restart();
is(ask($session{kept}, 'api/machines'), 200, 'a session outlasts a second restart');

# --- both are restarted
stop_gateway($gateway);
$node->stop;
undef $gateway;
$gateway = start_gateway($node, port => $port, 'session-file' => $file, unready => 1);
is(curl($gateway, '/console/api/machines', @{ $session{kept}{own} }, '-d', '{}')->{status}, 503,
	'while the database is down nothing is answered');
$node->start;
is(ask($session{kept}, 'api/machines'), 200, '... and when it is back the session goes on');

# --- ages go on
restart('session-max' => '1s');
ok(wait_for('its end', sub { ask($session{kept}, 'api/machines') == 401 }), 'a session that is too old by then ends');

# --- a gateway that is killed, one without a file, and files that are not taken
# Without that age: the session would be too old by the time that the gateway leaves.
restart();
$session{kept} = open_page('kept');
restart();
is(ask($session{kept}, 'api/machines'), 200, 'a session is kept');
ok(!-e $file, '... the file is away');
kill 'KILL', $gateway->{pid};
waitpid($gateway->{pid}, 0);
undef $gateway;
restart();
is(ask($session{kept}, 'api/machines'), 401, 'a gateway that is killed keeps none');
my $good;
for my $case (
	[ 'one that others can read', sub { chmod 0640, $file }, qr/no other one may read/ ],
	[ 'a link', sub { rename $file, "$file.x"; symlink "$file.x", $file },
		qr/Too many levels of symbolic links|symbolic link/ ],
	[ 'another file', sub { unlink $file; append_to_file($file, "listen = 127.0.0.1\n"); chmod 0600, $file },
		qr/it is no file of sessions/ ],
	[ 'a damaged one', sub { unlink $file; append_to_file($file,
		$good =~ s/^([0-9a-f]{64} )[0-9a-f]/$1-/mr =~ s/ [0-9a-f]{20}/ /gr); chmod 0600, $file },
		qr/its line is not good/ ],
	[ 'one with another cookie', sub { unlink $file; append_to_file($file,
		$good =~ s/^[0-9a-f]{64}/'0' x 64/mre); chmod 0600, $file }, undef ])
{
	my ($what, $damage, $reason) = @$case;
	$session{kept} = open_page('kept');
	stop_gateway($gateway);
	undef $gateway;
	$good = slurp_file($file);
	$damage->();
	restart();
	is(ask($session{kept}, 'api/machines'), 401, "$what is not taken");
	like(gateway_log($gateway), $reason, '... and the log says why') if $reason;
	ok(!-e $file && !-l $file, '... and is away');
}
$session{kept} = open_page('kept');
restart('session-file' => "$folder/none/file");
is(ask($session{kept}, 'api/machines'), 401, 'from a folder that does not exist nothing comes');
$session{kept} = open_page('kept');
stop_gateway($gateway);
like(gateway_log($gateway), qr/sessions are not kept.*No such file/,
	'... nor is something kept there, as the log says');
undef $gateway;
$gateway = start_gateway($node, port => $port);
$session{kept} = open_page('kept');
stop_gateway($gateway);
$gateway = start_gateway($node, port => $port);
is(ask($session{kept}, 'api/machines'), 401, 'without the setting a restart signs out');
stop_gateway($gateway);
unlike($_, qr/secret/, 'no password in a log')
	for map { slurp_file($_) } glob "$PostgreSQL::Test::Utils::tmp_check/sfgateway*-$$.log";
no_surprises($node);
$node->stop;
done_testing();
