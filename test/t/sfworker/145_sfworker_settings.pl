# Every setting of sfworker that is a number or a time: what it refuses, on the command line and in the file.
use strict;
use warnings;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;

# Of each: the type, the least value and what is less, a value that is good.
my %settings = (
	'concurrency' => [ 'count', '0', '8' ],
	'max-redirects' => [ 'count', undef, '0' ],
	'poll-interval' => [ 'time', '99ms', '1 s' ],
	'kill-after' => [ 'time', undef, '0' ],
	'http-timeout' => [ 'time', '0', '1min' ],
	'connect-timeout' => [ 'time', '0', '1 h' ],
	'max-output' => [ 'size', '63', '1 MB' ],
	'max-stderr' => [ 'size', '63', '64' ],
);
my %refused = (
	count => [ '1.5', '1001', '2 s', '0x' ],
	time => [ '1 day', '5 kB', '1e9 min h' ],
	size => [ '1 GB', '5 s', '1 kb' ],
);
my @never = ('-1', '-0.001', '', 'nan', 'inf', '-inf', '1e10', '99999999999999999999', 'many');
my $file = "$PostgreSQL::Test::Utils::tmp_check/settings-$$.conf";

# What sfworker says of a setting; --list, so that it does not wait for work.
sub outcome
{
	my @options = @_;
	my $err = '';
	IPC::Run::run([ 'sfworker', '--list', '-h', '/no/such/directory', @options ], '<', \'', '>', \my $out, '2>', \$err);
	return $err;
}

for my $key (sort keys %settings)
{
	my ($type, $less, $good) = @{ $settings{$key} };
	for my $value (@never, @{ $refused{$type} }, $less // ())
	{
		like(outcome("--$key=$value"), qr/invalid value for "$key": "\Q$value\E"/, "--$key=$value");
		append_to_file($file, "$key = $value\n");
		like(outcome('--config', $file), qr/invalid value for .*$key/, "and in the file");
		unlink $file;
	}
	unlike(outcome("--$key=$good"), qr/invalid value/, "--$key=$good is good");
}
done_testing();
