/*
 * path_parse.c
 *		Parse a JSONPath.
 *
 *		path     := root step*
 *		root     := "$" | "$$" | "$" word | "@"          (@ in filters only)
 *		step     := "." name | "." "*" | "." function | [".", ".."] bracket
 *		          | ".." (name | "*" | bracket)
 *		          | name                             (right behind a bracket)
 *		bracket  := "[" (quoted ("," quoted)* | int ("," int)* | "*"
 *		          | "(" "@.length" "-" int ")"
 *		          | int? ":" int? | "?" "(" filter ")" ("," …)*) "]"
 *		function := word "(" (operand ("," operand)*)? ")"
 *
 * A name goes on to the next ".", "[", "(" or blank, so that most names need
 * no quotes.  The full grammar with examples is in docs/jsonpath.md.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"

#include "expr/path.h"

typedef struct FunctionEntry
{
	const char *name;
	int			min_args;
	int			max_args;
} FunctionEntry;

#define FUNCTION_ENTRY(sym, name, min, max, call) {name, min, max},
static const FunctionEntry path_functions[] = {
	SF_PATH_FUNCTION_LIST(FUNCTION_ENTRY)
};

/* Characters at which a name ends, by where the path stands */
static const char *const name_stops[] = {
	[SF_PATH_CONTEXT_ALONE] = ".[( \t\r\n",
	[SF_PATH_CONTEXT_IN_ARGUMENT] = ".[(,) \t\r\n",
	[SF_PATH_CONTEXT_IN_FILTER] = ".[(,)=!<>&|~ \t\r\n"
};

/* Make a step of a kind at the end of the list. */
static SfPathStep *
add_step(List **steps, SfPathStepKind kind)
{
	SfPathStep *step = palloc0(sizeof(SfPathStep));

	step->kind = kind;
	*steps = lappend(*steps, step);
	return step;
}

/* Make room for one more name of a step. */
static SfName *
add_name(SfPathStep *step)
{
	step->names = step->names == NULL ? palloc(sizeof(SfName)) :
		repalloc(step->names, (step->nnames + 1) * sizeof(SfName));
	step->kind = step->nnames == 0 ? SF_PATH_STEP_MEMBER : SF_PATH_STEP_MEMBERS;
	return &step->names[step->nnames++];
}

/* Parse the quoted names of a bracket. */
static bool
parse_names(SfScanner *scanner, List **steps)
{
	SfPathStep *step = add_step(steps, SF_PATH_STEP_MEMBER);

	do
	{
		SfName	   *name = add_name(step);

		sf_cursor_space(scanner);
		if (!sf_cursor_quoted(scanner, &name->str, &name->len))
			return false;
		sf_cursor_space(scanner);
	} while (sf_cursor_accept(scanner, ","));
	return true;
}

/* Parse one bound of a slice, if it is there. */
static bool
parse_bound(SfScanner *scanner, bool *is_there, int64 *bound)
{
	sf_cursor_space(scanner);
	*is_there = sf_cursor_peek(scanner) != ']' && sf_cursor_peek(scanner) != ':';
	if (*is_there && !sf_cursor_integer(scanner, bound))
		return false;
	sf_cursor_space(scanner);
	return true;
}

/*
 * Parse the end of a slice, of which the colon comes next.  A step, [1:5:2], is read and has no effect, as in
 * Jayway's library.
 */
static bool
parse_slice(SfScanner *scanner, SfPathStep *step)
{
	bool		has_step;
	int64		ignored;

	step->kind = SF_PATH_STEP_SLICE;
	if (!sf_cursor_expect(scanner, ":") || !parse_bound(scanner, &step->has_to, &step->to))
		return false;
	if (sf_cursor_accept(scanner, ":") && !parse_bound(scanner, &has_step, &ignored))
		return false;
	if (!step->has_from && !step->has_to)
		return sf_cursor_fail(scanner, "slice without a bound at offset %d",
							  (int) (scanner->p - scanner->text));
	return true;
}

