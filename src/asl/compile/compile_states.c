/*
 * compile_states.c
 *		Choice rules, Map states, Retry and Catch.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "asl/compile/compile.h"
#include "json/json.h"

/* Compile the operand of a comparison. */
static void
compile_operand(SfCompiler *compiler, const SfTreeNode *value, bool is_path,
				SfRuleComparison *rule)
{
	TimestampTz time;

	if (is_path)
	{
		rule->operand_path = sf_compile_expr(compiler, value, SF_EXPR_PATH);
		return;
	}
	/* the value's memory is the program's: the document is not freed */
	sf_json_root(sf_tree_to_jsonb(value, compiler->text), &rule->operand);
	if (sf_asl_operand_type(rule->comparison) == SF_OPERAND_TIMESTAMP &&
		!sf_timestamp_parse(value->string, strlen(value->string), &time))
		elog(ERROR, "timestamp \"%s\" does not parse", value->string);
}

/* Compile the rules inside And, Or or Not. */
static void
compile_children(SfCompiler *compiler, const SfTreeNode *value, SfChoiceRuleKind kind,
				 SfChoiceRule *rule)
{
	int			i = 0;

	rule->kind = kind;
	if (kind == SF_CHOICE_NOT)
	{
		rule->group.nchildren = 1;
		rule->group.children = palloc0(sizeof(SfChoiceRule));
		sf_compile_rule(compiler, value, &rule->group.children[0]);
		return;
	}
	rule->group.nchildren = value->nchildren;
	rule->group.children = palloc0(sizeof(SfChoiceRule) * rule->group.nchildren);
	SF_TREE_FOREACH(child, value)
		sf_compile_rule(compiler, child, &rule->group.children[i++]);
}

/* Compile what a rule tests. */
void
sf_compile_rule(SfCompiler *compiler, const SfTreeNode *node, SfChoiceRule *rule)
{
	SfComparison comparison;
	bool		is_path;

	check_stack_depth();
	rule->next = SF_NO_STATE;
	SF_TREE_FOREACH(member, node)
	{
		if (strcmp(member->key, "And") == 0)
			compile_children(compiler, member, SF_CHOICE_AND, rule);
		else if (strcmp(member->key, "Or") == 0)
			compile_children(compiler, member, SF_CHOICE_OR, rule);
		else if (strcmp(member->key, "Not") == 0)
			compile_children(compiler, member, SF_CHOICE_NOT, rule);
		else if (strcmp(member->key, "Condition") == 0)
		{
			rule->kind = SF_CHOICE_CONDITION;
			rule->condition.condition = sf_compile_template_value(compiler, member);
			rule->condition.text = sf_compile_expression_text(compiler, member);
		}
		else if (strcmp(member->key, "Variable") == 0)
			rule->compare.variable = sf_compile_expr(compiler, member, SF_EXPR_PATH);
		else if (sf_asl_find_comparison(member->key, &comparison, &is_path))
		{
			rule->kind = SF_CHOICE_COMPARE;
			rule->compare.comparison = comparison;
			compile_operand(compiler, member, is_path, &rule->compare);
		}
	}
}

/* Compile Choices. */
void
sf_compile_choice(SfCompiler *compiler, const SfTreeNode *node, SfState *state)
{
	const SfTreeNode *choices = sf_tree_member(node, "Choices");
	int			i = 0;

	state->choice.nrules = choices->nchildren;
	state->choice.rules = palloc0(sizeof(SfChoiceRule) * state->choice.nrules);
	SF_TREE_FOREACH(choice, choices)
	{
		SfChoiceRule *rule = &state->choice.rules[i++];

		sf_compile_rule(compiler, choice, rule);
		rule->next_name = sf_compile_string(compiler, choice, "Next");
		rule->next = sf_compile_target(compiler, rule->next_name);
		rule->assign = sf_compile_template(compiler, choice, "Assign");
		rule->output = sf_compile_template(compiler, choice, "Output");
	}
	state->choice.default_name = sf_compile_string(compiler, node, "Default");
	state->choice.default_next = sf_compile_target(compiler, state->choice.default_name);
}

/* --- fields that only Map states have --- */

/* Compile Resource of a reader or writer; NULL when it has none. */
static SfResource *
compile_resource(const SfTreeNode *object)
{
	const char *text = sf_tree_member_string(object, "Resource");
	SfResource *resource;

	if (text == NULL)
		return NULL;
	resource = palloc(sizeof(SfResource));
	sf_resource_parse(text, resource);
	return resource;
}

/* Compile ItemReader. */
static void
compile_reader(SfCompiler *compiler, const SfTreeNode *reader, SfDistributedMap *distributed)
{
	const SfTreeNode *config = sf_tree_member(reader, "ReaderConfig");

	if (reader == NULL)
		return;
	distributed->item_reader = compile_resource(reader);
	if (distributed->item_reader != NULL)
		sf_resource_reads(distributed->item_reader,
						  sf_tree_member_string(config, "InputType"),
						  sf_tree_member_string(config, "ManifestType"));
	distributed->item_reader_parameters =
		sf_compile_template(compiler, reader, compiler->language == SF_QL_JSONATA
							? "Arguments" : "Parameters");
	distributed->reader_config = sf_compile_jsonb(compiler, reader, "ReaderConfig");
	distributed->max_items = sf_compile_value(compiler, config, "MaxItems", SF_EXPR_PATH);
}

