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

/* Format a message of any length; args can be used again. */
char *
sf_error_format(const char *fmt, va_list args)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		va_list		copy;
		int			needed;

		va_copy(copy, args);
		needed = appendStringInfoVA(&buf, fmt, copy);
		va_end(copy);
		if (needed == 0)
			return buf.data;
		enlargeStringInfo(&buf, needed);
	}
}

/* Fill an SfError with a name and a cause yet to be formatted. */
bool
sf_error_set_va(SfError *err, const char *name, const char *fmt, va_list args)
{
	char	   *cause;

	if (err == NULL)
		return false;
	/* first: args may point into *err */
	cause = sf_error_format(fmt, args);
	*err = sf_error_make(name, cause);
	err->needs_prefix = true;
	return false;
}

/* Fill an SfError with a name and a formatted cause. */
bool
sf_error_set(SfError *err, const char *name, const char *fmt,...)
{
	va_list		args;

	va_start(args, fmt);
	sf_error_set_va(err, name, fmt, args);
	va_end(args);
	return false;
}

/*
 * Tell what becomes of an error name; States.Http.StatusCode.NNN stands for
 * any number.
 */
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
