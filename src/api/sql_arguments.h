/*
 * sql_arguments.h
 *		Arguments that several SQL-callable functions take.
 */
#ifndef SF_API_SQL_ARGUMENTS_H
#define SF_API_SQL_ARGUMENTS_H

#include "fmgr.h"
#include "json/json.h"

/* Text argument as a C string; NULL raises 22004 naming the argument. */
extern char *sf_arg_text(FunctionCallInfo fcinfo, int n, const char *name);

/* The same, where NULL is allowed. */
extern char *sf_arg_text_or_null(FunctionCallInfo fcinfo, int n);

/* jsonb argument, detoasted; NULL raises 22004 naming the argument. */
extern Jsonb *sf_arg_jsonb(FunctionCallInfo fcinfo, int n, const char *name);

/*
 * interval argument in milliseconds, with 30 days a month and 365.25 days a
 * year; SF012 when it is negative or longer than 1000 years (as an infinite
 * one is).  NULL raises 22004 naming the argument.
 */
extern int64 sf_arg_duration_ms(FunctionCallInfo fcinfo, int n, const char *name);

/* integer argument; SF012 when it is less than least.  NULL is if_null. */
extern int	sf_arg_count(FunctionCallInfo fcinfo, int n, const char *name,
						 int least, int if_null);

/* Raise SF011 when a document is larger than a payload may be. */
extern void sf_arg_check_size(const Jsonb *document, const char *name);

#endif							/* SF_API_SQL_ARGUMENTS_H */
