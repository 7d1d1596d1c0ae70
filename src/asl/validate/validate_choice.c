/*
 * validate_choice.c
 *		Checks of the rules of a Choice state.
 *
 * In JSONPath a rule is a comparison (Variable and one operator), or And, Or,
 * Not over rules without Next; in JSONata it is a Condition.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "asl/validate/validate.h"
#include "json/json.h"

typedef struct SfComparisonInfo
{
	const char *name;
	SfOperandType type;
	bool		has_path;
} SfComparisonInfo;

#define SF_COMPARISON_ROW(sym, name, type, cmp, has_path) \
	{name, SF_OPERAND_##type, has_path},
static const SfComparisonInfo comparisons[] = {
	SF_COMPARISON_LIST(SF_COMPARISON_ROW)
};

/*
 * Find a comparison by the name of its field; *is_path: it is the …Path form.
 */
bool
sf_asl_find_comparison(const char *name, SfComparison *comparison, bool *is_path)
{
	for (size_t i = 0; i < lengthof(comparisons); i++)
	{
		size_t		len = strlen(comparisons[i].name);

		if (strncmp(name, comparisons[i].name, len) != 0)
			continue;
		*is_path = comparisons[i].has_path && strcmp(name + len, "Path") == 0;
		if (*is_path || name[len] == '\0')
		{
			*comparison = (SfComparison) i;
			return true;
		}
	}
	return false;
}

/* Tell what the literal operand of a comparison has to be. */
SfOperandType
sf_asl_operand_type(SfComparison comparison)
{
	return comparisons[comparison].type;
}

/* Check the operand of a comparison: a literal of its type, or a path. */
void
sf_validate_operand(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	SfComparison comparison;
	bool		is_path;

	if (!sf_asl_find_comparison(value->key, &comparison, &is_path))
		return;
	if (is_path)
	{
		sf_validate_compared(validator, value, field);
		return;
	}
	switch (sf_asl_operand_type(comparison))
	{
		case SF_OPERAND_STRING:
			sf_validate_kind(validator, value, SF_TREE_STRING);
			break;
		case SF_OPERAND_NUMERIC:
			sf_validate_kind(validator, value, SF_TREE_NUMBER);
			break;
		case SF_OPERAND_BOOLEAN:
		case SF_OPERAND_ANY:
			sf_validate_kind(validator, value, SF_TREE_BOOLEAN);
			break;
		case SF_OPERAND_TIMESTAMP:
			sf_validate_timestamp(validator, value, field);
			break;
	}
}

/* The fields of which a rule has exactly one */
static const char *const selectors[] = {"And", "Or", "Not", "Variable", "Condition"};

/* Tell whether a field is one of those. */
static bool
is_selector(const char *name)
{
	for (size_t i = 0; i < lengthof(selectors); i++)
	{
		if (strcmp(name, selectors[i]) == 0)
			return true;
	}
	return false;
}

/* Print the names of all comparisons. */
static char *
print_comparisons(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (size_t i = 0; i < lengthof(comparisons); i++)
	{
		appendStringInfo(&buf, "%s%s", i > 0 ? ", " : "", comparisons[i].name);
		if (comparisons[i].has_path)
			appendStringInfo(&buf, ", %sPath", comparisons[i].name);
	}
	return buf.data;
}

/*
 * A rule says exactly one thing.  Which fields there may be at all and what their
 * values are is checked by the list of fields.
 */
void
sf_validate_rule(SfValidator *validator, const SfTreeNode *rule, const SfField *field)
{
	int			nselectors = 0;
	int			ncomparisons = 0;
	SfComparison comparison;
	bool		is_path;

	check_stack_depth();
	sf_validate_object(validator, rule, sf_validate_values[field->value].expected, 0);
	if (rule->kind != SF_TREE_OBJECT)
		return;

	SF_TREE_FOREACH(member, rule)
	{
		if (is_selector(member->key))
			nselectors++;
		else if (sf_asl_find_comparison(member->key, &comparison, &is_path))
			ncomparisons++;
	}
	if (nselectors != 1)
		sf_validate_error(validator, rule, SF_CODE_SCHEMA,
						  "The object must have only one of the following fields, [And, Or, Not, Variable, Condition]");
	else if (sf_tree_member(rule, "Variable") == NULL)
	{
		/* a comparison is of a Variable */
		if (ncomparisons > 0 && validator->language == SF_QL_JSONPATH)
			sf_validate_error(validator, rule, SF_CODE_SCHEMA,
							  "These fields are required: [Variable]");
	}
	else if (ncomparisons > 1)
		sf_validate_error(validator, rule, SF_CODE_SCHEMA,
						  "There should only be one of the following fields: [%s]",
						  print_comparisons());
	else if (ncomparisons == 0)
		sf_validate_error(validator, rule, SF_CODE_SCHEMA,
						  "This object should have only one of the following fields: [%s]",
						  print_comparisons());
}

/* Rules: at least one. */
void
sf_validate_rules(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (!sf_validate_kind(validator, value, SF_TREE_ARRAY))
		return;
	if (value->nchildren == 0)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Value cannot be empty");
	SF_TREE_FOREACH(rule, value)
		sf_validate_rule(validator, rule, field);
}