/* Parse an index, a union of indexes, or a slice. */
static bool
parse_indexes(SfScanner *scanner, List **steps)
{
	SfPathStep *step = add_step(steps, SF_PATH_STEP_INDEX);
	int			allocated = 4;

	if (sf_cursor_peek(scanner) == ':')
		return parse_slice(scanner, step);
	step->indexes = palloc(sizeof(int64) * allocated);
	do
	{
		if (step->nindexes == allocated)
		{
			allocated *= 2;
			step->indexes = repalloc(step->indexes, sizeof(int64) * allocated);
		}
		sf_cursor_space(scanner);
		if (!sf_cursor_integer(scanner, &step->indexes[step->nindexes++]))
			return false;
		sf_cursor_space(scanner);
	} while (sf_cursor_accept(scanner, ","));

	if (step->nindexes == 1 && sf_cursor_peek(scanner) == ':')
	{
		step->has_from = true;
		step->from = step->indexes[0];
		return parse_slice(scanner, step);
	}
	if (step->nindexes > 1)
		step->kind = SF_PATH_STEP_INDEXES;
	return true;
}

/* Parse (@.length-n), which is an element counted from the end. */
static bool
parse_from_end(SfScanner *scanner, List **steps)
{
	SfPathStep *step = add_step(steps, SF_PATH_STEP_INDEX);
	int64		n;

	(void) sf_cursor_accept(scanner, "(");
	sf_cursor_space(scanner);
	if (!sf_cursor_accept(scanner, "@.length") && !sf_cursor_accept(scanner, "@.size"))
		return sf_cursor_fail(scanner, "expected \"@.length\" at offset %d",
							  (int) (scanner->p - scanner->text));
	(void) sf_cursor_accept(scanner, "()");
	sf_cursor_space(scanner);
	if (!sf_cursor_expect(scanner, "-"))
		return false;
	sf_cursor_space(scanner);
	if (!sf_cursor_integer(scanner, &n))
		return false;
	if (n < 1)
		return sf_cursor_fail(scanner, "no element is at @.length - " INT64_FORMAT, n);
	step->nindexes = 1;
	step->indexes = palloc(sizeof(int64));
	step->indexes[0] = -n;
	sf_cursor_space(scanner);
	return sf_cursor_expect(scanner, ")");
}

/* Parse one or several filters; an element has to pass all of them. */
static bool
parse_filters(SfScanner *scanner, List **steps)
{
	SfPathStep *step = add_step(steps, SF_PATH_STEP_FILTER);

	do
	{
		SfFilter   *filter;
		SfFilter   *both;

		sf_cursor_space(scanner);
		if (!sf_cursor_expect(scanner, "?"))
			return false;
		sf_cursor_space(scanner);
		if (!sf_cursor_expect(scanner, "(") || !sf_filter_parse(scanner, &filter) ||
			!sf_cursor_expect(scanner, ")"))
			return false;
		if (step->filter != NULL)
		{
			both = palloc0(sizeof(SfFilter));
			both->kind = SF_FILTER_KIND_AND;
			both->left = step->filter;
			both->right = filter;
			filter = both;
		}
		step->filter = filter;
		sf_cursor_space(scanner);
	} while (sf_cursor_accept(scanner, ","));
	return true;
}

/* Parse what stands in brackets. */
static bool
parse_bracket(SfScanner *scanner, List **steps)
{
	char		c;
	bool		ok;

	if (!sf_cursor_expect(scanner, "["))
		return false;
	sf_cursor_space(scanner);
	c = sf_cursor_peek(scanner);
	if (c == '\'' || c == '"')
		ok = parse_names(scanner, steps);
	else if (c == '?')
		ok = parse_filters(scanner, steps);
	else if (c == '(')
		ok = parse_from_end(scanner, steps);
	else if (sf_cursor_accept(scanner, "*"))
	{
		(void) add_step(steps, SF_PATH_STEP_WILDCARD);
		ok = true;
	}
	else
		ok = parse_indexes(scanner, steps);
	if (!ok)
		return false;
	sf_cursor_space(scanner);
	return sf_cursor_expect(scanner, "]");
}

