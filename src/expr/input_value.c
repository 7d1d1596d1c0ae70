/*
 * input_value.c
 *		A value that an option of a state machine takes from the input of an execution: "$.tenant", or of a machine in
 *		JSONata "{% $states.input.tenant %}".
 */
#include "postgres.h"

#include "expr/expr.h"
#include "jsonata/jsonata.h"

struct SfInputValue
{
	SfExpr	   *path;			/* NULL: JSONata */
	SfJsonata  *expression;
};

/* Compile an expression of JSONata, which sees the input alone; NULL: *problem. */
static SfJsonata *
compile_jsonata(const char *text, int len, const char **problem)
{
	SfJsonata  *expression;
	SfError		error;

	if (len < 4 || strncmp(text, "{%", 2) != 0 || strncmp(text + len - 2, "%}", 2) != 0)
	{
		*problem = "must be an expression, as \"{% $states.input.tenant %}\" is";
		return NULL;
	}
	expression = sf_jsonata_compile(pnstrdup(text + 2, len - 4), len - 4, &error);
	if (expression == NULL)
		*problem = psprintf("has no valid expression: %s", error.cause);
	else if (sf_jsonata_context_use(expression) != 0)
	{
		*problem = "must not use $states.context";
		return NULL;
	}
	return expression;
}

/*
 * Compile what an option says, in the current memory context; NULL: *problem says what is wrong with it, as
 * "must be a string".
 */
SfInputValue *
sf_input_value_compile(const JsonbValue *text, bool is_jsonata, const char **problem)
{
	SfInputValue source = {NULL};
	SfInputValue *result;
	SfError		error;
	char	   *copy;

	*problem = "must be a string";
	if (text->type != jbvString)
		return NULL;
	copy = pnstrdup(text->val.string.val, text->val.string.len);
	if (is_jsonata)
		source.expression = compile_jsonata(copy, text->val.string.len, problem);
	else if ((source.path = sf_expr_compile(copy, SF_EXPR_PATH | SF_EXPR_INPUT, &error)) == NULL)
		*problem = "must be a path into the input, as \"$.tenant\" is";
	if (source.path == NULL && source.expression == NULL)
		return NULL;
	result = palloc(sizeof(SfInputValue));
	*result = source;
	return result;
}

/* Find the value in an input; *value is NULL where there is none.  False: *error. */
bool
sf_input_value_find(const SfInputValue *source, Jsonb *input, Jsonb **value, SfError *error)
{
	SfEnv		env = {.input = input};
	SfEvalStatus status;

	sf_env_begin(&env);
	status = source->path != NULL ? sf_expr_eval(source->path, &env, value, error) :
		sf_jsonata_eval(source->expression, &env, value, error);
	if (status == SF_EVAL_NOT_FOUND)
		*value = NULL;
	return status != SF_EVAL_ERROR;
}
