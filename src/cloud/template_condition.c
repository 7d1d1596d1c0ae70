/*
 * template_condition.c
 *		Conditions of a template.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cloud/cloud.h"

static bool is_true(SfCloud *t, const SfTreeNode *node);

/* Compare the two arguments of Fn::Equals, which must be known. */
static bool
are_equal(SfCloud *t, const SfTreeNode *f)
{
	int			before = t->nunknown;
	char	   *left = sf_cloud_text(t, sf_cloud_argument(f, 0, 2, 2));
	char	   *right = sf_cloud_text(t, sf_cloud_argument(f, 1, 2, 2));

	if (t->nunknown > before)
		sf_cloud_fail(f, "the condition depends on \"%s\", which has no value: give it one in the argument substitutions",
					  t->unknown);
	return strcmp(left, right) == 0;
}

/* Find out whether conditions hold: all of them, or one of them. */
static bool
are_true(SfCloud *t, const SfTreeNode *f, bool all)
{
	sf_cloud_argument(f, 0, 1, 10);
	SF_TREE_FOREACH(child, f)
	{
		if (is_true(t, child) != all)
			return !all;
	}
	return all;
}

/* Find out whether the condition that an object describes holds. */
static bool
is_true(SfCloud *t, const SfTreeNode *node)
{
	const SfTreeNode *f = node->first;

	check_stack_depth();
	if (node->kind != SF_TREE_OBJECT || node->nchildren != 1)
		sf_cloud_fail(node, "a condition is an object with one function");
	if (strcmp(f->key, "Fn::Equals") == 0)
		return are_equal(t, f);
	if (strcmp(f->key, "Fn::And") == 0 || strcmp(f->key, "Fn::Or") == 0)
		return are_true(t, f, strcmp(f->key, "Fn::And") == 0);
	if (strcmp(f->key, "Fn::Not") == 0)
		return !is_true(t, sf_cloud_argument(f, 0, 1, 1));
	if (strcmp(f->key, "Condition") == 0)
		return sf_cloud_holds(t, sf_cloud_text(t, f), f);
	sf_cloud_fail(f, "%s is none of the functions of conditions that sf_import evaluates", f->key);
}

/* Find out whether a condition of the template holds. */
bool
sf_cloud_holds(SfCloud *t, const char *condition, const SfTreeNode *at)
{
	const SfTreeNode *node = sf_tree_member(sf_tree_member(t->root, "Conditions"), condition);
	void	   *known;
	bool		holds;

	if (node == NULL)
		sf_cloud_fail(at, "there is no condition \"%s\"", condition);
	if (sf_cloud_recall(t, "Condition", condition, at, &known))
		return known != NULL;
	holds = is_true(t, node);
	sf_cloud_remember(t, "Condition", condition, holds ? t : NULL);
	return holds;
}
