package SfRelease;

# What tests of versions share: servers of which the library can be exchanged, libraries of other releases and schemas.
use strict;
use warnings;
use Exporter 'import';
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(own_server library_of put_library put_script put_update);

my $top = "$FindBin::Bin/../..";
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
	my ($bindir) = grep { -x "$_/initdb" } split /:/, $ENV{PATH};
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

# Link a library of another release, or for another schema, from the objects of this one.
sub library_of
{
	my ($release, $schema) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my @other = qw(src/base/schema src/api/operate);
	my %replaced = map { ("$top/$_.o" => 1) } @other;
	chomp(my @objects = `find $top/src -name '*.o' -not -path '*/src/client/*' -not -path '*/src/gateway/*'`);
	@objects = grep { !$replaced{$_} && -e s/\.o$/.c/r } @objects;
	for my $file (@other)
	{
		my $object = "$folder/" . $file =~ s{.*/}{}r . '.o';
		system_or_bail(split(/ /, $ENV{CC} // 'cc'), qw(-std=gnu11 -O1 -fPIC -c), "-I$top/src", '-I' . pg_config('includedir-server'), qw(-D_GNU_SOURCE),
			"-DSFFLOW_VERSION=\"$release\"", "-DSF_SCHEMA_NUMBER=$schema", '-o', $object, "$top/$file.c");
		push @objects, $object;
	}
	append_to_file("$folder/objects", join("\n", @objects));
	system_or_bail(split(/ /, $ENV{CC} // 'cc'), '-shared', '-o', "$folder/sfflow.so", "\@$folder/objects");
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

# Put a script into it.
sub put_script
{
	my ($node, $name, $text) = @_;
	append_to_file($folder_of{ $node->name } . pg_config('sharedir') . "/extension/$name", $text);
}

# Put a script into it that updates the extension's schema from a version to another one, of a number, by some statements,
# and have that version be the default.
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

1;
