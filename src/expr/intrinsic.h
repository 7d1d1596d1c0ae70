/*
 * intrinsic.h
 *		The intrinsic functions of JSONPath mode, States.Format and so on.
 */
#ifndef SF_EXPR_INTRINSIC_H
#define SF_EXPR_INTRINSIC_H

#include "expr/path.h"

/*
 * Every function: symbol (and so sf_intrinsic_<symbol>), name, least and most
 * arguments.
 */
#define SF_INTRINSIC_UNLIMITED	PG_INT32_MAX
#define SF_INTRINSIC_LIST(X) \
	X(array, "States.Array", 0, SF_INTRINSIC_UNLIMITED) \
	X(array_contains, "States.ArrayContains", 2, 2) \
	X(array_get_item, "States.ArrayGetItem", 2, 2) \
	X(array_length, "States.ArrayLength", 1, 1) \
	X(array_partition, "States.ArrayPartition", 2, 2) \
	X(array_range, "States.ArrayRange", 3, 3) \
	X(array_unique, "States.ArrayUnique", 1, 1) \
	X(base64_decode, "States.Base64Decode", 1, 1) \
	X(base64_encode, "States.Base64Encode", 1, 1) \
	X(format, "States.Format", 1, SF_INTRINSIC_UNLIMITED) \
	X(hash, "States.Hash", 2, 2) \
	X(json_merge, "States.JsonMerge", 3, 3) \
	X(json_to_string, "States.JsonToString", 1, 1) \
	X(math_add, "States.MathAdd", 2, 2) \
	X(math_random, "States.MathRandom", 2, 3) \
	X(string_split, "States.StringSplit", 2, 2) \
	X(string_to_json, "States.StringToJson", 1, 1) \
	X(uuid, "States.UUID", 0, 0)

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
	int			function;		/* position in SF_INTRINSIC_LIST */
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
	JsonbValue *result;
	SfError    *err;
} SfIntrinsicCall;

/* --- intrinsic_parse.c --- */
extern bool sf_intrinsic_parse(SfScanner *s, SfIntrinsic **out);

/* --- intrinsic.c --- */

/* Position of a function in the list by its name, -1 when there is none. */
extern int	sf_intrinsic_find(const char *name, int len);
extern const char *sf_intrinsic_name(int function);
extern bool sf_intrinsic_accepts(int function, int nargs);

extern bool sf_intrinsic_eval(const SfIntrinsic *node, const char *text,
							  SfEnv *env, JsonbValue *result, SfError *err);
extern bool sf_intrinsic_invalid(SfIntrinsicCall *call, const char *detail);
extern bool sf_intrinsic_integer(const SfIntrinsicCall *call, int arg, int64 *out);

/* --- the functions: intrinsic_array.c, intrinsic_text.c, intrinsic_data.c --- */
#define SF_INTRINSIC_DECLARE(sym, name, min, max) \
	extern bool sf_intrinsic_##sym(SfIntrinsicCall *call);
SF_INTRINSIC_LIST(SF_INTRINSIC_DECLARE)

#endif							/* SF_EXPR_INTRINSIC_H */
