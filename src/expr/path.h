/*
 * path.h
 *		Compiled JSONPath: the tree that path_parse.c makes and path_eval.c runs.
 *
 *		SfPath ── root ($, $$, $name, @)
 *		   └── steps: member, index, union, slice, wildcard, descent,
 *		              filter ── SfFilter (or, and, not, exists, test)
 *		                           └── SfFilterOperand (literal, path, regex)
 *		              function ── arguments: SfFilterOperand
 */
#ifndef SF_EXPR_PATH_H
#define SF_EXPR_PATH_H

#include "base/error/errors.h"
#include "expr/expr.h"
#include "json/json.h"

/*
 * A cursor over the text of an expression, shared by the parsers.
 *
 * Every scanner returns false with an error.  The error's cause says what is wrong,
 * its position where (byte offset).
 */

typedef struct SfScanner
{
	const char *text;			/* the whole expression */
	const char *p;				/* next byte */
	const char *end;
	SfError    *error;			/* may be NULL */
	int			depth;			/* calls of intrinsic functions around p */
	int			context_use;	/* SF_CONTEXT_…: of the paths that begin with $$ */
} SfScanner;

extern void sf_cursor_init(SfScanner *scanner, const char *text, SfError *error);
extern bool sf_cursor_fail(SfScanner *scanner, const char *fmt,...) pg_attribute_printf(2, 3);

/* Next byte, or '\0' at the end. */
extern char sf_cursor_peek(const SfScanner *scanner);
extern void sf_cursor_space(SfScanner *scanner);

extern bool sf_cursor_accept(SfScanner *scanner, const char *token);
extern bool sf_cursor_expect(SfScanner *scanner, const char *token);
extern bool sf_cursor_is_word(char c);
extern bool sf_cursor_constant(SfScanner *scanner, JsonbValue *out);
extern bool sf_cursor_quoted(SfScanner *scanner, char **str, int *len);
extern bool sf_cursor_integer(SfScanner *scanner, int64 *out);
extern bool sf_cursor_number(SfScanner *scanner, JsonbValue *out);

/* Where a path begins */
typedef enum SfPathRoot
{
	SF_PATH_ROOT_INPUT,			/* $ */
	SF_PATH_ROOT_CONTEXT,		/* $$ */
	SF_PATH_ROOT_VARIABLE,		/* $name */
	SF_PATH_ROOT_CURRENT		/* @, inside a filter */
} SfPathRoot;

typedef enum SfPathStepKind
{
	SF_PATH_STEP_MEMBER,		/* .name ['name'] */
	SF_PATH_STEP_INDEX,			/* [n] */
	SF_PATH_STEP_MEMBERS,		/* ['a','b'] */
	SF_PATH_STEP_INDEXES,		/* [0,2] */
	SF_PATH_STEP_SLICE,			/* [from:to] */
	SF_PATH_STEP_WILDCARD,		/* .* [*] */
	SF_PATH_STEP_DESCENT,		/* .. ; the step that follows says what to find */
	SF_PATH_STEP_FILTER,		/* [?(…)] */
	SF_PATH_STEP_FUNCTION		/* .name(…) */
} SfPathStepKind;

/*
 * Functions at the end of a path: symbol, name, least and most arguments, and
 * what path_function.c calls.
 */
#define SF_PATH_FUNCTION_LIST(X) \
	X(LENGTH, "length", 0, 1, call_length) \
	X(MIN, "min", 0, 100, call_aggregate) \
	X(MAX, "max", 0, 100, call_aggregate) \
	X(AVG, "avg", 0, 100, call_aggregate) \
	X(SUM, "sum", 0, 100, call_aggregate) \
	X(STDDEV, "stddev", 0, 100, call_aggregate) \
	X(CONCAT, "concat", 0, 100, call_concat) \
	X(KEYS, "keys", 0, 0, call_keys) \
	X(FIRST, "first", 0, 0, call_element) \
	X(LAST, "last", 0, 0, call_element) \
	X(INDEX, "index", 1, 1, call_element)

#define SF_PATH_FUNCTION_ENUM(sym, name, min, max, call) SF_PATH_FUNCTION_##sym,
typedef enum SfPathFunction
{
	SF_PATH_FUNCTION_LIST(SF_PATH_FUNCTION_ENUM)
} SfPathFunction;

/*
 * Operators of a filter: symbol, text (words in any case).  Where one is the
 * beginning of another the longer one stands first.
 */
#define SF_FILTER_OPERATOR_LIST(X) \
	X(SAME, "===") \
	X(NOT_SAME, "!==") \
	X(EQ, "==") \
	X(NE, "!=") \
	X(LE, "<=") \
	X(LT, "<") \
	X(GE, ">=") \
	X(GT, ">") \
	X(MATCH, "=~") \
	X(NIN, "nin") \
	X(IN, "in") \
	X(SUBSETOF, "subsetof") \
	X(ANYOF, "anyof") \
	X(NONEOF, "noneof") \
	X(ALL, "all") \
	X(SIZE, "size") \
	X(EMPTY, "empty") \
	X(CONTAINS, "contains")

