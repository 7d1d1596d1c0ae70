# Addresses that sfworker refuses to connect: IANA's registries of special-purpose addresses, row by row, and
# the ways in which an address can be written. Nothing is sent: --dry-run decides as a request would.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfWorker;
use Test::More;

# Ask for the decision on one host, which is brought into the form of a URL.
sub decision
{
	my ($host, @options) = @_;
	$host = "[$host]" if $host =~ /:.*:/ && $host !~ /\[/;
	return dry_run(qq({"ApiEndpoint": "https://$host/", "Method": "GET"}), '-a', 'http', @options);
}

# One address of each range that is not globally reachable, the last one too where the range is no whole byte.
my %refused = (
	'an unspecified address' => [qw(0.0.0.0 0.255.255.255 ::)],
	'a loopback address' => [qw(127.0.0.1 127.255.255.254 ::1)],
	'a link-local address' => [qw(169.254.1.1 fe80::1 febf::1)],
	'a site-local address' => [qw(fec0::1 feff::1)],
	'a protocol\'s address' => [qw(192.0.0.1 192.0.0.8 192.0.0.170 2001:1::1 2001:20::1 2001:1ff:ffff::1)],
	'a documentation address' => [qw(192.0.2.1 198.51.100.1 203.0.113.255 2001:db8::1 3fff:fff::1)],
	'a relay\'s address' => [qw(192.88.99.1)],
	'a benchmarking address' => [qw(198.18.0.1 198.19.255.255)],
	'a multicast address' => [qw(224.0.0.1 239.255.255.255 ff02::1)],
	'a reserved address' => [qw(240.0.0.1 255.255.255.255 ::8.8.8.8 ::2 200::1 4000::1 8000::1 fe00::1)],
	'a translated address' => [qw(::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 64:ff9b:1::7f00:1 64:ff9b:1:ffff::1)],
	'a tunnel\'s address' => [qw(2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2)],
	'a discard address' => [qw(100::1 100:0:0:1::1)],
	'a segment identifier' => [qw(5f00::1)],
	'a metadata address' => [qw(100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254)]);
for my $kind (sort keys %refused)
{
	for my $host (@{ $refused{$kind} })
	{
		my ($status, $said) = decision($host);
		is($status, 3, "$host is refused");
		like($said, qr/"refused":"[^:]*.* is \Q$kind\E: /, "as $kind");
	}
}

# One loopback address, written and carried in every way.
for my $host (qw(2130706433 0x7f000001 0x7f.1 017700000001 127.1 0177.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1
	0:0:0:0:0:ffff:7f00:0001
	64:ff9b::7f00:1 2002:7f00:1:: localhost))
{
	my ($status, $said) = decision($host);
	is($status, 3, "$host is refused");
	like($said, qr/ is a loopback address/, 'as what it leads to');
}
is((decision('[fe80::1%25lo]'))[0], 3, 'a zone does not change what an address is');

# The neighbours of ranges, and what carries an ordinary address.
for my $host (qw(1.0.0.0 126.255.255.255 128.0.0.1 169.253.1.1 192.0.1.1 192.0.3.1 192.88.98.1 198.17.255.255 198.20.0.1
	223.255.255.255
	192.175.48.1 2001:200::1 2001:db9::1 2000::1 3ffe::1 3fff:1000::1 2620:4f:8000::1 64:ff9b::808:808 2002:808:808::1
		::ffff:8.8.8.8))
{
	is((decision($host))[0], 0, "$host may be connected");
}
# Private networks are closed by a list.
for my $host (qw(10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1 fd12::1))
{
	is((decision($host))[0], 0, "$host is private, and allowed without a list");
	is((decision($host, '--allow', 'example.com'))[0], 3, 'and refused by one that does not have it');
}
# The list opens by number, in every range.
for my $case ([ '64:ff9b:1::1', '64:ff9b:1::/48' ], [ '::ffff:0:127.0.0.1', '::ffff:0:0:0/96' ],
	[ '2001::1', '[2001::]/32' ], [ '198.18.0.1', '198.18.0.0/15' ])
{
	my ($host, $entry) = @$case;
	my ($status, $said) = decision($host, '--allow', $entry =~ s/^\[(.*)\]/$1/r);
	is($status, 0, "$host is allowed by $entry") or diag($said);
	is((decision($host, '--allow', '*'))[0], 3, 'and not by a name');
}
is((decision('64:ff9b::7f00:1', '--allow', '127.0.0.0/8'))[0], 3, 'an entry does not open what carries its addresses');
done_testing();
