# An update that is put together as contributing.md says - statements by hand for the tables, then all functions and
# views again - leaves the same objects as a new installation; a careless one does not, and the comparison names what is
# missing.
# needs: deadline
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfRelease;
use SfTest;
use Test::More;

my $top = "$FindBin::Bin/../../..";
my $node = own_server('main', '');
my ($version) = slurp_file("$top/sfflow.control") =~ /^default_version = '([^']*)'/m;
my $old = slurp_file("$top/sql/sfflow--$version.sql");
my ($number) = $old =~ /_sfflow\.schema_(\d+)\(\)/;
my $next = $number + 1;

# The next version of the schema: a column, an index, a view and a function that have changed, new ones, another
# comment.
my $new = $old;
$new =~ s/_sfflow\.schema_$number\(\)(.*?)RETURN $number;/_sfflow.schema_$next()$1RETURN $next;/s or die;
$new =~ s/(CREATE TABLE _sfflow\.calendar \(.*?)\n\);/$1,\n\tnote text COLLATE "C"\n);\nCREATE INDEX calendar_note ON _sfflow.calendar (note);/s or die;
$new =~ s/(CREATE VIEW \@extschema\@\.sf_deadlines .*?d\.set_at, d\.set_by)/$1, d.checked_until/s or die;
$new =~ s/(COMMENT ON FUNCTION \@extschema\@\.sf_version\(\) IS\s+')/$1in short: /s or die;
$new =~ s/^(-- Who may use what\.)/CREATE FUNCTION \@extschema\@.sf_new(text) RETURNS text LANGUAGE sql IMMUTABLE RETURN \$1;\nCREATE FUNCTION _sfflow.new() RETURNS text LANGUAGE sql IMMUTABLE RETURN 'x'::text;\n\n$1/m or die;
my $by_hand = <<"EOS";
SET LOCAL lock_timeout = '10s';
SET LOCAL search_path TO pg_catalog, pg_temp;
DROP FUNCTION _sfflow.schema_$number();
UPDATE _sfflow.schema_of_rows SET number = $next;
EOS
my $tables = <<'EOS';
ALTER TABLE _sfflow.calendar ADD COLUMN note text COLLATE "C";
CREATE INDEX calendar_note ON _sfflow.calendar (note);
EOS

my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/new.sql", $new);
my $again = qx(awk -f '$top/sql/update.awk' '$folder/new.sql');
my $replaced = () = $again =~ /^CREATE OR REPLACE/mg;
my $made = () = $new =~ /^CREATE (?:FUNCTION|PROCEDURE|AGGREGATE|VIEW) /mg;
is($replaced, $made, 'all functions and views are there again');
unlike($again, qr/^(?:CREATE (?:UNLOGGED )?(?:TABLE|INDEX|SEQUENCE|DOMAIN|SCHEMA|TRIGGER)|INSERT)/m,
	'and no table, nor what hangs on one');

put_script($node, "sfflow--9.9.sql", $new);
put_script($node, "sfflow--$version--9.9.sql", $by_hand . $tables . $again);
# One that forgets the table, and says so nowhere.
put_script($node, "sfflow--9.8.sql", $new);
put_script($node, "sfflow--$version--9.8.sql", $by_hand . $again);

my $created = catalogue($node, 'created', "CREATE EXTENSION sfflow VERSION '9.9'");
cmp_ok(scalar keys %$created, '>', 1500, 'the catalogue has much to say');
my $before = catalogue($node, 'before', "CREATE EXTENSION sfflow VERSION '$version'");
isnt(difference($created, $before), '', 'the versions differ');
my $updated = catalogue($node, 'updated', "CREATE EXTENSION sfflow VERSION '$version'",
	"ALTER EXTENSION sfflow UPDATE TO '9.9'");
is(difference($created, $updated), '', 'an updated extension is the same as one that was created');
my $careless = catalogue($node, 'careless', "CREATE EXTENSION sfflow VERSION '$version'",
	"ALTER EXTENSION sfflow UPDATE TO '9.8'");
is(difference($created, $careless), join("\n",
	'- column _sfflow.calendar 7 note text null=t default= collation="C" storage=x',
	'- index CREATE INDEX calendar_note ON _sfflow.calendar USING btree (note)'),
		'what a careless one has forgotten is named');
$node->stop;
done_testing();
