/*
 * template_condition.c
 *		Conditions of a template.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cloud/cloud.h"

static bool is_true(SfCloud *template, const SfTreeNode *node);

/* Compare the two arguments of Fn::Equals, which must be known. */
static bool
are_equal(SfCloud *template, const SfTreeNode *field)
{
	int			before = template->nunknown;
	char	   *left = sf_cloud_text(template, sf_cloud_argument(field, 0, 2, 2));
	char	   *right = sf_cloud_text(template, sf_cloud_argument(field, 1, 2, 2));

	if (template->nunknown > before)
		sf_cloud_fail(field,
					  "the condition depends on \"%s\", which has no value: give it one in the argument substitutions",
					  template->unknown);
	return strcmp(left, right) == 0;
}

/* Find out whether conditions hold: all of them, or one of them. */
static bool
are_true(SfCloud *template, const SfTreeNode *field, bool all)
{
	sf_cloud_argument(field, 0, 1, 10);
	SF_TREE_FOREACH(child, field)
	{
		if (is_true(template, child) != all)
			return !all;
	}
	return all;
}

/* Find out whether the condition that an object describes is true. */
static bool
is_true(SfCloud *template, const SfTreeNode *node)
{
	const SfTreeNode *field = node->first;

	check_stack_depth();
	if (node->kind != SF_TREE_OBJECT || node->nchildren != 1)
		sf_cloud_fail(node, "a condition is an object with one function");
	if (strcmp(field->key, "Fn::Equals") == 0)
		return are_equal(template, field);
	if (strcmp(field->key, "Fn::And") == 0 || strcmp(field->key, "Fn::Or") == 0)
		return are_true(template, field, strcmp(field->key, "Fn::And") == 0);
	if (strcmp(field->key, "Fn::Not") == 0)
		return !is_true(template, sf_cloud_argument(field, 0, 1, 1));
	if (strcmp(field->key, "Condition") == 0)
		return sf_cloud_is_true(template, sf_cloud_text(template, field), field);
	sf_cloud_fail(field, "%s is none of the functions of conditions that sf_import evaluates", field->key);
}

/* Find out whether a condition of the template is true. */
bool
sf_cloud_is_true(SfCloud *template, const char *condition, const SfTreeNode *at)
{
	const SfTreeNode *node = sf_tree_member(sf_tree_member(template->root, "Conditions"), condition);
	void	   *known;
	bool		result;

	if (node == NULL)
		sf_cloud_fail(at, "there is no condition \"%s\"", condition);
	if (sf_cloud_recall(template, "Condition", condition, at, &known))
		return known != NULL;
	result = is_true(template, node);
	sf_cloud_remember(template, "Condition", condition, result ? template : NULL);
	return result;
}