/* Parse the arguments of a function, of which the parenthesis comes next. */
static bool
parse_function(SfScanner *scanner, const char *name, int len, List **steps)
{
	SfPathStep *step;
	int			i;

	for (i = 0; i < (int) lengthof(path_functions); i++)
	{
		if ((int) strlen(path_functions[i].name) == len &&
			memcmp(path_functions[i].name, name, len) == 0)
			break;
	}
	if (i == (int) lengthof(path_functions))
		return sf_cursor_fail(scanner, "function %.*s() does not exist", len, name);

	step = add_step(steps, SF_PATH_STEP_FUNCTION);
	step->function = (SfPathFunction) i;
	step->args = palloc(sizeof(SfFilterOperand) * path_functions[i].max_args);
	(void) sf_cursor_accept(scanner, "(");
	sf_cursor_space(scanner);
	while (!sf_cursor_accept(scanner, ")"))
	{
		if (step->nargs > 0 && !sf_cursor_expect(scanner, ","))
			return false;
		sf_cursor_space(scanner);
		if (step->nargs == path_functions[i].max_args)
			return sf_cursor_fail(scanner, "too many arguments for %s()",
								  path_functions[i].name);
		if (!sf_operand_parse(scanner, &step->args[step->nargs++]))
			return false;
		sf_cursor_space(scanner);
	}
	if (step->nargs < path_functions[i].min_args)
		return sf_cursor_fail(scanner, "too few arguments for %s()",
							  path_functions[i].name);
	return true;
}

/* Parse a bare name, a wildcard or a function. */
static bool
parse_name(SfScanner *scanner, SfPathContext context, List **steps)
{
	const char *start = scanner->p;
	SfName	   *name;

	while (scanner->p < scanner->end && strchr(name_stops[context], *scanner->p) == NULL)
		scanner->p++;
	if (scanner->p == start)
		return sf_cursor_fail(scanner, "expected a name at offset %d",
							  (int) (start - scanner->text));
	if (sf_cursor_peek(scanner) == '(')
		return parse_function(scanner, start, scanner->p - start, steps);
	if (scanner->p - start == 1 && *start == '*')
	{
		(void) add_step(steps, SF_PATH_STEP_WILDCARD);
		return true;
	}
	name = add_name(add_step(steps, SF_PATH_STEP_MEMBER));
	name->len = scanner->p - start;
	name->str = pnstrdup(start, name->len);
	return true;
}

/* Tell whether a name comes right behind a bracket, which takes it as behind a dot. */
static bool
name_behind_bracket(const SfScanner *scanner, SfPathContext context)
{
	char		c = sf_cursor_peek(scanner);

	return scanner->p > scanner->text && scanner->p[-1] == ']' &&
		(sf_cursor_is_word(c) || c == '-' || c == '*') &&
		(context != SF_PATH_CONTEXT_IN_FILTER || !sf_filter_at_operator(scanner));
}

/* Parse the steps of a path, as far as they go. */
static bool
parse_steps(SfScanner *scanner, SfPathContext context, List **steps)
{
	for (;;)
	{
		SfPathStep *last;

		CHECK_FOR_INTERRUPTS();
		if (sf_cursor_peek(scanner) == '[')
		{
			if (!parse_bracket(scanner, steps))
				return false;
			continue;
		}
		if (name_behind_bracket(scanner, context))
		{
			if (!parse_name(scanner, context, steps))
				return false;
			continue;
		}
		if (!sf_cursor_accept(scanner, "."))
			return true;
		if (sf_cursor_accept(scanner, "."))
			(void) add_step(steps, SF_PATH_STEP_DESCENT);
		if (!(sf_cursor_peek(scanner) == '[' ? parse_bracket(scanner, steps) :
			  parse_name(scanner, context, steps)))
			return false;
		last = llast(*steps);
		if (last->kind == SF_PATH_STEP_FUNCTION && list_length(*steps) > 1 &&
			((SfPathStep *) list_nth(*steps, list_length(*steps) - 2))->kind ==
			SF_PATH_STEP_DESCENT)
			return sf_cursor_fail(scanner, "function right after \"..\"");
	}
}

/* Take ".name" off a path; NULL where something else stands there. */
static const char *
take_name(const char **p, const char *end, int *len)
{
	const char *name = *p + 1;
	const char *next = name;

	*len = 0;
	if (*p == end || **p != '.')
		return NULL;
	while (next < end && sf_cursor_is_word(*next))
		next++;
	/* a name with other characters, or a function */
	if (next == name || (next < end && strchr(".[,) ", *next) == NULL))
		return NULL;
	*len = next - name;
	*p = next;
	return name;
}

