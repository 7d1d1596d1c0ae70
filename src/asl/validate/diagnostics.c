/*
 * diagnostics.c
 *		Collect the problems of a definition, and print them.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "asl/validate/validate.h"

/* Tell whether there is room for one more diagnostic; the last says so. */
static bool
has_room(SfValidator *validator)
{
	CHECK_FOR_INTERRUPTS();
	return list_length(validator->diagnostics) <= SF_DIAGNOSTICS_MAX;
}

/* Append a diagnostic, for which there is room. */
void
sf_validate_add(SfValidator *validator, SfSeverity severity, const SfTreeNode *at,
				const char *location, const char *code, const char *message)
{
	SfDiagnostic *diagnostic = palloc0(sizeof(SfDiagnostic));

	if (list_length(validator->diagnostics) == SF_DIAGNOSTICS_MAX)
	{
		severity = SF_SEVERITY_ERROR;
		at = NULL;
		location = NULL;
		code = SF_CODE_SCHEMA;
		message = psprintf("There are more problems than the %d that are listed",
						   SF_DIAGNOSTICS_MAX);
	}
	diagnostic->severity = severity;
	diagnostic->code = code;
	diagnostic->location = location;
	diagnostic->message = message;
	diagnostic->position = at ? at->start : PG_INT32_MAX;
	validator->diagnostics = lappend(validator->diagnostics, diagnostic);
}

/*
 * Report a problem at a node; NULL: without a location.  A definition with
 * warnings only is valid.
 */
void
sf_validate_report(SfValidator *validator, SfSeverity severity, const SfTreeNode *at, const char *code,
				   const char *fmt,...)
{
	va_list		args;

	if (!has_room(validator))
		return;
	va_start(args, fmt);
	sf_validate_add(validator, severity, at, at ? sf_tree_location(at) : NULL, code,
					sf_error_format(fmt, args));
	va_end(args);
}

/* Report an error below a node, at a location relative to it. */
void
sf_validate_error_at(SfValidator *validator, const SfTreeNode *at, const char *location,
					 const char *code, const char *message)
{
	if (!has_room(validator))
		return;
	sf_validate_add(validator, SF_SEVERITY_ERROR, sf_tree_locate(at, location),
					psprintf("%s%s", sf_tree_location(at), location ? location : ""),
					pstrdup(code), pstrdup(message));
}

/* Report a value of another kind than the one that has to be there. */
bool
sf_validate_kind(SfValidator *validator, const SfTreeNode *value, SfTreeNodeKind kind)
{
	static const char *const names[] = {
		[SF_TREE_OBJECT] = "OBJECT",
		[SF_TREE_ARRAY] = "ARRAY",
		[SF_TREE_STRING] = "STRING",
		[SF_TREE_NUMBER] = "NUMBER",
		[SF_TREE_BOOLEAN] = "BOOLEAN",
		[SF_TREE_NULL] = "NULL",
	};

	if (value->kind == kind)
		return true;
	sf_validate_error(validator, value, SF_CODE_SCHEMA, "Expected value of type [%s]",
					  names[kind]);
	return false;
}

/* Compare by position in the text; list_sort() is stable where this is 0. */
static int
compare_diagnostics(const ListCell *a, const ListCell *b)
{
	const SfDiagnostic *left = lfirst(a);
	const SfDiagnostic *right = lfirst(b);

	if (left->position != right->position)
		return left->position < right->position ? -1 : 1;
	return left->sequence - right->sequence;
}

/* Put diagnostics into the order of the text. */
List *
sf_diagnostics_sort(List *diagnostics)
{
	int			sequence = 0;

	foreach_ptr(SfDiagnostic, d, diagnostics)
		d->sequence = sequence++;
	list_sort(diagnostics, compare_diagnostics);
	return diagnostics;
}

/* Tell whether there is an error among diagnostics. */
bool
sf_diagnostics_have_error(const List *diagnostics)
{
	foreach_ptr(const SfDiagnostic, d, diagnostics)
	{
		if (d->severity == SF_SEVERITY_ERROR)
			return true;
	}
	return false;
}

/*
 * Print the errors in one text, as the service refuses a definition: "Invalid
 * State Machine Definition: 'CODE: message at LOCATION, …'".
 */
char *
sf_diagnostics_print(const List *diagnostics)
{
	StringInfoData buf;
	const char *separator = "";

	initStringInfo(&buf);
	appendStringInfoString(&buf, "Invalid State Machine Definition: '");
	foreach_ptr(const SfDiagnostic, d, diagnostics)
	{
		if (d->severity != SF_SEVERITY_ERROR)
			continue;
		appendStringInfo(&buf, "%s%s: %s at %s", separator, d->code, d->message,
						 d->location ? d->location : "null");
		separator = ", ";
	}
	appendStringInfoChar(&buf, '\'');
	return buf.data;
}

/* Name a severity as the service does. */
const char *
sf_severity_name(SfSeverity severity)
{
	return severity == SF_SEVERITY_ERROR ? "ERROR" : "WARNING";
}
