package Compare;

# Compare recorded JSON with what we got, by meaning: placeholders match anything, key order does not
# matter, and where the recording holds a parsed value a JSON text is accepted.
use strict;
use warnings;
use B ();
use Exporter 'import';
use JSON::PP;

our @EXPORT_OK = qw(differences is_number set_placeholders same);

my $json = JSON::PP->new->allow_nonref->canonical;
my $generic = qr/<(?:[A-Za-z_][\w-]*|<[A-Za-z_][\w-]*>)(?::\d+)?>/;
my $token;

# Set the words that stand for anything in the case that is compared next.
sub set_placeholders
{
	my @words = map { quotemeta } sort { length $b <=> length $a } grep { length } @_;
	my $words = @words ? '|' . join '|', @words : '';
	# An ARN that was masked in one place differs in all.
	$token = qr/arn:<partition>[^"'\s\\]*|$generic$words/;
	return;
}
set_placeholders();

# Tell whether two values agree.
sub same
{
	return !differences('', @_);
}

# List how got differs from expected, each as "path: expected … got …".
sub differences
{
	my ($path, $expected, $got) = @_;
	return () if is_wildcard($expected);
	if (ref $expected && !ref $got && defined $got && !is_number($got))
	{
		my $parsed = eval { $json->decode($got) };
		$got = $parsed if defined $parsed;
	}
	return compare_objects($path, $expected, $got)
	  if ref $expected eq 'HASH' && ref $got eq 'HASH';
	return compare_arrays($path, $expected, $got)
	  if ref $expected eq 'ARRAY' && ref $got eq 'ARRAY';
	return () if scalar_matches($expected, $got);
	return "$path: expected " . show($expected) . ' got ' . show($got);
}

# Compare two objects member by member.
sub compare_objects
{
	my ($path, $expected, $got) = @_;
	my @found;
	my %keys = (%$expected, %$got);
	for my $key (sort keys %keys)
	{
		if (!exists $expected->{$key}) { push @found, "$path/$key: unexpected " . show($got->{$key}) }
		elsif (!exists $got->{$key}) { push @found, "$path/$key: missing " . show($expected->{$key}) }
		else { push @found, differences("$path/$key", $expected->{$key}, $got->{$key}) }
	}
	return @found;
}

# Compare two arrays element by element.
sub compare_arrays
{
	my ($path, $expected, $got) = @_;
	return "$path: expected " . @$expected . ' elements, got ' . @$got . ': ' . show($got)
	  if @$expected != @$got;
	return map { differences("$path\[$_]", $expected->[$_], $got->[$_]) } 0 .. $#$expected;
}

# Compare two values of which at least one is no container.
sub scalar_matches
{
	my ($expected, $got) = @_;
	return !defined $expected && !defined $got if !defined $expected || !defined $got;
	my ($b1, $b2) = map { JSON::PP::is_bool($_) ? 1 : 0 } $expected, $got;
	return $b1 && $b2 && !$expected == !$got if $b1 || $b2;
	return 0 if ref $expected || ref $got;
	my ($n1, $n2) = map { is_number($_) } $expected, $got;
	return $n1 && $n2 && $expected == $got if $n1 || $n2;
	return 1 if $expected eq $got;
	return 0 unless $expected =~ $token;
	my $pattern = join '.*', map { quotemeta } split /$token/, $expected, -1;
	return $got =~ /\A$pattern\z/s;
}

# Tell whether a recorded value stands for anything.
sub is_wildcard
{
	my $value = shift;
	return defined $value && !ref $value && !is_number($value)
	  && $value =~ /\A(?:timestamp|datetime|date|$token)\z/;
}

# Tell a JSON number from a string.
sub is_number
{
	my $value = shift;
	return 0 if ref $value || !defined $value;
	my $flags = B::svref_2object(\$value)->FLAGS;
	return ($flags & (B::SVp_IOK | B::SVp_NOK)) && !($flags & B::SVp_POK) ? 1 : 0;
}

# Print a value for a reader, shortened.
sub show
{
	my $text = $json->encode(shift);
	return length $text > 700 ? substr($text, 0, 700) . '…' : $text;
}

1;
