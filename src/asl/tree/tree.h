/*
 * tree.h
 *		The text of a definition as a tree with the order of members, duplicate
 *		members and the position of each value, which jsonb does not keep.
 */
#ifndef SF_ASL_TREE_H
#define SF_ASL_TREE_H

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

typedef enum SfTreeNodeKind
{
	SF_TREE_OBJECT,
	SF_TREE_ARRAY,
	SF_TREE_STRING,
	SF_TREE_NUMBER,
	SF_TREE_BOOLEAN,
	SF_TREE_NULL
} SfTreeNodeKind;

/* Where the number of a node may stand: it has none yet, or never gets one */
#define SF_TREE_NO_NUMBER	(-1)

typedef struct SfTreeNode
{
	SfTreeNodeKind kind;
	bool		boolean;		/* BOOLEAN */
	bool		is_duplicate;	/* an earlier member has the same name */
	int			index;			/* position among its siblings */
	int			number;			/* of a state or a scope, or SF_TREE_NO_NUMBER */
	int			scope;			/* of a job that is a state: the number of its scope */
	int			nchildren;		/* OBJECT, ARRAY */
	int			start;			/* byte offsets in the text: [start, end) */
	int			end;
	const char *key;			/* member name; NULL: element or root */
	const char *string;			/* STRING: without escapes; NUMBER: as written */
	struct SfTreeNode *parent;
	struct SfTreeNode *first;	/* OBJECT, ARRAY: children in document order */
	struct SfTreeNode *last;
	struct SfTreeNode *next;	/* next sibling */
} SfTreeNode;

#define SF_TREE_FOREACH(child, node) \
	for (SfTreeNode *child = (node)->first; child != NULL; child = child->next)

/* Why a text is no JSON document */
typedef struct SfParseError
{
	int			line;			/* from 1 */
	int			column;			/* from 1, in bytes */
	const char *message;
} SfParseError;

extern SfTreeNode *sf_tree_parse(const char *text, int len, SfParseError *error);
extern SfTreeNode *sf_tree_member(const SfTreeNode *object, const char *key);
extern const char *sf_tree_member_string(const SfTreeNode *object, const char *key);
extern char *sf_tree_location(const SfTreeNode *node);
extern const SfTreeNode *sf_tree_locate(const SfTreeNode *node, const char *location);
extern Jsonb *sf_tree_to_jsonb(const SfTreeNode *node, const char *text);
extern double sf_tree_number(const SfTreeNode *node);

/*
 * Members of an object sorted by name (then by position), for look-ups in
 * large objects.  count is nchildren.
 */
extern int	sf_tree_compare(const void *a, const void *b);
extern SfTreeNode **sf_tree_sort_members(const SfTreeNode *object);
extern SfTreeNode *sf_tree_search_members(SfTreeNode **sorted, int count,
										  const char *key);

/* --- templates of CloudFormation and SAM that were given in place of a definition --- */

/* What a template says of its state machines */
typedef struct SfCloudTemplateAdvice
{
	char	   *message;		/* what the text is, and is not */
	char	   *detail;			/* where the definitions lie in it, and what to do */
} SfCloudTemplateAdvice;

extern bool sf_asl_is_cloud_template(const SfTreeNode *root);
extern bool sf_asl_read_cloud_template(const SfTreeNode *root, SfCloudTemplateAdvice *template);

#endif							/* SF_ASL_TREE_H */
