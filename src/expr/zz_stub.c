#include "postgres.h"
#include "expr/expr.h"
struct SfExpr { char *t; };
struct SfTemplate { int x; };
SfExpr *sf_expr_compile(const char *text, int allowed, SfError *err)
{ SfExpr *e;
  if (strncmp(text, "States.", 7) == 0 ? !(allowed & SF_EXPR_INTRINSIC) : text[0] != '$')
  { sf_error_set(err, SF_ERR_RUNTIME, "bad"); return NULL; }
  e = palloc0(sizeof *e); e->t = pstrdup(text); return e; }
SfTemplate *sf_template_compile(const Jsonb *value, SfQueryLanguage language, SfTemplateReport report, void *arg)
{ return palloc0(sizeof(SfTemplate)); }