/* Compile ItemBatcher. */
static void
compile_batcher(SfCompiler *compiler, const SfTreeNode *batcher,
				SfDistributedMap *distributed)
{
	distributed->max_items_per_batch =
		sf_compile_value(compiler, batcher, "MaxItemsPerBatch", SF_EXPR_PATH);
	distributed->max_input_bytes_per_batch =
		sf_compile_value(compiler, batcher, "MaxInputBytesPerBatch", SF_EXPR_PATH);
	distributed->batch_input = sf_compile_template(compiler, batcher, "BatchInput");
}

/* Compile ResultWriter. */
static void
compile_writer(SfCompiler *compiler, const SfTreeNode *writer, SfDistributedMap *distributed)
{
	if (writer == NULL)
		return;
	distributed->result_writer = compile_resource(writer);
	distributed->result_writer_parameters =
		sf_compile_template(compiler, writer, compiler->language == SF_QL_JSONATA
							? "Arguments" : "Parameters");
	distributed->writer_config = sf_compile_jsonb(compiler, writer, "WriterConfig");
}

/* Compile what a Map state in mode DISTRIBUTED has besides. */
static SfDistributedMap *
compile_distributed(SfCompiler *compiler, const SfTreeNode *node)
{
	SfDistributedMap *distributed = palloc0(sizeof(SfDistributedMap));

	distributed->label = sf_compile_string(compiler, node, "Label");
	compile_reader(compiler, sf_tree_member(node, "ItemReader"), distributed);
	distributed->item_batcher = sf_compile_jsonb(compiler, node, "ItemBatcher");
	compile_batcher(compiler, sf_tree_member(node, "ItemBatcher"), distributed);
	compile_writer(compiler, sf_tree_member(node, "ResultWriter"), distributed);
	return distributed;
}

/* Compile the fields of a Map state, its processor excepted. */
void
sf_compile_map(SfCompiler *compiler, const SfTreeNode *node, SfState *state)
{
	SfMapState *map = &state->map;

	map->items_path = sf_compile_path(compiler, node, "ItemsPath", SF_EXPR_REFERENCE);
	map->items = sf_compile_template(compiler, node, "Items");
	map->items_text = sf_compile_expression_text(compiler, sf_tree_member(node, "Items"));
	map->item_selector = sf_compile_template(compiler, node, "ItemSelector");
	if (map->item_selector == NULL)
		map->item_selector = sf_compile_template(compiler, node, "Parameters");
	map->max_concurrency = sf_compile_value(compiler, node, "MaxConcurrency", SF_EXPR_PATH);
	map->tolerated_failure_count =
		sf_compile_value(compiler, node, "ToleratedFailureCount", SF_EXPR_PATH);
	map->tolerated_failure_percentage =
		sf_compile_value(compiler, node, "ToleratedFailurePercentage", SF_EXPR_PATH);
	if (sf_asl_is_distributed(node))
		map->distributed = compile_distributed(compiler, node);
}

/* --- retriers and catchers --- */

/* Copy ErrorEquals. */
static const char **
compile_error_names(const SfTreeNode *owner, int *count)
{
	const SfTreeNode *names = sf_tree_member(owner, "ErrorEquals");
	const char **result = palloc(sizeof(char *) * names->nchildren);
	int			i = 0;

	SF_TREE_FOREACH(name, names)
		result[i++] = pstrdup(name->string);
	*count = i;
	return result;
}

/* Compile Retry; the defaults are those of the specification. */
void
sf_compile_retry(SfCompiler *compiler, const SfTreeNode *node, SfState *state)
{
	const SfTreeNode *array = sf_tree_member(node, "Retry");

	if (array == NULL)
		return;
	state->retriers = palloc0(sizeof(SfRetrier) * Max(array->nchildren, 1));
	SF_TREE_FOREACH(element, array)
	{
		SfRetrier  *retrier = &state->retriers[state->nretriers++];
		const char *jitter = sf_tree_member_string(element, "JitterStrategy");

		retrier->errors = compile_error_names(element, &retrier->nerrors);
		retrier->interval_seconds =
			sf_compile_double(compiler, element, "IntervalSeconds", 1);
		retrier->max_attempts = sf_compile_double(compiler, element, "MaxAttempts", 3);
		retrier->backoff_rate = sf_compile_double(compiler, element, "BackoffRate", 2.0);
		retrier->max_delay_seconds =
			sf_compile_double(compiler, element, "MaxDelaySeconds", 0);
		retrier->jitter = jitter && strcmp(jitter, "FULL") == 0
			? SF_JITTER_FULL : SF_JITTER_NONE;
	}
}

/* Compile Catch. */
void
sf_compile_catch(SfCompiler *compiler, const SfTreeNode *node, SfState *state)
{
	const SfTreeNode *array = sf_tree_member(node, "Catch");

	if (array == NULL)
		return;
	state->catchers = palloc0(sizeof(SfCatcher) * Max(array->nchildren, 1));
	SF_TREE_FOREACH(element, array)
	{
		SfCatcher  *catcher = &state->catchers[state->ncatchers++];

		catcher->errors = compile_error_names(element, &catcher->nerrors);
		catcher->next_name = sf_compile_string(compiler, element, "Next");
		catcher->next = sf_compile_target(compiler, catcher->next_name);
		catcher->result_path = sf_compile_path(compiler, element, "ResultPath",
											   SF_EXPR_REFERENCE);
		catcher->output = sf_compile_template(compiler, element, "Output");
		catcher->assign = sf_compile_template(compiler, element, "Assign");
	}
}
