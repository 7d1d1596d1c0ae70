/*
 * name.c
 *		Names of state machines, executions, activities and schedules.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "base/errors.h"
#include "base/name.h"

/* Tell whether a byte may not stand in a name; bytes of other scripts may. */
static bool
is_forbidden(unsigned char c)
{
	return c <= ' ' || c == 0x7f || strchr("<>{}[]?*\"#%\\^|~$&,;:/`", c) != NULL;
}

/* Tell whether a name may be used. */
bool
sf_name_is_valid(const char *name)
{
	int			length = pg_mbstrlen(name);

	if (length == 0 || length > SF_NAME_MAX)
		return false;
	for (const char *p = name; *p != '\0'; p += pg_mblen(p))
		if (is_forbidden((unsigned char) *p))
			return false;
	return true;
}

/*
 * Check a name by the rule of Step Functions; ereports ERRCODE_SF_INVALID_NAME
 * naming what ("execution name") and the first character that is not allowed.
 */
void
sf_name_check(const char *name, const char *what)
{
	int			length = pg_mbstrlen(name);

	if (length == 0 || length > SF_NAME_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_NAME),
				 errmsg("%s must have 1 to %d characters, not %d",
						what, SF_NAME_MAX, length)));
	for (const char *p = name; *p != '\0'; p += pg_mblen(p))
	{
		if (!is_forbidden((unsigned char) *p))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_NAME),
				 errmsg("%s \"%s\" contains a character that is not allowed",
						what, name),
				 errdetail("Character %d is %s.",
						   pg_mbstrlen_with_len(name, p - name) + 1,
						   (unsigned char) *p <= ' ' || *p == 0x7f ?
						   "white space or a control character" :
						   psprintf("\"%c\"", *p)),
				 errhint("White space, control characters and < > { } [ ] ? * \" # %% \\ ^ | ~ $ & , ; : / ` are not allowed.")));
	}
}
