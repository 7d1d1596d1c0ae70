# sfworker --archive writes into a store with the API of S3, with signatures that botocore makes anew, and tries again
# while the store is busy.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use IO::Socket::INET;
use POSIX ();
use PostgreSQL::Test::Cluster ();
use PostgreSQL::Test::Utils;
use SfArchive;
use SfTest;
use SfWorker;
use Test::More;

# The store, with one bucket.
my $store = tempdir(CLEANUP => 1);
my $port = PostgreSQL::Test::Cluster::get_free_port();
mkdir "$store/shop-archive" or die;
my $server = fork // die "fork: $!";
if ($server == 0)
{
	exec "$FindBin::Bin/../../tools/s3-server", $store, $port or POSIX::_exit(98);
}
END { kill 'KILL', $server if $server }

# Have the store answer the next requests otherwise: lines such as "2 503 SlowDown".
sub next_answers
{
	my ($lines) = @_;
	open my $file, '>', "$store/.fail.new" or die $!;
	print $file $lines;
	close $file;
	rename "$store/.fail.new", "$store/.fail" or die $!;
	return;
}

# What the store was asked since the last time: "PUT data 200" and so on.
sub asked
{
	my @lines = -e "$store/.log" ? split /\n/, slurp_file("$store/.log") : ();
	unlink "$store/.log";
	return join ', ', map { s{ /shop-archive/orders/2026/(\w+)/\S+}{ $1}r } @lines;
}

my $node = new_node('main', conf => 'sfflow.max_payload_bytes = 64MB');
keeping_machine($node, 'order');
my $archive = "$store/shop-archive/orders/2026";
my @ids;

# Old executions, which are to be in the archive.
sub add_old
{
	my ($n) = @_;
	start_old($node, 'order', "SELECT jsonb_build_object('n', i) FROM generate_series(1, $n) i");
	push @ids, split /\n/, $node->safe_psql('postgres', 'SELECT execution_id FROM sf_executions');
	return;
}

# Start a program that archives; environment: variables of AWS's programs.
sub start_archiver
{
	my ($environment, @options) = @_;
	local %ENV = (%ENV, AWS_ACCESS_KEY_ID => 'key', AWS_SECRET_ACCESS_KEY => 'secret', AWS_SESSION_TOKEN => '',
		AWS_REGION => '', AWS_DEFAULT_REGION => '', AWS_ENDPOINT_URL_S3 => '',
		AWS_ENDPOINT_URL => "http://127.0.0.1:$port", %$environment);
	return start_worker($node, '-a', 'keep:archive', '--archive', 's3://shop-archive/orders/2026', @options);
}

# Archive what is there; gives the exit status and the log.
sub archive_once
{
	my ($environment, @options) = @_;
	my $worker = start_archiver($environment // {}, '--once', @options);
	return wait_worker($worker) . ' ' . worker_log($worker);
}

wait_for('the store', sub { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") }) or die 'the store does not listen';
add_old(20);
like(archive_once(), qr/^0 /, 'executions are archived in a bucket');
is(asked(), 'PUT data 200, PUT manifests 200', 'as a file and its manifest');
is_archived($node, $archive, \@ids, 'in a bucket');

# Signatures: a token, another region, a wrong secret.
add_old(5);
like(archive_once({ AWS_SECRET_ACCESS_KEY => 'wrong' }), qr/^1 .*the store answers 403 SignatureDoesNotMatch: /s,
	'a wrong secret is refused');
is(asked(), 'PUT data 403', '... at once');
like(archive_once({ AWS_REGION => 'eu-central-1' }), qr/^1 .*403 AuthorizationHeaderMalformed/s, 'so is a wrong region');
like(archive_once({ AWS_SECRET_ACCESS_KEY => '' }), qr/^1 .*AWS_SECRET_ACCESS_KEY is not set/s, 'a secret is needed');
like(archive_once({}, '--archive', 's3://other'), qr/^1 .*404 NoSuchBucket/s, 'and a bucket');
like(archive_once({}, '--archive', 's3://shop-archive/a b'), qr/^1 .*is no target such as/s, 'with a plain prefix');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_executions'), 5, 'meanwhile nothing is deleted');
asked();
like(archive_once({ AWS_SESSION_TOKEN => 'a+token/=', AWS_ENDPOINT_URL => 'http://127.0.0.1:1',
	AWS_ENDPOINT_URL_S3 => "http://127.0.0.1:$port/" }), qr/^0 /, 'a token is signed, and the endpoint of S3 comes first');
is_archived($node, $archive, \@ids, 'with a token');

# A store that is busy, closes connections, and answers again.
asked();
add_old(20);
# A connection that was used before and is cut is replaced by libcurl from some version on, without a word.
next_answers("1 cut\n2 503 SlowDown\n");
like(archive_once(), qr/^0 .*once more.*cannot reach the store.*once more.*SlowDown.*once more.*SlowDown/s,
	'a busy store is tried again');
is(asked(), 'PUT data 503, PUT data 503, PUT data 200, PUT manifests 200', 'and takes the file in the end');
is_archived($node, $archive, \@ids, 'after errors');
add_old(5);
next_answers("7 500 InternalError\n");
my $worker = start_archiver({});
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM sf_executions'),
	'after a longer time it goes on by itself');
is(stop_worker($worker), 0, 'and leaves when it is told to');
like(worker_log($worker), qr/cannot write a batch .*500 InternalError/, 'the log says what was');
is_archived($node, $archive, \@ids, 'after a longer time');

# Death while the store has the file and has not answered.
add_old(5);
asked();
next_answers("1 wait\n");
$worker = start_archiver({});
wait_for('the request', sub { -e "$store/.waiting" });
is(stop_worker($worker, 'KILL'), 'signal 9', 'a program dies while it waits for the store');
append_to_file("$store/.go", '');
ok(wait_for('the end of the request', sub { -e "$store/.log" }), 'which takes the file all the same');
like(archive_once(), qr/^0 /, 'another program goes on');
is_archived($node, $archive, \@ids, 'after a death');

# An object of more than a megabyte, for which curl asks first.
$node->safe_psql('postgres', q(SELECT sf_start('order', jsonb_build_object('text',
	(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 100000) i)), 'large')));
ok(ended($node), 'a large one ends');
make_old($node, 'true');
push @ids, 'order:large';
like(archive_once(), qr/^0 /, 'a large object is put');
is_archived($node, $archive, \@ids, 'a large one');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), 0, 'sf_check');
$node->stop;
done_testing();
