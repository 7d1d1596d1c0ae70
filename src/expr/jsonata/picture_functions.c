/*
 * picture_functions.c
 *		The library: numbers and times by picture strings.  Not there yet; each
 *		fails with a clear error.
 */
#include "postgres.h"

#include "expr/jsonata/functions.h"

/* $formatNumber */
SF_JN_FUNCTION(formatNumber)
{
	sf_jn_fail_message(ev, SF_JN_D3137, "$formatNumber is not available");
}

/* $formatInteger */
SF_JN_FUNCTION(formatInteger)
{
	sf_jn_fail_message(ev, SF_JN_D3137, "$formatInteger is not available");
}

/* $parseInteger */
SF_JN_FUNCTION(parseInteger)
{
	sf_jn_fail_message(ev, SF_JN_D3137, "$parseInteger is not available");
}

/* Format a time. */
SfJnValue *
sf_jn_format_datetime(SfJnEval *ev, double millis, SfJnValue *picture, SfJnValue *timezone)
{
	sf_jn_fail_message(ev, SF_JN_D3137, "date and time functions are not available");
}

/* Parse a time. */
SfJnValue *
sf_jn_parse_datetime(SfJnEval *ev, SfJnValue *text, SfJnValue *picture)
{
	sf_jn_fail_message(ev, SF_JN_D3137, "date and time functions are not available");
}
