/*
 * choice_state.c
 *		Choice: the first rule that is true decides where to go.
 *
 * An operand of the wrong type makes a comparison false, never an error.
 * Strings compare by bytes, numbers as numeric, timestamps as moments.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "transition/step.h"

/* What a comparison does */
typedef enum Test
{
	TEST_EQ, TEST_LT, TEST_GT, TEST_LE, TEST_GE, TEST_MATCHES, TEST_IS
} Test;

typedef enum Operand
{
	OPERAND_STRING, OPERAND_NUMERIC, OPERAND_BOOLEAN, OPERAND_TIMESTAMP,
	OPERAND_ANY
} Operand;

typedef struct Comparison
{
	const char *name;
	Operand		operand;
	Test		test;
} Comparison;

static const Comparison comparisons[] = {
#define COMPARISON(sym, name, type, cmp, has_path) \
	[SF_CMP_##sym] = {name, OPERAND_##type, TEST_##cmp},
	SF_COMPARISON_LIST(COMPARISON)
};

/* Result of a rule: it may also fail to be evaluated */
typedef enum Verdict
{
	VERDICT_NO, VERDICT_YES, VERDICT_ERROR
} Verdict;

static Verdict eval_rule(SfStep *step, const SfChoiceRule *rule, int top,
						 SfError *error);

/* Turn the sign of a three-way comparison into the answer of a test. */
static bool
test_sign(Test test, int sign)
{
	switch (test)
	{
		case TEST_EQ:
			return sign == 0;
		case TEST_LT:
			return sign < 0;
		case TEST_GT:
			return sign > 0;
		case TEST_LE:
			return sign <= 0;
		case TEST_GE:
			return sign >= 0;
		case TEST_MATCHES:
		case TEST_IS:			/* they compare nothing */
			break;
	}
	return false;
}

/*
 * Match a string against a pattern of StringMatches: "*" is any text, "\*"
 * and "\\" stand for themselves.  Linear but for the last star, to which it
 * falls back.
 */
static bool
string_matches(SfEnv *env, const char *s, const char *send, const char *p, const char *pend)
{
	const char *star = NULL,
			   *retry = NULL;

	while (s < send || p < pend)
	{
		if (p < pend && *p == '*')
		{
			star = ++p;
			retry = s;
			continue;
		}
		if (p < pend && s < send)
		{
			const char *c = (*p == '\\' && p + 1 < pend &&
							 (p[1] == '*' || p[1] == '\\')) ? p + 1 : p;

			if (*c == *s)
			{
				p = c + 1;
				s++;
				continue;
			}
		}
		if (star == NULL || retry >= send)
			return false;
		CHECK_FOR_INTERRUPTS();
		if (sf_env_is_late(env, 1 + (uint32) ((p - star) / 256)))
			return false;
		p = star;
		s = ++retry;
	}
	return true;
}

/* A string that is a timestamp, as a moment. */
static bool
as_timestamp(const JsonbValue *value, TimestampTz *at)
{
	return value->type == jbvString &&
		sf_timestamp_parse(value->val.string.val, value->val.string.len, at);
}

/* IsNull, IsString and so on. */
static bool
test_type(SfComparison comparison, const JsonbValue *value)
{
	TimestampTz at;

	switch (comparison)
	{
		case SF_CMP_IS_NULL:
			return value->type == jbvNull;
		case SF_CMP_IS_NUMERIC:
			return value->type == jbvNumeric;
		case SF_CMP_IS_STRING:
			return value->type == jbvString;
		case SF_CMP_IS_BOOLEAN:
			return value->type == jbvBool;
		case SF_CMP_IS_TIMESTAMP:
			return as_timestamp(value, &at);
		default:
			return true;		/* IsPresent */
	}
}

/* Compare a value with an operand of the comparison's type. */
static bool
compare(SfEnv *env, const Comparison *comparison, const JsonbValue *value, const JsonbValue *operand)
{
	TimestampTz a,
				b;

	switch (comparison->operand)
	{
		case OPERAND_STRING:
			if (value->type != jbvString || operand->type != jbvString)
				return false;
			if (comparison->test == TEST_MATCHES)
				return string_matches(env, value->val.string.val,
									  value->val.string.val + value->val.string.len,
									  operand->val.string.val,
									  operand->val.string.val + operand->val.string.len);
			return test_sign(comparison->test, sf_json_order(value, operand));
		case OPERAND_NUMERIC:
			if (value->type != jbvNumeric || operand->type != jbvNumeric)
				return false;
			return test_sign(comparison->test, sf_json_order(value, operand));
		case OPERAND_BOOLEAN:
			return value->type == jbvBool && operand->type == jbvBool &&
				value->val.boolean == operand->val.boolean;
		case OPERAND_TIMESTAMP:
			return as_timestamp(value, &a) && as_timestamp(operand, &b) &&
				test_sign(comparison->test, (a > b) - (a < b));
		case OPERAND_ANY:
			break;
	}
	return false;
}

/* Report a path of a rule that leads nowhere. */
static Verdict
bad_path(const SfExpr *expr, SfError *error)
{
	sf_error_set(error, SF_ERR_RUNTIME,
				 "Invalid path '%s': The choice state's condition path references an invalid value.",
				 sf_expr_text(expr));
	return VERDICT_ERROR;
}

/* Evaluate a comparison. */
static Verdict
eval_compare(SfStep *step, const SfRuleComparison *rule, SfError *error)
{
	const Comparison *comparison = &comparisons[rule->comparison];
	const JsonbValue *operand = &rule->operand;
	JsonbValue	value,
				other;
	SfEvalStatus status;
	bool		is_true;

	status = sf_expr_eval_value(rule->variable, &step->env, &value, error);
	if (status == SF_EVAL_ERROR)
		return VERDICT_ERROR;

	if (rule->comparison == SF_CMP_IS_PRESENT)
		return (status == SF_EVAL_OK) == rule->operand.val.boolean ?
			VERDICT_YES : VERDICT_NO;
	if (status == SF_EVAL_NOT_FOUND)
		return bad_path(rule->variable, error);
	if (comparison->test == TEST_IS)
		return test_type(rule->comparison, &value) == rule->operand.val.boolean ?
			VERDICT_YES : VERDICT_NO;

	if (rule->operand_path != NULL)
	{
		status = sf_expr_eval_value(rule->operand_path, &step->env, &other, error);
		if (status == SF_EVAL_ERROR)
			return VERDICT_ERROR;
		if (status == SF_EVAL_NOT_FOUND)
			return bad_path(rule->operand_path, error);
		operand = &other;
	}
	is_true = compare(&step->env, comparison, &value, operand);
	if (step->env.limit.is_over)
	{
		(void) sf_env_refuse_late(&step->env, error);
		return VERDICT_ERROR;
	}
	return is_true ? VERDICT_YES : VERDICT_NO;
}

/* Where the number of a rule of a Choice may stand: the rule is the Condition of a job */
#define OF_JOB	(-1)

/* Evaluate a JSONata Condition, which must be a boolean. */
static Verdict
eval_condition(SfStep *step, const SfRuleCondition *rule, int top, SfError *error)
{
	char	   *field = top == OF_JOB ? "Condition" : psprintf("Choices[%d]/Condition", top);
	Jsonb	   *result;
	JsonbValue	root;

	if (!sf_template_eval(rule->condition, &step->env, field, &result, error))
		return VERDICT_ERROR;
	sf_json_root(result, &root);
	if (root.type == jbvBool)
		return root.val.boolean ? VERDICT_YES : VERDICT_NO;
	(void) sf_flow_refuse_type(rule->text ? rule->text : "", field,
							   "boolean", result, error);
	return VERDICT_ERROR;
}

/* Evaluate a rule; top is the number of the top-level rule it is part of, or OF_JOB. */
static Verdict
eval_rule(SfStep *step, const SfChoiceRule *rule, int top, SfError *error)
{
	Verdict		verdict;

	check_stack_depth();
	switch (rule->kind)
	{
		case SF_CHOICE_COMPARE:
			return eval_compare(step, sf_rule_comparison(rule), error);
		case SF_CHOICE_CONDITION:
			return eval_condition(step, sf_rule_condition(rule), top, error);
		case SF_CHOICE_NOT:
			verdict = eval_rule(step, &sf_rule_group(rule)->children[0], top, error);
			if (verdict == VERDICT_ERROR)
				return verdict;
			return verdict == VERDICT_YES ? VERDICT_NO : VERDICT_YES;
		case SF_CHOICE_AND:
		case SF_CHOICE_OR:
			break;
	}
	for (int i = 0; i < sf_rule_group(rule)->nchildren; i++)
	{
		verdict = eval_rule(step, &sf_rule_group(rule)->children[i], top, error);
		if (verdict == VERDICT_ERROR ||
			(verdict == VERDICT_YES) == (rule->kind == SF_CHOICE_OR))
			return verdict;
	}
	return rule->kind == SF_CHOICE_AND ? VERDICT_YES : VERDICT_NO;
}

/* Evaluate the Condition of a job; false with an error when that fails. */
bool
sf_choice_eval(SfStep *step, const SfChoiceRule *rule, bool *is_true, SfError *error)
{
	Verdict		verdict = eval_rule(step, rule, OF_JOB, error);

	*is_true = verdict == VERDICT_YES;
	return verdict != VERDICT_ERROR;
}

/* The name of a field of a rule, as errors have it. */
static const char *
rule_field(const SfStep *step, const SfChoiceRule *rule, const char *name)
{
	return psprintf("Choices[%d]/%s", (int) (rule - sf_state_choice(step->state)->rules),
					name);
}

/* The output of a Choice: the rule's own, else the state's. */
static bool
choice_output(SfStep *step, const SfChoiceRule *rule, Jsonb *input,
			  Jsonb **output, SfError *error)
{
	step->env.input = input;
	if (rule == NULL || rule->output == NULL)
		return sf_flow_output(step, input, output, error);
	return sf_template_eval(rule->output, &step->env,
							rule_field(step, rule, "Output"), output, error) &&
		sf_flow_check_size(step, *output, error);
}

/* Leave a Choice state through a rule, or through Default (rule NULL). */
static SfStepNext
leave_by_rule(SfStep *step, const SfChoiceRule *rule, Jsonb *input)
{
	const SfChoiceState *choice = sf_state_choice(step->state);
	const SfTemplate *assign = rule ? rule->assign : step->state->assign;
	Jsonb	   *output,
			   *assigned;
	SfError		error;

	if (!choice_output(step, rule, input, &output, &error))
		return sf_step_fail(step, &error);
	step->env.input = input;
	step->env.result = NULL;
	if (!sf_flow_assign(step, assign, rule == NULL ? "Assign" :
						rule_field(step, rule, "Assign"), &assigned, &error))
		return sf_step_fail(step, &error);
	if (step->loaded->inspection != NULL)
		step->loaded->inspection->next_name = rule ? rule->next_name : choice->default_name;
	step->transition->name = SF_TRANSITION_SUCCEEDED;
	return sf_step_exit(step, output, rule ? rule->next : choice->default_next,
						assigned);
}

/* Choice: find the first rule that is true. */
SfStepNext
sf_choice_enter(SfStep *step)
{
	const SfChoiceState *choice = sf_state_choice(step->state);
	Jsonb	   *input;
	SfError		error;

	if (!sf_flow_input(step, &error))
		return sf_step_fail(step, &error);
	input = step->env.input;
	for (int i = 0; i < choice->nrules; i++)
	{
		switch (eval_rule(step, &choice->rules[i], i, &error))
		{
			case VERDICT_YES:
				return leave_by_rule(step, &choice->rules[i], input);
			case VERDICT_NO:
				break;
			case VERDICT_ERROR:
				return sf_step_fail(step, &error);
		}
	}
	if (choice->default_name != NULL)
		return leave_by_rule(step, NULL, input);

	/* the service reports States.Runtime, not States.NoChoiceMatched */
	sf_error_set(&error, SF_ERR_RUNTIME,
				 "Failed to transition out of the state. The state does not point to a next state.");
	return sf_step_fail(step, &error);
}
