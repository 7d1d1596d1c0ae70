/*
 * eval.h
 *		What the files of the evaluator share.
 */
#ifndef SF_JSONATA_EVAL_H
#define SF_JSONATA_EVAL_H

#include "regex/regex.h"

#include "base/time/time_limit.h"
#include "base/version/compat.h"
#include "jsonata/syntax/ast.h"
#include "jsonata/value/fail.h"

typedef struct SfJnEval SfJnEval;
typedef struct SfJnFunction SfJnFunction;

/* Variables of one scope; the last binding of a name comes first. */
typedef struct SfJnBinding
{
	SfJnName	name;
	SfJnValue  *value;
	struct SfJnBinding *next;
} SfJnBinding;

typedef struct SfJnFrame
{
	struct SfJnFrame *parent;
	SfJnBinding *bindings;
	const SfJnValue *tuple;		/* bindings of a tuple stream, or NULL */
} SfJnFrame;

/* Where expressions are evaluated: bits, for the sets in which a function is there */
typedef enum SfJnMode
{
	SF_JN_IN_QUERY = 0x01,		/* sf_jsonata */
	SF_JN_IN_STATE = 0x02		/* state machines */
} SfJnMode;

/*
 * A function in C.  args has at least SF_JN_MAX_ARGS elements, those not
 * given are NULL.
 */
#define SF_JN_MAX_ARGS 8
typedef SfJnValue *(*SfJnNativeFunction) (SfJnEval *ev, SfJnValue **args, int nargs);

typedef struct SfJnNative
{
	const char *name;
	SfJnNativeFunction function;
	const char *signature;
	int			arity;			/* most arguments that higher-order functions pass */
	int			given;			/* arguments that must not be undefined */
	int			modes;			/* set of SfJnMode */
} SfJnNative;

/* The set of all modes */
#define SF_JN_EVERYWHERE	(SF_JN_IN_QUERY | SF_JN_IN_STATE)

typedef enum SfJnFunctionKind
{
	SF_JN_FUNCTION_NATIVE,
	SF_JN_FUNCTION_LAMBDA,
	SF_JN_FUNCTION_PARTIAL,		/* a native with some arguments bound */
	SF_JN_FUNCTION_REGEX,		/* matches its argument */
	SF_JN_FUNCTION_NEXT,		/* the next match of a regex */
	SF_JN_FUNCTION_TRANSFORM,
	SF_JN_FUNCTION_COMPOSE		/* f ~> g */
} SfJnFunctionKind;

struct SfJnFunction
{
	SfJnFunctionKind kind;
	bool		thunk;
	const SfJnNative *native;	/* NATIVE, PARTIAL */
	const SfJnSignature *signature;	/* NULL: anything goes */
	const SfJnName *params;		/* LAMBDA */
	int			nparams;		/* LAMBDA, PARTIAL: arguments still open */
	const SfJnNode *node;		/* LAMBDA: body; TRANSFORM, REGEX: the node */
	SfJnFrame  *env;
	SfJnValue  *input;
	SfJnValue **bound;			/* PARTIAL: arguments, NULL in the holes */
	bool	   *hole;
	int			nbound;
	const SfJnRegex *regex;		/* REGEX, NEXT */
	SfJnValue  *subject;		/* NEXT: what is searched */
	Size		offset;			/* NEXT: code points passed */
	SfJnValue  *first;			/* COMPOSE */
	SfJnValue  *second;
};

/* The calls under way, for the token and position of errors. */
typedef struct SfJnCall
{
	const char *token;
	Size		token_len;
	int			position;
} SfJnCall;

/*
 * Subjects that are kept decoded.  There is more than one, because the function that replaces a match may search
 * another subject before the next match is looked for.
 */
#define SF_JN_KEPT_SUBJECTS 4

struct SfJnEval
{
	SfJnArena	arena;
	SfJnThrow	thrower;
	SfJnMode	mode;
	int			depth;
	int			max_depth;
	SfTimeLimit limit;
	SfJnFrame  *root;
	SfJnCall   *call;			/* innermost */
	SfJnCall   *outermost;
	SfJnValue  *focus;			/* context of the native that runs */
	SfJnFrame  *focus_env;
	int64		now_ms;			/* Unix time, fixed at the first use */
	bool		now_known;

	/* the last subjects of regular expressions, decoded, and the last searches, both with the latest first */
	struct SfJnSubject *subjects[SF_JN_KEPT_SUBJECTS];
	struct SfJnSearch *searches[SF_JN_KEPT_SUBJECTS];

	/* Look a variable up outside the expression; NULL: there is none. */
	SfJnValue  *(*lookup) (SfJnEval *ev, const SfJnName *name, bool *found);
	void	   *lookup_arg;
};

/* eval.c */
extern SfJnValue *sf_jn_eval(SfJnEval *ev, const SfJnNode *node,
							 SfJnValue *input, SfJnFrame *env);
extern void sf_jn_check(SfJnEval *ev);	/* limits; call in every long loop */
extern void sf_jn_check_stack(SfJnEval *ev);	/* the same in recursions */
extern SfJnFrame *sf_jn_frame(SfJnEval *ev, SfJnFrame *parent);
extern void sf_jn_bind(SfJnEval *ev, SfJnFrame *frame, const SfJnName *name,
					   SfJnValue *value);
