/*
 * fail.h
 *		Errors of JSONata: codes, messages, and how they are thrown.
 *
 * Compiler and evaluator leave a failing expression by sf_jn_throw(), a long
 * jump to the enclosing SF_JN_TRY.  The code in between owns nothing but memory
 * of the arena, so the jump leaks nothing.  PostgreSQL's own errors (cancel, out
 * of memory) are not affected.
 */
#ifndef SF_JSONATA_FAIL_H
#define SF_JSONATA_FAIL_H

#include <setjmp.h>

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "jsonata/value/jsonata_value.h"

/* Codes of the reference implementation with their messages. */
#define SF_JN_ERROR_LIST(X) \
	X(S0101, "String literal must be terminated by a matching quote") \
	X(S0102, "Number out of range: {{token}}") \
	X(S0103, "Unsupported escape sequence: \\{{token}}") \
	X(S0104, "The escape sequence \\u must be followed by 4 hex digits") \
	X(S0105, "Quoted property name must be terminated with a backquote (`)") \
	X(S0106, "Comment has no closing tag") \
	X(S0201, "Syntax error: {{token}}") \
	X(S0202, "Expected {{value}}, got {{token}}") \
	X(S0203, "Expected {{value}} before end of expression") \
	X(S0204, "Unknown operator: {{token}}") \
	X(S0205, "Unexpected token: {{token}}") \
	X(S0206, "Unknown expression type: {{token}}") \
	X(S0207, "Unexpected end of expression") \
	X(S0208, "Parameter {{value}} of function definition must be a variable name (start with $)") \
	X(S0209, "A predicate cannot follow a grouping expression in a step") \
	X(S0210, "Each step can only have one grouping expression") \
	X(S0211, "The symbol {{token}} cannot be used as a unary operator") \
	X(S0212, "The left side of := must be a variable name (start with $)") \
	X(S0213, "The literal value {{value}} cannot be used as a step within a path expression") \
	X(S0214, "The right side of {{token}} must be a variable name (start with $)") \
	X(S0215, "A context variable binding must precede any predicates on a step") \
	X(S0216, "A context variable binding must precede the 'order-by' clause on a step") \
	X(S0217, "The object representing the 'parent' cannot be derived from this expression") \
	X(S0301, "Empty regular expressions are not allowed") \
	X(S0302, "No terminating / in regular expression") \
	X(S0303, "Invalid regular expression: {{{message}}}") \
	X(S0401, "Type parameters can only be applied to functions and arrays") \
	X(S0402, "Choice groups containing parameterized types are not supported") \
	X(T0410, "Argument {{index}} of function {{token}} does not match function signature") \
	X(T0411, "Context value is not a compatible type with argument {{index}} of function {{token}}") \
	X(T0412, "Argument {{index}} of function {{token}} must be an array of {{type}}") \
	X(D1001, "Number out of range: {{value}}") \
	X(D1002, "Cannot negate a non-numeric value: {{value}}") \
	X(T1003, "Key in object structure must evaluate to a string; got: {{value}}") \
	X(D1004, "Regular expression matches zero length string") \
	X(T1005, "Attempted to invoke a non-function. Did you mean ${{{token}}}?") \
	X(T1006, "Attempted to invoke a non-function") \
	X(T1007, "Attempted to partially apply a non-function. Did you mean ${{{token}}}?") \
	X(T1008, "Attempted to partially apply a non-function") \
	X(D1009, "Multiple key definitions evaluate to same key: {{value}}") \
	X(T1010, "The matcher function argument passed to function {{token}} does not return the correct object structure") \
	X(T2001, "The left side of the {{token}} operator must evaluate to a number") \
	X(T2002, "The right side of the {{token}} operator must evaluate to a number") \
	X(T2003, "The left side of the range operator (..) must evaluate to an integer") \
	X(T2004, "The right side of the range operator (..) must evaluate to an integer") \
	X(T2006, "The right side of the function application operator ~> must be a function") \
	X(T2007, "Type mismatch when comparing values {{value}} and {{value2}} in order-by clause") \
	X(T2008, "The expressions within an order-by clause must evaluate to numeric or string values") \
	X(T2009, "The values {{value}} and {{value2}} either side of operator {{token}} must be of the same data type") \
	X(T2010, "The expressions either side of operator {{token}} must evaluate to numeric or string values") \
	X(T2011, "The insert/update clause of the transform expression must evaluate to an object: {{value}}") \
	X(T2012, "The delete clause of the transform expression must evaluate to a string or array of strings: {{value}}") \
	X(T2013, "The transform expression clones the input object using the $clone() function.  This has been overridden in the current scope by a non-function.") \
	X(D2014, "The size of the sequence allocated by the range operator (..) must not exceed 1e6.  Attempted to allocate {{value}}.") \
	X(D3001, "Attempting to invoke string function on Infinity or NaN") \
	X(D3010, "Second argument of replace function cannot be an empty string") \
	X(D3011, "Fourth argument of replace function must evaluate to a positive number") \
	X(D3012, "Attempted to replace a matched string with a non-string value") \
	X(D3020, "Third argument of split function must evaluate to a positive number") \
	X(D3030, "Unable to cast value to a number: {{value}}") \
	X(D3040, "Third argument of match function must evaluate to a positive number") \
	X(D3050, "The second argument of reduce function must be a function with at least two arguments") \
	X(D3060, "The sqrt function cannot be applied to a negative number: {{value}}") \
	X(D3061, "The power function has resulted in a value that cannot be represented as a JSON number: base={{value}}, exponent={{exp}}") \
	X(D3070, "The single argument form of the sort function can only be applied to an array of strings or an array of numbers.  Use the second argument to specify a comparison function") \
	X(D3080, "The picture string must only contain a maximum of two sub-pictures") \
	X(D3081, "The sub-picture must not contain more than one instance of the 'decimal-separator' character") \
	X(D3082, "The sub-picture must not contain more than one instance of the 'percent' character") \
	X(D3083, "The sub-picture must not contain more than one instance of the 'per-mille' character") \
	X(D3084, "The sub-picture must not contain both a 'percent' and a 'per-mille' character") \
	X(D3085, "The mantissa part of a sub-picture must contain at least one character that is either an 'optional digit character' or a member of the 'decimal digit family'") \
	X(D3086, "The sub-picture must not contain a passive character that is preceded by an active character and that is followed by another active character") \
	X(D3087, "The sub-picture must not contain a 'grouping-separator' character that appears adjacent to a 'decimal-separator' character") \
	X(D3088, "The sub-picture must not contain a 'grouping-separator' at the end of the integer part") \
	X(D3089, "The sub-picture must not contain two adjacent instances of the 'grouping-separator' character") \
	X(D3090, "The integer part of the sub-picture must not contain a member of the 'decimal digit family' that is followed by an instance of the 'optional digit character'") \
	X(D3091, "The fractional part of the sub-picture must not contain an instance of the 'optional digit character' that is followed by a member of the 'decimal digit family'") \
	X(D3092, "A sub-picture that contains a 'percent' or 'per-mille' character must not contain a character treated as an 'exponent-separator'") \
	X(D3093, "The exponent part of the sub-picture must comprise only of one or more characters that are members of the 'decimal digit family'") \
	X(D3100, "The radix of the formatBase function must be between 2 and 36.  It was given {{value}}") \
	X(D3110, "The argument of the toMillis function must be an ISO 8601 formatted timestamp. Given {{value}}") \
	X(D3120, "Syntax error in expression passed to function eval: {{value}}") \
	X(D3121, "Dynamic error evaluating the expression passed to function eval: {{value}}") \
	X(D3130, "Formatting or parsing an integer as a sequence starting with {{value}} is not supported by this implementation") \
	X(D3131, "In a decimal digit pattern, all digits must be from the same decimal group") \
	X(D3132, "Unknown component specifier {{value}} in date/time picture string") \
	X(D3133, "The 'name' modifier can only be applied to months and days in the date/time picture string, not {{value}}") \
	X(D3134, "The timezone integer format specifier cannot have more than four digits") \
	X(D3135, "No matching closing bracket ']' in date/time picture string") \
	X(D3136, "The date/time picture string is missing specifiers required to parse the timestamp") \
	X(D3137, "{{{message}}}") \
	X(D3138, "The $single() function expected exactly 1 matching result.  Instead it matched more.") \
	X(D3139, "The $single() function expected exactly 1 matching result.  Instead it matched 0.") \
	X(D3140, "Malformed URL passed to ${{{functionName}}}(): {{value}}") \
	X(D3141, "{{{message}}}") \
	X(U1001, "Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive") \
	X(U1002, "Expression evaluation timeout: Check for infinite loop") \
	X(U1003, "{{{message}}}")

