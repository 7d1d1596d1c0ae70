package SfRelease;

# What tests of versions share: servers of which the library can be exchanged, libraries of other releases and schemas.
use strict;
use warnings;
use Exporter 'import';
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(own_server library_of put_library get_library frozen_library load_rows put_script put_update call_all
	refuses_all catalogue difference);

my $top = "$FindBin::Bin/../../..";
my %folder_of;

# What pg_config says of the server that the tests run on.
sub pg_config
{
	my ($what) = @_;
	chomp(my $answer = `\${PG_CONFIG:-pg_config} --$what`);
	return $answer;
}

# Make a server with an installation of its own, so that its library and its scripts can be exchanged.
sub own_server
{
	my ($name, $conf) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir_short();
	my ($bindir) = grep { -x "$_/postgres" } split /:/, $ENV{PATH};
	my $install = substr($bindir, 0, length($bindir) - length(pg_config('bindir')));
	system_or_bail('cp', '-r', "$install/.", $folder);
	# It tells Cluster where things are.
	system_or_bail('cp', pg_config('bindir') . '/pg_config', $folder . pg_config('bindir'));
	my $node = PostgreSQL::Test::Cluster->new($name, install_path => $folder . pg_config('bindir') =~ s{/bin$}{}r);
	$folder_of{ $node->name } = $folder;
	$node->init;
	$node->append_conf('postgresql.conf', <<"EOC");
shared_preload_libraries = 'sfflow'
max_worker_processes = 24
$conf
EOC
	$node->start;
	return $node;
}