extern SfJnValue *sf_jn_lookup(SfJnEval *ev, SfJnFrame *frame, const SfJnName *name);
extern SfJnValue *sf_jn_function_value(SfJnArena *arena, SfJnFunctionKind kind);
extern SfJnValue *sf_jn_sequence_of(SfJnEval *ev, SfJnValue *item);
extern SfJnValue *sf_jn_wrap_input(SfJnEval *ev, SfJnValue *input);

/*
 * Throw an error, at a position or where the calls under way are: its code, then
 * other members of SfJnError by their names.
 */
#define sf_jn_fail(ev, ...) sf_jn_fail_at(ev, SF_NO_POSITION, __VA_ARGS__)
#define sf_jn_fail_at(ev, at, ...) \
	do { \
		(ev)->thrower.error = SF_JN_ERROR(at, __VA_ARGS__); \
		sf_jn_raise(ev); \
	} while (0)

extern void sf_jn_raise(SfJnEval *ev) pg_attribute_noreturn();

/* path.c */
extern SfJnValue *sf_jn_eval_path(SfJnEval *ev, const SfJnNode *node,
								  SfJnValue *input, SfJnFrame *env);
extern SfJnValue *sf_jn_eval_filter(SfJnEval *ev, const SfJnNode *predicate,
									SfJnValue *input, SfJnFrame *env);
extern SfJnValue *sf_jn_lookup_member(SfJnEval *ev, const SfJnValue *input,
									  const SfJnName *name);

/* group.c */
extern SfJnValue *sf_jn_eval_group(SfJnEval *ev, const SfJnNodeList *pairs,
								   int position, SfJnValue *input, SfJnFrame *env);
extern SfJnValue *sf_jn_eval_sort(SfJnEval *ev, const SfJnNode *node,
								  SfJnValue *input, SfJnFrame *env);
extern SfJnValue *sf_jn_eval_item(SfJnEval *ev, const SfJnNode *node,
								  SfJnValue *item, bool tuples, SfJnFrame *env);

/*
 * Sort stably; swap(arg, a, b) tells whether a must come after b.  Makes a new
 * array.
 */
typedef bool (*SfJnSwap) (SfJnEval *ev, void *arg, SfJnValue *a, SfJnValue *b);
extern SfJnValue *sf_jn_merge_sort(SfJnEval *ev, const SfJnValue *array,
								   SfJnSwap swap, void *arg);

/* operator.c */
extern SfJnValue *sf_jn_eval_binary(SfJnEval *ev, const SfJnNode *node,
									SfJnValue *input, SfJnFrame *env);
extern void sf_jn_set_all(SfJnEval *ev, SfJnValue *object, const SfJnValue *from);
extern bool sf_jn_is_equal(SfJnEval *ev, const SfJnValue *x, const SfJnValue *y);
extern bool sf_jn_is_numeric(SfJnEval *ev, SfJnValue *value);
extern bool sf_jn_is_all_numeric(SfJnEval *ev, SfJnValue *value);
extern bool sf_jn_is_true(SfJnEval *ev, SfJnValue *value);	/* undefined is false */
extern void sf_jn_check_nesting(SfJnEval *ev, const SfJnValue *value);
extern SfJnValue *sf_jn_to_string(SfJnEval *ev, SfJnValue *value, bool pretty);

/* call.c */
extern SfJnValue *sf_jn_eval_call(SfJnEval *ev, const SfJnNode *node,
								  SfJnValue *input, SfJnFrame *env,
								  SfJnValue **piped);
extern SfJnValue *sf_jn_eval_partial(SfJnEval *ev, const SfJnNode *node,
									 SfJnValue *input, SfJnFrame *env);
extern SfJnValue *sf_jn_eval_apply(SfJnEval *ev, const SfJnNode *node,
								   SfJnValue *input, SfJnFrame *env);
extern SfJnValue *sf_jn_eval_lambda(SfJnEval *ev, const SfJnNode *node,
									SfJnValue *input, SfJnFrame *env);

extern SfJnValue *sf_jn_apply(SfJnEval *ev, SfJnValue *function, SfJnValue **args,
							  int nargs, SfJnValue *input, SfJnFrame *env);

/* Call the function of a higher-order one with as many arguments as it takes. */
extern SfJnValue *sf_jn_call_back(SfJnEval *ev, SfJnValue *function, SfJnValue *a,
								  SfJnValue *b, SfJnValue *c);
extern int	sf_jn_arity(const SfJnValue *function);

/* operator.c */
extern SfJnValue *sf_jn_apply_transform(SfJnEval *ev, const SfJnFunction *function,
										SfJnValue *object);

/* signature.c */
extern int	sf_jn_signature_validate(SfJnEval *ev, const SfJnSignature *signature,
									 SfJnValue **args, int nargs, SfJnValue *context,
									 SfJnValue ***validated);

/* --- limits of an evaluation that are not settings --- */

/* Megabytes that the values of one evaluation may take */
#define SF_JN_MAX_MEMORY_MB 1024

/* Bytes of a string that an expression makes */
#define SF_JN_MAX_STRING (64 * 1024 * 1024)

/* Levels of nested arrays and objects that are printed or compared */
#define SF_JN_MAX_NESTING 6000

#endif							/* SF_JSONATA_EVAL_H */
