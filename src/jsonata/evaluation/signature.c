/*
 * signature.c
 *		Signatures of functions: <s-nn?:s> and the like.
 *
 * A signature is a list of parameters, each a set of type symbols with a
 * quantifier.  Arguments are matched with it greedily, as a regular expression
 * over one letter per argument would (the reference implementation uses one).
 *
 *		s n b l a o f	string number boolean null array object function
 *		j, x			any JSON value, any value
 *		m				missing (an argument that is undefined)
 *		-				an argument that does not fit is replaced by the context
 *		? +				optional, one or more
 */
#include "postgres.h"

#include "jsonata/evaluation/eval.h"

#define MAX_PARAMS 16

typedef struct SfJnParam
{
	char		types[12];
	char		symbol;			/* the type as written; '(' for a choice */
	char		quantifier;		/* 0 ? + */
	bool		takes_context;
	char		subtype;		/* of a<…>; 0: any */
} SfJnParam;

struct SfJnSignature
{
	int			n;
	SfJnParam	params[MAX_PARAMS];
};

/* Find the bracket that closes the one at position. */
static int
closing_bracket(const char *text, int at, char open, char close)
{
	int			depth = 1;

	while (text[at] != '\0')
	{
		at++;
		if (text[at] == close && --depth == 0)
			break;
		if (text[at] == open)
			depth++;
	}
	return at;
}

/* Read one symbol that declares a parameter; returns where it ends. */
static int
parse_param(SfJnArena *arena, SfJnThrow *thrown, const char *text, int at, int position,
			SfJnParam *param)
{
	int			end;

	param->symbol = text[at];
	switch (text[at])
	{
		case 'a':
		case 'x':
			strcpy(param->types, "asnblfom");
			return at;
		case 'j':
			strcpy(param->types, "asnblom");
			return at;
		case 'f':
			strcpy(param->types, "f");
			return at;
		case '(':
			end = closing_bracket(text, at, '(', ')');
			if (memchr(text + at, '<', end - at) != NULL)
				sf_jn_throw_error(thrown, position + at, SF_JN_ERROR_S0402, .value =
								  sf_jn_string_copy(arena, text + at + 1, end - at - 1));
			snprintf(param->types, sizeof(param->types), "%.*sm",
					 Min(end - at - 1, 9), text + at + 1);
			return text[end] == '\0' ? end - 1 : end;
		default:
			param->types[0] = text[at];
			param->types[1] = 'm';
			return at;
	}
}

/* Parse a signature; position is where it stands in the expression. */
SfJnSignature *
sf_jn_signature_parse(SfJnArena *arena, SfJnThrow *thrown, const char *text, int position)
{
	SfJnSignature *result = sf_jn_alloc(arena, sizeof(SfJnSignature));
	SfJnParam  *last = NULL;

	memset(result, 0, sizeof(*result));
	for (int at = 1; text[at] != '\0' && text[at] != ':'; at++)
	{
		switch (text[at])
		{
			case '-':
				if (last != NULL)
					last->takes_context = true;
				if (last != NULL)
					last->quantifier = '?';
				break;
			case '?':
			case '+':
				if (last != NULL)
					last->quantifier = text[at];
				break;
			case '<':
				if (last == NULL || (last->symbol != 'a' && last->symbol != 'f'))
					sf_jn_throw_error(thrown, position + at, SF_JN_ERROR_S0401, .value = last == NULL ?
									  NULL : sf_jn_string_copy(arena, &last->symbol, 1));
				last->subtype = text[at + 1];
				at = closing_bracket(text, at, '<', '>');
				if (text[at] == '\0')
					at--;
				break;
			default:
				if (strchr("snblofjxa(", text[at]) == NULL)
					break;
				if (result->n >= MAX_PARAMS)
					sf_jn_throw_error(thrown, position + at, SF_JN_ERROR_S0402);
				last = &result->params[result->n++];
				at = parse_param(arena, thrown, text, at, position, last);
				break;
		}
	}
	return result;
}

/* Tell the symbol of a value's type. */
static char
type_symbol(const SfJnValue *value)
{
	static const char symbols[] = {
		[SF_JN_TYPE_NULL] = 'l', [SF_JN_TYPE_BOOL] = 'b', [SF_JN_TYPE_NUMBER] = 'n',
		[SF_JN_TYPE_STRING] = 's', [SF_JN_TYPE_ARRAY] = 'a', [SF_JN_TYPE_OBJECT] = 'o',
		[SF_JN_TYPE_FUNCTION] = 'f'
	};

	return value == NULL ? 'm' : symbols[value->type];
}