#define SF_JN_ERROR_ENUM(code, message) SF_JN_ERROR_##code,
typedef enum SfJnErrorCode
{
	SF_JN_ERROR_LIST(SF_JN_ERROR_ENUM)
	SF_JN_ERROR_NONE
} SfJnErrorCode;

/*
 * An error as it was thrown.  Values are printed only when the message is made
 * (sf_jn_error_message).
 */
typedef struct SfJnError
{
	SfJnErrorCode code;
	int			position;		/* or SF_NO_POSITION */
	const char *token;			/* NULL: none; else token_len bytes */
	Size		token_len;
	bool		token_raw;		/* the token is a number: no quotes */
	SfJnValue  *value;			/* {{value}}; a string: {{{message}}} */
	SfJnValue  *value2;			/* {{value2}}, {{exp}} */
	int			index;			/* {{index}} */
	const char *type;			/* {{type}}, {{functionName}} */
} SfJnError;

/* An error at a position: its code, then other members by their names */
#define SF_JN_ERROR(at, ...) ((SfJnError) {.position = (at), .code = __VA_ARGS__})

typedef struct SfJnThrow
{
	sigjmp_buf *jump;
	SfJnError	error;
} SfJnThrow;

extern const char *const sf_jn_error_code_text[];

/* Leave for the innermost SF_JN_TRY, with an error that is made before. */
extern void sf_jn_throw(SfJnThrow *thrown) pg_attribute_noreturn();
#define sf_jn_throw_error(t, at, ...) \
	do { \
		(t)->error = SF_JN_ERROR(at, __VA_ARGS__); \
		sf_jn_throw(t); \
	} while (0)
extern void sf_jn_throw_at(SfJnThrow *thrown, SfJnErrorCode code, int position,
						   const char *token) pg_attribute_noreturn();
extern char *sf_jn_error_message(SfJnArena *arena, const SfJnError *error);

/*
 * SF_JN_TRY(t) { work } SF_JN_CATCH(t) { t->error is set } SF_JN_END(t);
 * May be nested; locals changed in the work and used after must be volatile.
 */
#define SF_JN_TRY(t) \
	do { \
		sigjmp_buf _local_jump; \
		sigjmp_buf *_outer_jump = (t)->jump; \
		if (sigsetjmp(_local_jump, 0) == 0) \
		{ \
			(t)->jump = &_local_jump

#define SF_JN_CATCH(t) \
			(t)->jump = _outer_jump; \
		} \
		else \
		{ \
			(t)->jump = _outer_jump

#define SF_JN_END(t) \
		} \
	} while (0)

#endif							/* SF_JSONATA_FAIL_H */
