/*
 * compile.h
 *		What the files of the compiler share.  Private to src/asl.
 */
#ifndef SF_ASL_COMPILE_H
#define SF_ASL_COMPILE_H

#include "asl/validate/validate.h"

/* States of the scope that is being compiled, for resolving names */
typedef struct SfNameTable
{
	int			count;
	SfTreeNode **sorted;
} SfNameTable;

typedef struct SfCompiler
{
	const char *text;
	SfProgram  *program;
	SfNameTable names;
	SfQueryLanguage language;	/* of the state that is being compiled */
	int			context_use;	/* ... what its fields look at (SF_CONTEXT_…) */
} SfCompiler;

/* --- compile_fields.c: one member of an object, absent ones included --- */

extern const char *sf_compile_string(SfCompiler *compiler, const SfTreeNode *object,
									 const char *name);
extern double sf_compile_double(SfCompiler *compiler, const SfTreeNode *object,
								const char *name, double def);
extern SfExpr *sf_compile_expr(SfCompiler *compiler, const SfTreeNode *value, int allowed);
extern SfPathField sf_compile_path(SfCompiler *compiler, const SfTreeNode *object,
								   const char *name, int allowed);
extern SfValueField sf_compile_value(SfCompiler *compiler, const SfTreeNode *object,
									 const char *name, int allowed);
extern const char *sf_compile_expression_text(SfCompiler *compiler, const SfTreeNode *value);
extern SfTemplate *sf_compile_template(SfCompiler *compiler, const SfTreeNode *object,
									   const char *name);
extern SfTemplate *sf_compile_template_value(SfCompiler *compiler, const SfTreeNode *value);
extern Jsonb *sf_compile_jsonb(SfCompiler *compiler, const SfTreeNode *object,
							   const char *name);
extern SfFailureMode sf_compile_failure_mode(const SfTreeNode *object,
											 SfFailureMode def);
extern int	sf_compile_target(SfCompiler *compiler, const char *name);

/* --- compile_states.c, compile_net.c --- */

extern void sf_compile_rule(SfCompiler *compiler, const SfTreeNode *node, SfChoiceRule *rule);
extern void sf_compile_choice(SfCompiler *compiler, const SfTreeNode *node, SfState *state);
extern void sf_compile_retry(SfCompiler *compiler, const SfTreeNode *node, SfState *state);
extern void sf_compile_catch(SfCompiler *compiler, const SfTreeNode *node, SfState *state);
extern void sf_compile_map(SfCompiler *compiler, const SfTreeNode *node, SfState *state);
extern bool sf_asl_is_flow(const SfTreeNode *job);
extern SfTreeNode **sf_compile_order_net_jobs(const SfTreeNode *jobs);
extern void sf_compile_net(SfCompiler *compiler, const SfTreeNode *node, SfState *state);

#endif							/* SF_ASL_COMPILE_H */
