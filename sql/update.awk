# Print what of an install script an update runs again: all functions, views, comments and rights, each of which replaces
# what stands there. Tables, indexes, sequences, types and what hangs on them are left out: what changes of them is
# written by hand, and goes before this.
#
# A statement begins at the beginning of a line and ends with a line that ends in a semicolon, outside of a text between
# dollars.

function is_replaced(statement)
{
	return statement ~ /^CREATE (FUNCTION|PROCEDURE|AGGREGATE|VIEW) / || statement ~ /^(COMMENT|GRANT|REVOKE|DO|SET LOCAL) /
}

# Follow the texts between dollars through a line: the tag of the one that is open at its end, or nothing.
function open_after(line, tag,    found)
{
	while (match(line, /\$[A-Za-z_]*\$/)) {
		found = substr(line, RSTART, RLENGTH)
		tag = tag == "" ? found : tag == found ? "" : tag
		line = substr(line, RSTART + RLENGTH)
	}
	return tag
}

/^\\echo/ { next }
statement == "" && (/^--/ || /^[ \t]*$/) { next }
{
	statement = statement $0 "\n"
	inside = open_after($0, inside)
	line = $0
	sub(/[ \t]*--[^']*$/, "", line)
	if (inside != "" || line !~ /;[ \t]*$/ || in_body(statement))
		next
	if (is_replaced(statement)) {
		sub(/^CREATE /, "CREATE OR REPLACE ", statement)
		printf "%s\n", statement
	}
	statement = ""
}

# A body of SQL between BEGIN ATOMIC and END has semicolons of its own.
function in_body(statement)
{
	return statement ~ /\nBEGIN ATOMIC/ && statement !~ /\nEND;\n$/
}
