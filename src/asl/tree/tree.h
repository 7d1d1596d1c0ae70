/*
 * tree.h
 *		The text of a definition as a tree with the order of members, duplicate
 *		members and the position of each value, which jsonb does not keep.
 */
#ifndef SF_ASL_TREE_H
#define SF_ASL_TREE_H

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

typedef enum SfNodeKind
{
	SF_NODE_OBJECT,
	SF_NODE_ARRAY,
	SF_NODE_STRING,
	SF_NODE_NUMBER,
	SF_NODE_BOOLEAN,
	SF_NODE_NULL
} SfNodeKind;

typedef struct SfNode
{
	SfNodeKind	kind;
	bool		boolean;		/* BOOLEAN */
	bool		duplicate;		/* an earlier member has the same name */
	int			index;			/* position among its siblings */
	int			number;			/* of a state or a scope; -1: none yet */
	int			scope;			/* of a job that is a state: the number of its scope */
	int			nchildren;		/* OBJECT, ARRAY */
	int			start;			/* byte offsets in the text: [start, end) */
	int			end;
	const char *key;			/* member name; NULL: element or root */
	const char *string;			/* STRING: without escapes; NUMBER: as written */
	struct SfNode *parent;
	struct SfNode *first;		/* OBJECT, ARRAY: children in document order */
	struct SfNode *last;
	struct SfNode *next;		/* next sibling */
} SfNode;

#define SF_NODE_FOREACH(child, node) \
	for (SfNode *child = (node)->first; child != NULL; child = child->next)

/* Why a text is no JSON document */
typedef struct SfParseError
{
	int			line;			/* from 1 */
	int			column;			/* from 1, in bytes */
	const char *message;
} SfParseError;

extern SfNode *sf_node_parse(const char *text, int len, SfParseError *error);
extern SfNode *sf_node_member(const SfNode *object, const char *key);
extern const char *sf_node_member_string(const SfNode *object, const char *key);
extern char *sf_node_location(const SfNode *node);
extern const SfNode *sf_node_locate(const SfNode *node, const char *location);
extern Jsonb *sf_node_to_jsonb(const SfNode *node, const char *text);
extern double sf_node_number(const SfNode *node);

/*
 * Members of an object sorted by name (then by position), for look-ups in
 * large objects.  count is nchildren.
 */
extern int	sf_node_compare(const void *a, const void *b);
extern SfNode **sf_node_sort_members(const SfNode *object);
extern SfNode *sf_node_search_members(SfNode **sorted, int count,
									  const char *key);

/* --- templates of CloudFormation and SAM that were given in place of a definition --- */

/* What a template says of its state machines */
typedef struct SfCloudTemplate
{
	char	   *message;		/* what the text is, and is not */
	char	   *detail;			/* where the definitions lie in it, and what to do */
} SfCloudTemplate;

extern bool sf_asl_is_cloud_template(const SfNode *root);
extern bool sf_asl_read_cloud_template(const SfNode *root, SfCloudTemplate *template);

#endif							/* SF_ASL_TREE_H */
