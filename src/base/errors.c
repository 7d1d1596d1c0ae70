/*
 * errors.c
 *		Names and constructors for the errors listed in errors.h.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "base/errors.h"

#define SF_STATES_ERROR_DEFINE(sym, name, use, meaning) \
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

/* Tell what becomes of an error name. */
SfErrorUse
sf_error_use(const char *name)
{
#define SF_STATES_ERROR_MATCH(sym, str, use, meaning) \
	if (strcmp(name, str) == 0) \
		return SF_ERROR_##use;
	SF_STATES_ERROR_LIST(SF_STATES_ERROR_MATCH)
	if (strncmp(name, "States.Http.StatusCode.", 23) == 0)
		return SF_ERROR_RAISED;
	return SF_ERROR_UNKNOWN;
}
