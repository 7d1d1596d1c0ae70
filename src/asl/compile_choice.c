/*
 * compile_choice.c
 *		Rules of a Choice state.
 */
#include "postgres.h"

#include "asl/compile.h"
#include "json/json.h"
#include "miscadmin.h"

/* Compile the operand of a comparison. */
static void
compile_operand(SfCompiler *c, const SfNode *value, bool is_path,
				SfChoiceRule *rule)
{
	if (is_path)
	{
		rule->operand_path = sf_compile_expr(c, value, SF_EXPR_PATH);
		return;
	}
	/* the value's memory is the program's: the document is not freed */
	sf_json_root(sf_node_to_jsonb(value, c->text), &rule->operand);
	if (sf_asl_operand_type(rule->comparison) == SF_OPERAND_TIMESTAMP &&
		!sf_timestamp_parse(value->string, strlen(value->string),
							&rule->operand_time))
		elog(ERROR, "timestamp \"%s\" does not parse", value->string);
}

/* Compile the rules inside And, Or or Not. */
static void
compile_children(SfCompiler *c, const SfNode *value, SfRuleKind kind,
				 SfChoiceRule *rule)
{
	SfNode	   *child;
	int			i = 0;

	rule->kind = kind;
	if (kind == SF_RULE_NOT)
	{
		rule->nchildren = 1;
		rule->children = palloc0(sizeof(SfChoiceRule));
		sf_compile_rule(c, value, &rule->children[0]);
		return;
	}
	rule->nchildren = value->nchildren;
	rule->children = palloc0(sizeof(SfChoiceRule) * rule->nchildren);
	SF_NODE_FOREACH(child, value)
		sf_compile_rule(c, child, &rule->children[i++]);
}

/* Compile what a rule tests. */
void
sf_compile_rule(SfCompiler *c, const SfNode *node, SfChoiceRule *rule)
{
	SfNode	   *member;
	bool		is_path;

	check_stack_depth();
	rule->next = -1;
	SF_NODE_FOREACH(member, node)
	{
		if (strcmp(member->key, "And") == 0)
			compile_children(c, member, SF_RULE_AND, rule);
		else if (strcmp(member->key, "Or") == 0)
			compile_children(c, member, SF_RULE_OR, rule);
		else if (strcmp(member->key, "Not") == 0)
			compile_children(c, member, SF_RULE_NOT, rule);
		else if (strcmp(member->key, "Condition") == 0)
		{
			rule->kind = SF_RULE_CONDITION;
			rule->condition = sf_compile_template_value(c, member);
			rule->condition_text = sf_compile_expression_text(c, member);
		}
		else if (strcmp(member->key, "Variable") == 0)
			rule->variable = sf_compile_expr(c, member, SF_EXPR_PATH);
		else if (sf_asl_find_comparison(member->key, &rule->comparison, &is_path))
		{
			rule->kind = SF_RULE_COMPARE;
			compile_operand(c, member, is_path, rule);
		}
	}
}

/* Compile Choices. */
void
sf_compile_choice(SfCompiler *c, const SfNode *node, SfState *state)
{
	const SfNode *choices = sf_node_member(node, "Choices");
	SfNode	   *choice;
	int			i = 0;

	state->choice.nrules = choices->nchildren;
	state->choice.rules = palloc0(sizeof(SfChoiceRule) * state->choice.nrules);
	SF_NODE_FOREACH(choice, choices)
	{
		SfChoiceRule *rule = &state->choice.rules[i++];

		sf_compile_rule(c, choice, rule);
		rule->next_name = sf_compile_string(c, choice, "Next");
		rule->next = sf_compile_target(c, rule->next_name);
		rule->assign = sf_compile_template(c, choice, "Assign");
		rule->output = sf_compile_template(c, choice, "Output");
	}
	state->choice.default_name = sf_compile_string(c, node, "Default");
	state->choice.default_next = sf_compile_target(c, state->choice.default_name);
}