# Link a library of another release, for another schema, or with other flags, from the objects of this one.
sub library_of
{
	my ($release, $schema, @flags) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my @other = qw(src/base/version/schema src/api/monitoring/health_functions src/sfflow);
	my %replaced = map { ("$top/$_.o" => 1) } @other;
	chomp(my @objects = `find $top/src -name '*.o' -not -path '*/src/tools/*'`);
	@objects = grep { !$replaced{$_} && -e s/\.o$/.c/r } @objects;
	for my $file (@other)
	{
		my $object = "$folder/" . $file =~ s{.*/}{}r . '.o';
		system_or_bail(split(/ /, $ENV{CC} // 'cc'), qw(-std=gnu11 -O1 -fPIC -c), "-I$top/src",
			'-I' . pg_config('includedir-server'), qw(-D_GNU_SOURCE),
			"-DSFFLOW_VERSION=\"$release\"", "-DSF_SCHEMA_NUMBER=$schema", @flags, '-o', $object, "$top/$file.c");
		push @objects, $object;
	}
	append_to_file("$folder/objects", join("\n", @objects));
	# objects made for optimization at link time name files from the top of the tree
	system_or_bail('sh', '-c', 'cd "$0" && exec "$@"', $top, split(/ /, $ENV{CC} // 'cc'), '-shared', '-o',
		"$folder/sfflow.so", "\@$folder/objects");
	return "$folder/sfflow.so";
}

# Put a library into the installation of a server, as a package manager does: by renaming.
sub put_library
{
	my ($node, $library) = @_;
	my $target = $folder_of{ $node->name } . pg_config('pkglibdir') . '/sfflow.so';
	system_or_bail('cp', $library, "$target.new");
	rename "$target.new", $target or BAIL_OUT("cannot rename $target.new: $!");
}

# Copy the library that a server has to a file.
sub get_library
{
	my ($node, $file) = @_;
	system_or_bail('cp', $folder_of{ $node->name } . pg_config('pkglibdir') . '/sfflow.so', $file);
}

# The library of a release that is out, which test/platforms/updates has built.
sub frozen_library
{
	my ($version) = @_;
	return "$ENV{SFFLOW_LIBRARIES}/$version.so";
}

# Make a database with the rows that a release that is out has written, in its schema; or in today's, without a version.
sub load_rows
{
	my ($node, $database, $release, $version) = @_;
	# They name the superuser that they are of.
	$node->safe_psql('postgres', q(DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'postgres')
		THEN CREATE ROLE postgres SUPERUSER; END IF; END $$));
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION sfflow' . ($version ? " VERSION '$version'" : ''));
	# Into another schema some do not fit, whose tables have other types: the rest is loaded, as pg_restore does.
	my $strict = $version ? 1 : 0;
	$node->psql($database, slurp_file("$top/test/frozen/$release/rows.sql"), on_error_stop => $strict, on_error_die => $strict);
}

# Put a script into it.
sub put_script
{
	my ($node, $name, $text) = @_;
	append_to_file($folder_of{ $node->name } . pg_config('sharedir') . "/extension/$name", $text);
}

# Put a script into it that updates the extension's schema from a version to another one, of a number, by some
# statements, and have that version be the default.
sub put_update
{
	my ($node, $from, $to, $number, $sql) = @_;
	my $folder = $folder_of{ $node->name } . pg_config('sharedir') . '/extension';
	my $before = $number - 1;
	put_script($node, "sfflow--$from--$to.sql", <<"EOS");
SET LOCAL lock_timeout = '10s';
DROP FUNCTION _sfflow.schema_$before();
CREATE FUNCTION _sfflow.schema_$number() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN $number;
UPDATE _sfflow.schema_of_rows SET number = $number;
$sql
EOS
	my $control = slurp_file("$folder/sfflow.control") =~ s/^default_version = .*/default_version = '$to'/mr;
	unlink "$folder/sfflow.control";
	append_to_file("$folder/sfflow.control", $control);
}

# Call every C function of the extension, but triggers and what only C can call, with some value for each argument;
# returns the calls, with the SQLSTATE of each.
sub call_all
{
	my ($node, $database) = @_;
	my @functions = split /\n/, $node->safe_psql($database, <<'EOS');
SELECT p.oid::regproc::text || '(' || coalesce(string_agg(CASE WHEN p.provariadic <> 0 AND a.n = p.pronargs
	THEN 'VARIADIC ' ELSE '' END || CASE
		WHEN t.typname IN ('jsonb', 'json') THEN '''{}''::' || t.typname
		WHEN t.typcategory = 'N' THEN '1::' || format_type(t.oid, NULL)
		WHEN t.typcategory = 'B' THEN 'true'
		WHEN t.typcategory = 'D' THEN 'now()::' || format_type(t.oid, NULL)
		WHEN t.typcategory = 'A' THEN '''{}''::' || format_type(t.oid, NULL)
		WHEN t.typname = 'interval' THEN '''1 s''::interval'
		WHEN t.typname IN ('regrole', 'regprocedure', 'name') THEN 'NULL::' || t.typname
		WHEN t.typname = 'bytea' THEN '''''::bytea'
		WHEN t.typname = 'anyelement' THEN '1'
		ELSE '''x''::' || format_type(t.oid, NULL) END, ', ' ORDER BY a.n), '') || ')' || ' ' || p.prokind::text
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
LEFT JOIN unnest(p.proargtypes::oid[]) WITH ORDINALITY a(type, n) ON true
LEFT JOIN pg_type t ON t.oid = a.type
WHERE e.extname = 'sfflow' AND p.prolang = (SELECT oid FROM pg_language WHERE lanname = 'c')
	AND p.prorettype <> 'trigger'::regtype AND NOT 'internal'::regtype = ANY (p.proargtypes::oid[])
GROUP BY p.oid, p.prokind
EOS
	my %state;
	my $script = "\\set VERBOSITY sqlstate\n";
	for (@functions)
	{
		my ($call, $kind) = /^(.*) (.)$/;
		$script .= "\\echo == $call\n" . ($kind eq 'p' ? "CALL $call;\n" : "SELECT 'passed' FROM $call;\n");
	}
	my $both;
	IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr($database), '-f', '-' ], '<', \$script, '>&', \$both);
	my $call;
	for (split /\n/, $both)
	{
		if (/^== (.*)/) { $call = $1; $state{$call} //= ''; }
		elsif (/ERROR:  (\w{5})$/ && $state{$call} eq '') { $state{$call} = $1 }
		elsif (/^passed/) { $state{$call} = 'passed' }
	}
	return \%state;
}

# See that everything refuses in a database, with an advice, and that the server lives.
sub refuses_all
{
	my ($node, $database, $advice, $what) = @_;
	my $state = call_all($node, $database);
	my %passed = map { $_ => $state->{$_} } grep { $state->{$_} ne 'SF070' } keys %$state;
	cmp_ok(scalar keys %$state, '>', 100, "$what: more than a hundred functions were called");
	is(join(' ', sort keys %passed), '_sfflow.health() sf_version()', '... and all were refused but two')
		or diag(explain(\%passed));
	my (undef, undef, $error) = $node->psql($database, q(SELECT sf_start('m')));
	like($error, $advice, '... with the advice');
	is($node->safe_psql($database, 'SELECT count(*) FROM sf_health'), '1', 'sf_health has one row');
	like($node->safe_psql($database, 'SELECT item, ok, detail FROM sf_health'), qr/^version\|f\|.*$advice/,
		'... with the advice');
	like($node->safe_psql($database, 'SELECT advice FROM sf_version()'), $advice, 'sf_version() has it, too');
	my $metrics = $node->safe_psql($database, 'SELECT sf_prometheus()');
	like($metrics, qr/^sfflow_schema_differs 1$/m, 'so have the metrics');
	like($metrics, qr/^sfflow_health_problems 1$/m, '... and count a problem');
}

# What the catalogue of a new database says of sfflow after some statements, line by line.
sub catalogue
{
	my ($node, $database, @statements) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, $_) for @statements;
	return { map { $_ => 1 } split /\n/, $node->safe_psql($database, slurp_file("$top/test/fixtures/catalogue.sql")) };
}

# What two of them do not share: "-" is in the first one alone, "+" in the second one.
sub difference
{
	my ($left, $right) = @_;
	return join "\n", sort((map { "- $_" } grep { !$right->{$_} } keys %$left),
		(map { "+ $_" } grep { !$left->{$_} } keys %$right));
}

1;
