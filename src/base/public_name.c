/*
 * public_name.c
 *		The syntax of public names when no layer has registered one.
 */
#include "postgres.h"

#include "base/public_name.h"

/* Print an object's id as its public name. */
static char *
print_id(SfNameKind kind, const char *id)
{
	return pstrdup(id);
}

/* Take every text for an id. */
static const char *
parse_id(SfNameKind kind, const char *text)
{
	return text;
}

SfNameSyntax sf_name_syntax = {print_id, parse_id};
