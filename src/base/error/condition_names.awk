# Print the condition names that PL/pgSQL has for errors, as rows {"SQLSTATE", "name"}, from PostgreSQL's
# utils/errcodes.h. A macro has the name of its condition behind ERRCODE_ and the initials of some classes.
# The names that differ in another way stand here, as in errcodes.txt, which is not installed with the headers.
BEGIN {
	differs["array_element_error"] = "array_subscript_error"
	differs["duplicate_pstatement"] = "duplicate_prepared_statement"
	differs["invalid_argument_for_log"] = "invalid_argument_for_logarithm"
	differs["invalid_argument_for_nth_value"] = "invalid_argument_for_nth_value_function"
	differs["invalid_argument_for_ntile"] = "invalid_argument_for_ntile_function"
	differs["invalid_pstatement_definition"] = "invalid_prepared_statement_definition"
	differs["l_e_invalid_specification"] = "invalid_locator_specification"
	differs["s_e_invalid_specification"] = "invalid_savepoint_specification"
	differs["t_r_integrity_constraint_violation"] = "transaction_integrity_constraint_violation"
}

# The classes 00, 01 and 02 are no errors.
/^#define ERRCODE_.* MAKE_SQLSTATE\(/ && !/\('0','[012]'/ {
	name = tolower(substr($2, length("ERRCODE_") + 1))
	state = $3
	sub(/^MAKE_SQLSTATE/, "", state)
	gsub(/[^0-9A-Z]/, "", state)
	if (name in differs)
		name = differs[name]
	else
		sub(/^(e_r_e|e_r_i_e|s_r_e|t_r)_/, "", name)
	if (!seen[state]++)
		printf "{\"%s\", \"%s\"},\n", state, name
}
