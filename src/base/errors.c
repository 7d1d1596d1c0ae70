/*
 * errors.c
 *		Names and constructors for the errors listed in errors.h.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "base/errors.h"

#define SF_STATES_ERROR_DEFINE(sym, name, catchable, meaning) \
	const char *const SF_ERR_##sym = name;
SF_STATES_ERROR_LIST(SF_STATES_ERROR_DEFINE)

/* Fill an SfError with a name and a formatted cause. */
bool
sf_error_set(SfError *err, const char *name, const char *fmt,...)
{
	StringInfoData buf;

	if (err == NULL)
		return false;

	initStringInfo(&buf);
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, fmt);
		needed = appendStringInfoVA(&buf, fmt, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&buf, needed);
	}

	memset(err, 0, sizeof(*err));
	err->name = name;
	err->cause = buf.data;
	err->position = -1;
	err->prefixed = true;
	return false;
}

/* Tell whether a name is one that the language reserves. */
bool
sf_error_is_known(const char *name)
{
#define SF_STATES_ERROR_MATCH(sym, str, catchable, meaning) \
	if (strcmp(name, str) == 0) \
		return true;
	SF_STATES_ERROR_LIST(SF_STATES_ERROR_MATCH)
	return false;
}
