/*
 * intrinsic.h
 *		The intrinsic functions of JSONPath mode, States.Format and so on.
 */
#ifndef SF_EXPR_INTRINSIC_H
#define SF_EXPR_INTRINSIC_H

#include "expr/path.h"

/*
 * Every function: symbol (and so sf_intrinsic_<symbol>), name, least and most
 * arguments, the kinds of the first ones (s string, a array, o object, n number
 * that is rounded to an integer of 64 bits, * any), and whether ErrorPath and
 * CausePath may call it, because it gives a string.
 */
#define SF_INTRINSIC_UNLIMITED	PG_INT32_MAX
#define SF_INTRINSIC_LIST(X) \
	X(array, "States.Array", 0, SF_INTRINSIC_UNLIMITED, "", false) \
	X(array_contains, "States.ArrayContains", 2, 2, "a*", false) \
	X(array_get_item, "States.ArrayGetItem", 2, 2, "a*", true) \
	X(array_length, "States.ArrayLength", 1, 1, "a", false) \
	X(array_partition, "States.ArrayPartition", 2, 2, "an", false) \
	X(array_range, "States.ArrayRange", 3, 3, "nnn", false) \
	X(array_unique, "States.ArrayUnique", 1, 1, "a", false) \
	X(base64_decode, "States.Base64Decode", 1, 1, "s", true) \
	X(base64_encode, "States.Base64Encode", 1, 1, "s", true) \
	X(format, "States.Format", 1, SF_INTRINSIC_UNLIMITED, "s", true) \
	X(hash, "States.Hash", 2, 2, "ss", true) \
	X(json_merge, "States.JsonMerge", 3, 3, "oo*", false) \
	X(json_to_string, "States.JsonToString", 1, 1, "*", true) \
	X(math_add, "States.MathAdd", 2, 2, "nn", false) \
	X(math_random, "States.MathRandom", 2, 3, "nnn", false) \
	X(string_split, "States.StringSplit", 2, 2, "ss", false) \
	X(string_to_json, "States.StringToJson", 1, 1, "s", false) \
	X(uuid, "States.UUID", 0, 0, "", true)
#define SF_INTRINSIC_CHECKED	3	/* arguments that have a kind at most */
#define SF_INTRINSIC_DEPTH		10	/* calls inside each other, as in the service */

struct SfIntrinsic;

typedef enum SfArgumentKind
{
	SF_ARGUMENT_LITERAL,
	SF_ARGUMENT_PATH,
	SF_ARGUMENT_CALL
} SfArgumentKind;

typedef struct SfArgument
{
	SfArgumentKind kind;
	JsonbValue	literal;
	const char *raw;			/* string literal with its escapes; Format needs
								 * to tell \{ from { */
	const char *path_text;
	SfPath	   *path;
	struct SfIntrinsic *call;
} SfArgument;

/* A call as written: which function, which arguments */
typedef struct SfIntrinsic
{
	const struct SfIntrinsicFunction *function;
	int			nargs;
	SfArgument *args;
} SfIntrinsic;

/* A call being evaluated */
typedef struct SfIntrinsicCall
{
	const SfIntrinsic *node;
	SfEnv	   *env;
	int			nargs;
	JsonbValue *args;
	int64		integers[SF_INTRINSIC_CHECKED];	/* arguments of kind n */
	JsonbValue *result;
	SfError    *error;
} SfIntrinsicCall;

/* A row of SF_INTRINSIC_LIST */
typedef struct SfIntrinsicFunction
{
	const char *name;
	int			min_args;
	int			max_args;
	const char *kinds;
	bool		gives_text;
	bool		(*call) (SfIntrinsicCall *call);
} SfIntrinsicFunction;

/* --- intrinsic.c --- */

extern bool sf_intrinsic_parse(SfScanner *scanner, SfIntrinsic **out);
extern const char *sf_intrinsic_misused_literal(const SfIntrinsic *node);
extern bool sf_intrinsic_eval(const SfIntrinsic *node, const char *text,
							  SfEnv *env, JsonbValue *result, SfError *error);
extern bool sf_intrinsic_refuse(SfIntrinsicCall *call, const char *detail);

/* --- the functions: intrinsic_data.c, intrinsic_text.c --- */
#define SF_INTRINSIC_DECLARE(sym, name, min, max, kinds, gives_text) \
	extern bool sf_intrinsic_##sym(SfIntrinsicCall *call);
SF_INTRINSIC_LIST(SF_INTRINSIC_DECLARE)

/* --- the contents of SfExpr, for the files of this folder --- */

struct SfExpr
{
	const char *text;
	SfPath	   *path;			/* either this … */
	SfIntrinsic *call;			/* … or this */
	int			context_use;	/* SF_CONTEXT_… */
};

extern SfPathStatus sf_compiled_eval(const SfExpr *expr, SfEnv *env,
									 JsonbValue *result, SfError *error);

#endif							/* SF_EXPR_INTRINSIC_H */