/* Tell what a path that begins with $$ looks at, from what follows. */
static int
path_context_use(const char *p, const char *end)
{
	int			first_len,
				second_len;
	const char *first = take_name(&p, end, &first_len);
	const char *second = take_name(&p, end, &second_len);

	return sf_env_context_use(first, first_len, second, second_len);
}

/* Parse where a path begins. */
static bool
parse_root(SfScanner *scanner, SfPathContext context, SfPath *path)
{
	const char *start;

	if (context == SF_PATH_CONTEXT_IN_FILTER && sf_cursor_accept(scanner, "@"))
	{
		path->root = SF_PATH_ROOT_CURRENT;
		return true;
	}
	if (sf_cursor_accept(scanner, "$$"))
	{
		path->root = SF_PATH_ROOT_CONTEXT;
		scanner->context_use |= path_context_use(scanner->p, scanner->end);
		return true;
	}
	if (!sf_cursor_expect(scanner, "$"))
		return false;
	path->root = SF_PATH_ROOT_INPUT;
	start = scanner->p;
	if (scanner->p < scanner->end && (*scanner->p < '0' || *scanner->p > '9'))
	{
		while (scanner->p < scanner->end && sf_cursor_is_word(*scanner->p))
			scanner->p++;
	}
	if (scanner->p > start)
	{
		path->root = SF_PATH_ROOT_VARIABLE;
		path->variable.len = scanner->p - start;
		path->variable.str = pnstrdup(start, path->variable.len);
	}
	return true;
}

/*
 * Find out what a path can yield.  A step that can match several nodes makes
 * it indefinite, but for a union of names at the end, which makes one object.
 * Behind a descent a function takes all matches at once and the path is
 * definite again; behind other indefinite steps only those that aggregate do.
 */
static void
classify_path(SfPath *path)
{
	bool		descended = false;

	path->definite = true;
	path->is_reference = path->root != SF_PATH_ROOT_CURRENT;
	for (int i = 0; i < path->nsteps; i++)
	{
		SfPathStep *step = &path->steps[i];

		if (step->kind == SF_PATH_STEP_FUNCTION)
		{
			bool		aggregates = step->function >= SF_PATH_FUNCTION_MIN &&
				step->function <= SF_PATH_FUNCTION_CONCAT;

			step->of_matches = !path->definite && (descended || aggregates);
			if (step->of_matches)
				path->definite = true;
		}
		else if (step->kind == SF_PATH_STEP_DESCENT)
		{
			descended = true;
			path->definite = false;
		}
		else if (step->kind == SF_PATH_STEP_MEMBERS)
			path->definite = path->definite && i == path->nsteps - 1;
		else if (step->kind != SF_PATH_STEP_MEMBER && step->kind != SF_PATH_STEP_INDEX)
			path->definite = false;

		if (step->kind != SF_PATH_STEP_MEMBER &&
			!(step->kind == SF_PATH_STEP_INDEX && step->indexes[0] >= 0))
			path->is_reference = false;
	}
}

/* Tell whether nothing but blanks comes next. */
static bool
only_blanks(const SfScanner *scanner)
{
	return scanner->p + strspn(scanner->p, " \t\r\n") == scanner->end;
}

/* Parse a path at the cursor; it ends where its context says. */
bool
sf_path_parse(SfScanner *scanner, SfPathContext context, SfPath **out)
{
	SfPath	   *path = palloc0(sizeof(SfPath));
	List	   *steps = NIL;
	ListCell   *lc;

	check_stack_depth();
	if (!parse_root(scanner, context, path) || !parse_steps(scanner, context, &steps))
		return false;
	if (context == SF_PATH_CONTEXT_ALONE && !only_blanks(scanner))
		return sf_cursor_fail(scanner, "unexpected \"%.*s\" at offset %d",
							  pg_mblen(scanner->p), scanner->p, (int) (scanner->p - scanner->text));
	path->steps = palloc(sizeof(SfPathStep) * Max(list_length(steps), 1));
	foreach(lc, steps)
		path->steps[path->nsteps++] = *(SfPathStep *) lfirst(lc);
	list_free_deep(steps);
	classify_path(path);
	*out = path;
	return true;
}
