/*
 * sql_arguments.h
 *		Arguments that several SQL-callable functions take.
 */
#ifndef SF_API_SQL_ARGUMENTS_H
#define SF_API_SQL_ARGUMENTS_H

#include "fmgr.h"
#include "json/json.h"

extern char *sf_arg_text(FunctionCallInfo fcinfo, int n, const char *name);
extern char *sf_arg_text_or_null(FunctionCallInfo fcinfo, int n);
extern Jsonb *sf_arg_jsonb(FunctionCallInfo fcinfo, int n, const char *name);
extern int64 sf_arg_duration_ms(FunctionCallInfo fcinfo, int n, const char *name);
extern int	sf_arg_count(FunctionCallInfo fcinfo, int n, const char *name,
						 int least, int if_null);
extern void sf_arg_check_size(const Jsonb *document, const char *name);

#endif							/* SF_API_SQL_ARGUMENTS_H */
