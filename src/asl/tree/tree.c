/*
 * tree.c
 *		Look-ups in the tree of a definition.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "asl/tree/tree.h"
#include "json/json.h"

/*
 * Find a member of an object; NULL when absent.  Of duplicates the last
 * counts, as in jsonb.
 */
SfTreeNode *
sf_tree_member(const SfTreeNode *object, const char *key)
{
	SfTreeNode *found = NULL;

	if (object == NULL || object->kind != SF_TREE_OBJECT)
		return NULL;
	SF_TREE_FOREACH(child, object)
	{
		if (strcmp(child->key, key) == 0)
			found = child;
	}
	return found;
}

/*
 * Find the value of a member that is a string; NULL when absent or no string.
 */
const char *
sf_tree_member_string(const SfTreeNode *object, const char *key)
{
	SfTreeNode *member = sf_tree_member(object, key);

	return member && member->kind == SF_TREE_STRING ? member->string : NULL;
}

/* Append the location of a node that is not the root. */
static void
append_location(StringInfo buf, const SfTreeNode *node)
{
	check_stack_depth();
	if (node->parent->parent != NULL)
		append_location(buf, node->parent);
	if (node->key != NULL)
		appendStringInfo(buf, "/%s", node->key);
	else
		appendStringInfo(buf, "[%d]", node->index);
}

/* Print where a node stands: "/States/C/Choices[0]/Next"; the root is "/". */
char *
sf_tree_location(const SfTreeNode *node)
{
	StringInfoData buf;

	initStringInfo(&buf);
	if (node->parent == NULL)
		appendStringInfoChar(&buf, '/');
	else
		append_location(&buf, node);
	return buf.data;
}

/* Find the element that "[index]…" names. */
static const SfTreeNode *
locate_element(const SfTreeNode *node, const char *location, const char **rest)
{
	char	   *end;
	long		index = strtol(location + 1, &end, 10);

	*rest = end + 1;
	SF_TREE_FOREACH(child, node)
	{
		if (child->index == index)
			return child;
	}
	return NULL;
}

/* Find the member that "/name…" names; names may hold slashes themselves. */
static const SfTreeNode *
locate_member(const SfTreeNode *node, const char *location, const char **rest)
{
	const SfTreeNode *best = NULL;
	size_t		best_len = 0;

	SF_TREE_FOREACH(child, node)
	{
		size_t		len = strlen(child->key);

		if (len >= best_len && strncmp(location + 1, child->key, len) == 0 &&
			strchr("/[", location[len + 1]) != NULL)
		{
			best = child;
			best_len = len;
		}
	}
	*rest = location + 1 + best_len;
	return best;
}

/* Follow a relative location ("/a/b[0]") as far as it leads. */
const SfTreeNode *
sf_tree_locate(const SfTreeNode *node, const char *location)
{
	while (location != NULL && *location != '\0')
	{
		const SfTreeNode *child = NULL;

		if (*location == '[' && node->kind == SF_TREE_ARRAY)
			child = locate_element(node, location, &location);
		else if (*location == '/' && node->kind == SF_TREE_OBJECT)
			child = locate_member(node, location, &location);
		if (child == NULL)
			break;
		node = child;
	}
	return node;
}

/* Convert a value to jsonb, in the current memory context. */
Jsonb *
sf_tree_to_jsonb(const SfTreeNode *node, const char *text)
{
	char	   *slice = pnstrdup(text + node->start, node->end - node->start);
	Jsonb	   *result = sf_json_from_cstring(slice);

	pfree(slice);
	return result;
}

/* Read the value of a NUMBER. */
double
sf_tree_number(const SfTreeNode *node)
{
	return strtod(node->string, NULL);
}

/* Compare members by name, then by position; for qsort(). */
int
sf_tree_compare(const void *a, const void *b)
{
	const SfTreeNode *left = *(SfTreeNode *const *) a;
	const SfTreeNode *right = *(SfTreeNode *const *) b;
	int			cmp = strcmp(left->key, right->key);

	return cmp != 0 ? cmp : left->start - right->start;
}

/* Sort the members of an object by name. */
SfTreeNode **
sf_tree_sort_members(const SfTreeNode *object)
{
	SfTreeNode **sorted = palloc(sizeof(SfTreeNode *) * Max(object->nchildren, 1));
	int			n = 0;

	SF_TREE_FOREACH(child, object)
		sorted[n++] = child;
	qsort(sorted, n, sizeof(SfTreeNode *), sf_tree_compare);
	return sorted;
}

/* Compare a name with that of a member. */
static int
compare_key(const void *key, const void *member)
{
	return strcmp(key, (*(SfTreeNode *const *) member)->key);
}

/* Find a member in what sf_tree_sort_members() returned. */
SfTreeNode *
sf_tree_search_members(SfTreeNode **sorted, int count, const char *key)
{
	SfTreeNode **found = bsearch(key, sorted, count, sizeof(SfTreeNode *), compare_key);

	return found != NULL ? *found : NULL;
}
