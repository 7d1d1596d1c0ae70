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
extern int	sf_arg_version(FunctionCallInfo fcinfo, int n);
extern Jsonb *sf_arg_jsonb(FunctionCallInfo fcinfo, int n, const char *name);
extern Jsonb *sf_arg_jsonb_or_null(FunctionCallInfo fcinfo, int n);
extern int64 sf_arg_duration_ms(FunctionCallInfo fcinfo, int n, const char *name);
extern int	sf_arg_count(FunctionCallInfo fcinfo, int n, const char *name,
						 int least, int if_null);
extern int	sf_arg_page_size(FunctionCallInfo fcinfo, int n);

/* What a call site has compiled last, which lives as long as the call site */
typedef struct SfCompiled
{
	MemoryContext context;		/* of source and result */
	text	   *source;
	void	   *result;			/* NULL: the caller is to compile the source */
} SfCompiled;

extern SfCompiled *sf_arg_compiled(FunctionCallInfo fcinfo, int n);
extern void sf_arg_check_size(const Jsonb *document, const char *name);

#endif							/* SF_API_SQL_ARGUMENTS_H */
