/*
 * move_document.c
 *		Members of the documents that nodes exchange in a move.
 */
#include "postgres.h"

#include "base/error/errors.h"
#include "feature/move/move.h"
#include "json/json.h"

/* Raise for a document that lacks a member: the nodes are of releases that do not understand each other. */
static void
lacks(const char *member)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("a document of a move has no member \"%s\" of the expected type", member)));
}

/* Read a member that is a string. */
char *
sf_move_text(const Jsonb *document, const char *member)
{
	char	   *text = sf_json_get_cstring(document, member);

	if (text == NULL)
		lacks(member);
	return text;
}

/* Read a member that is an integer. */
int64
sf_move_number(const Jsonb *document, const char *member)
{
	Jsonb	   *found = sf_json_get(document, member);
	JsonbValue	value;
	int64		number = 0;

	if (found == NULL || !JsonbExtractScalar(&found->root, &value) || !sf_json_to_int64(&value, &number))
		lacks(member);
	return number;
}