/*
 * Match the parameters from k on with the arguments from i on, greedily;
 * taken[k] is the number of arguments of each.
 */
static bool
match_params(SfJnEval *ev, const SfJnSignature *signature, int k, SfJnValue **args, int i, int nargs,
			 int *taken)
{
	const SfJnParam *param = &signature->params[k];
	int			most = 0;
	int			least;

	if (k == signature->n)
		return i == nargs;
	while (i + most < nargs &&
		   (param->quantifier == '+' || most < 1) &&
		   strchr(param->types, type_symbol(args[i + most])) != NULL)
		most++;
	least = param->quantifier == '?' ? 0 : 1;
	for (; most >= least; most--)
	{
		taken[k] = most;
		if (match_params(ev, signature, k + 1, args, i + most, nargs, taken))
			return true;
		sf_jn_check(ev);
	}
	return false;
}

/* Throw T0410 for the first argument that does not fit. */
static void pg_attribute_noreturn()
fail_match(SfJnEval *ev, const SfJnSignature *signature, SfJnValue **args, int nargs)
{
	SfJnSignature part = *signature;
	int			taken[MAX_PARAMS];
	int			good = 0;

	/* Match ever longer beginnings, against as many arguments as they take. */
	for (int k = 1; k <= signature->n; k++)
	{
		int			n;

		part.n = k;
		for (n = nargs; n >= 0; n--)
		{
			if (match_params(ev, &part, 0, args, 0, n, taken))
				break;
		}
		if (n < 0)
			break;
		good = n;
	}
	sf_jn_fail(ev, SF_JN_ERROR_T0410, .value = good < nargs ? args[good] : NULL, .index = good + 1);
}

/* Tell the word that T0412 has for the elements of an array. */
static const char *
subtype_name(char symbol)
{
	static const char *const names[] = {
		"arrays", "booleans", "functions", "numbers", "objects", "strings"
	};

	for (size_t i = 0; i < lengthof(names); i++)
		if (names[i][0] == symbol)
			return names[i];
	return NULL;
}

/* Make an argument the array that a parameter wants. */
static SfJnValue *
array_argument(SfJnEval *ev, const SfJnParam *param, SfJnValue *arg, int index)
{
	char		symbol = type_symbol(arg);
	bool		good = true;
	SfJnValue  *result;

	if (symbol == 'm')
		return NULL;
	if (param->subtype != '\0')
	{
		if (symbol != 'a')
			good = symbol == param->subtype;
		for (uint32 i = 0; symbol == 'a' && good && i < arg->len; i++)
			good = type_symbol(arg->u.items[i]) == param->subtype;
		if (!good)
			sf_jn_fail(ev, SF_JN_ERROR_T0412, .value = arg, .index = index,
					   .type = subtype_name(param->subtype));
	}
	if (symbol == 'a')
		return arg;
	result = sf_jn_array(&ev->arena, 1);
	sf_jn_push(&ev->arena, result, arg);
	return result;
}

/*
 * Check the arguments of a call, and throw an error when one does not fit.  The
 * context replaces a missing argument whose parameter allows it, and a single
 * value becomes an array where the parameter wants one.  Returns the number of
 * arguments in *validated.
 */
int
sf_jn_signature_validate(SfJnEval *ev, const SfJnSignature *signature, SfJnValue **args,
						 int nargs, SfJnValue *context, SfJnValue ***validated)
{
	int			taken[MAX_PARAMS];
	SfJnValue **out = sf_jn_alloc(&ev->arena, (nargs + signature->n + 1) * sizeof(SfJnValue *));
	int			nout = 0;
	int			i = 0;

	if (!match_params(ev, signature, 0, args, 0, nargs, taken))
		fail_match(ev, signature, args, nargs);
	for (int k = 0; k < signature->n; k++)
	{
		const SfJnParam *param = &signature->params[k];

		if (taken[k] == 0 && param->takes_context)
		{
			if (strchr(param->types, type_symbol(context)) == NULL)
				sf_jn_fail(ev, SF_JN_ERROR_T0411, .value = context, .index = i + 1);
			out[nout++] = param->symbol == 'a' ?
				array_argument(ev, param, context, i + 1) : context;
		}
		else if (taken[k] == 0)
			out[nout++] = i < nargs ? args[i] : NULL, i++;
		for (int n = 0; n < taken[k]; n++, i++)
			out[nout++] = param->symbol == 'a' ?
				array_argument(ev, param, args[i], i + 1) : args[i];
	}
	*validated = out;
	return nout;
}
