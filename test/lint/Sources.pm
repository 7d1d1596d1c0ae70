package Sources;
# The sources as the checks need them: which layers, folders and files there are, the code of a file without
# comments and strings, and the global functions and variables that it defines.
use strict;
use warnings;
use Exporter qw(import);
use File::Find;
use FindBin;

our @EXPORT = qw(layers folder_of module_files sql_parts feature_of_part c_files h_files files_like text_of code_of comments_of joined_text
  global_definitions write_verb names_no_table);

chdir "$FindBin::Bin/../.." or die "cannot enter the source tree: $!\n";

# The layers of the library, lowest first, as the Makefile lists them.
sub layers
{
	my ($list) = text_of('Makefile') =~ /^LAYERS = (.*)$/m or die "Makefile: no LAYERS\n";
	return split ' ', $list;
}

# The folder of a file below src/: its layer, and for a file of a feature's room feature/NAME; "src" for a file in src/ itself.
sub folder_of
{
	my $file = shift;
	return $file =~ m{^src/((?:feature/)?[^/]+)/} ? $1 : 'src';
}

# The .c and .h files of the library, layer by layer.
sub module_files
{
	return (map { files_like("src/$_", qr/\.[ch]$/) } grep { -d "src/$_" } layers()), 'src/sfflow.c';
}

# The parts of the install script in the order in which it has them, then those of features.
sub sql_parts
{
	my @ordered = grep { /\S/ && !/^--/ } split /\n/, text_of('sql/parts/order');
	return map({ "sql/parts/$_" } @ordered), sort(glob 'sql/parts/feature/*.sql');
}

# The feature whose part of the install script a file is; nothing: it is of none.
sub feature_of_part
{
	return shift =~ m{^sql/parts/feature/(\w+)(?:-[^/]*)?\.sql\z} ? $1 : '';
}

# The .c files below a folder, in order.
sub c_files { return files_like(shift, qr/\.c$/) }

# The .h files below a folder, in order.
sub h_files { return files_like(shift, qr/\.h$/) }

# The files below a folder whose names match, in order.
sub files_like
{
	my ($folder, $like) = @_;
	my @files;
	find({ no_chdir => 1, wanted => sub { push @files, $_ if -f && /$like/ } }, $folder);
	return sort @files;
}

# The text of a file.
sub text_of
{
	my $file = shift;
	local $/;
	open my $in, '<', $file or die "$file: $!\n";
	my $text = <$in>;
	close $in;
	return $text;
}

# The code of a file: comments and the contents of strings are blanks, lines keep their numbers.
sub code_of
{
	my $text = text_of(shift);
	$text =~ s{(/\*.*?\*/)|("(?:[^"\\\n]|\\.)*")|('(?:[^'\\\n]|\\.)+')}
	  { defined $1 ? $1 =~ s/[^\n]/ /gr : defined $2 ? '""' : "' '" }gse;
	return $text;
}

# The text of a file without comments, where the pieces of a string in C are one, so that a statement is found as a whole.
sub joined_text
{
	my $file = shift;
	my $text = text_of($file);
	$text =~ s{/\*.*?\*/}{}gs;
	$text =~ s/"\s*\\?\n?\s*"//g if $file =~ /\.[ch]$/;
	return $text;
}

# How a statement begins that writes a table.
sub write_verb
{
	return qr/(?:INSERT\s+INTO|(?<!FOR )(?<!FOR NO KEY )(?<!DO )UPDATE|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE|COPY)(?:\s+(?:ONLY|TABLE))?/;
}

# Has a file a statement that writes a table which is not named in it, as "%s" or a macro, or in a function in SQL by format()?
sub names_no_table
{
	my $file = shift;
	my $verb = write_verb();
	return joined_text($file) =~ ($file =~ /\.sql$/ ? qr/$verb\s+(?:_sfflow\.)?(?:%|'\s*\|\|)/ : qr/$verb\s+(?:_sfflow\.)?(?:%|"\s*\w)/);
}

# The comments of C code, each at its line.
sub comments_of
{
	my $text = shift;
	$text =~ s{(/\*.*?\*/)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'|[^/"'\n]+|[/"'])}{ defined $1 ? $1 : $& =~ s/[^\n]//gr }gse;
	return $text;
}

# The global functions and variables that code of a .c file defines.
sub global_definitions
{
	my $code = shift;
	my @names;
	# the type stands on a line of its own, the name at the beginning of the next
	while ($code =~ /^((?!static\b|typedef\b|return\b|else\b)\w[\w \t*]*)\n(\w+)\([^;{]*\)\s*\{/gm)
	{
		push @names, $2;
	}
	while ($code =~ /^(?!static\b|extern\b|typedef\b|return\b|goto\b|struct \w+;)(?:const )?\w+(?:[ \t]+|[ \t]*\*+[ \t]*)(\w+)(?:\[[^\]]*\])?\s*(?:=|;)/gm)
	{
		push @names, $1;
	}
	return @names;
}

1;