#define SF_FILTER_OPERATOR_ENUM(sym, text) SF_FILTER_OPERATOR_##sym,
typedef enum SfFilterOperator
{
	SF_FILTER_OPERATOR_LIST(SF_FILTER_OPERATOR_ENUM)
} SfFilterOperator;

struct SfPath;

typedef enum SfFilterOperandKind
{
	SF_FILTER_OPERAND_LITERAL,
	SF_FILTER_OPERAND_PATH,
	SF_FILTER_OPERAND_REGEX
} SfFilterOperandKind;

typedef struct SfFilterOperand
{
	SfFilterOperandKind kind;
	JsonbValue	literal;
	struct SfPath *path;
	text	   *regex;			/* anchored; cached compiled by PostgreSQL */
	int			regex_flags;
	bool		regex_is_costly;	/* its time may be exponential */
} SfFilterOperand;

typedef enum SfFilterKind
{
	SF_FILTER_KIND_OR,
	SF_FILTER_KIND_AND,
	SF_FILTER_KIND_NOT,			/* left */
	SF_FILTER_KIND_EXISTS,		/* a */
	SF_FILTER_KIND_TEST			/* a op b */
} SfFilterKind;

typedef struct SfFilter
{
	SfFilterKind kind;
	struct SfFilter *left;
	struct SfFilter *right;
	SfFilterOperator op;
	SfFilterOperand a;
	SfFilterOperand b;
} SfFilter;

typedef struct SfName
{
	char	   *str;
	int			len;
} SfName;

typedef struct SfPathStep
{
	SfPathStepKind kind;
	int			nnames;			/* MEMBER, MEMBERS */
	SfName	   *names;
	int			nindexes;		/* INDEX, INDEXES */
	int64	   *indexes;
	bool		has_from;		/* SLICE */
	bool		has_to;
	int64		from;
	int64		to;
	SfFilter   *filter;			/* FILTER */
	SfPathFunction function;	/* FUNCTION */
	bool		of_matches;		/* … applied to the array of all matches */
	int			nargs;
	SfFilterOperand *args;
} SfPathStep;

typedef struct SfPath
{
	SfPathRoot	root;
	SfName		variable;
	int			nsteps;
	SfPathStep *steps;
	bool		definite;		/* at most one match */
	bool		is_reference;	/* members and indexes only */
} SfPath;

/* How a path is written inside something else */
typedef enum SfPathContext
{
	SF_PATH_CONTEXT_ALONE,		/* the whole text is the path */
	SF_PATH_CONTEXT_IN_ARGUMENT, /* ends at , ) or a blank */
	SF_PATH_CONTEXT_IN_FILTER	/* ends at an operator as well; @ is allowed */
} SfPathContext;

/* --- path_parse.c, filter_parse.c --- */
extern bool sf_path_parse(SfScanner *scanner, SfPathContext context, SfPath **out);
extern bool sf_filter_parse(SfScanner *scanner, SfFilter **out);
extern bool sf_filter_at_operator(const SfScanner *scanner);
extern bool sf_operand_parse(SfScanner *scanner, SfFilterOperand *out);

/* --- path_eval.c --- */

typedef enum SfPathStatus
{
	SF_PATH_STATUS_FOUND,
	SF_PATH_STATUS_PAST_END,	/* an array's index out of range, at the end of
								 * the path: null for a template */
	SF_PATH_STATUS_MISSING,
	SF_PATH_STATUS_FAILED		/* a function could not be applied, or the time is up */
} SfPathStatus;

/* What the evaluation of a path stands on */
typedef struct SfPathEnv
{
	SfEnv	   *env;			/* for $, $$ and $name */
	const JsonbValue *current;	/* for @; NULL outside filters */
} SfPathEnv;

extern SfPathStatus sf_path_eval(const SfPath *path, SfPathEnv *penv,
								 JsonbValue *result, SfError *error);

/* --- filter_eval.c --- */
extern bool sf_filter_accepts(const SfFilter *filter, SfPathEnv *penv,
							  const JsonbValue *node);
extern bool sf_operand_eval(const SfFilterOperand *operand, SfPathEnv *penv,
							JsonbValue *result);
extern bool sf_value_size(const JsonbValue *value, int *size);

/* --- path_function.c --- */
extern bool sf_path_function_call(const SfPathStep *step, SfPathEnv *penv,
								  const JsonbValue *subject, JsonbValue *result,
								  SfError *error);

#endif							/* SF_EXPR_PATH_H */
