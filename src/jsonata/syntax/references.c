/*
 * references.c
 *		Find the references of an expression to its input and to $states.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/pg_list.h"

#include "jsonata/jsonata.h"
#include "jsonata/jsonata_program.h"

/* Fields of $states: name, flag */
static const struct
{
	const char *name;
	int			flag;
}			fields[] =
{
	{"input", SF_JN_STATES_INPUT},
	{"result", SF_JN_STATES_RESULT},
	{"errorOutput", SF_JN_STATES_ERROR_OUTPUT},
	{"context", SF_JN_STATES_CONTEXT},
	{"jobs", SF_JN_STATES_JOBS},
};

/* Compare a name with a text. */
static bool
is_name(const SfJnName *name, const char *text)
{
	return name->str != NULL && name->len == strlen(text) &&
		memcmp(name->str, text, name->len) == 0;
}

/* Is a step of a path a name, and can no later step get back to what is before it? */
static bool
is_plain_name(const SfJnNode *path, int i)
{
	const SfJnNode *step = i < path->items.n ? path->items.at[i] : NULL;

	return step != NULL && step->type == SF_JN_NODE_NAME && step->stages.n == 0 &&
		step->predicates.n == 0 && step->group == NULL && step->focus.str == NULL &&
		step->ancestor == NULL;
}

/* Tell what a path that begins with $states.context looks at. */
static int
path_context_use(const SfJnNode *path)
{
	const SfJnName *first,
			   *second;

	if (!is_plain_name(path, 1) || !is_plain_name(path, 2))
		return SF_CONTEXT_ALL;
	first = &path->items.at[2]->name;
	if (!is_plain_name(path, 3))
		return sf_env_context_use(first->str, first->len, NULL, 0);
	second = &path->items.at[3]->name;
	return sf_env_context_use(first->str, first->len, second->str, second->len);
}

/*
 * Return the flag of the field of $states that a path reads; all flags when that is
 * known only at run time, 0 when the path begins elsewhere.
 */
static int
path_field(const SfJnNode *path)
{
	const SfJnNode *first = path->items.at[0];

	if (first->type != SF_JN_NODE_VARIABLE || !is_name(&first->name, "states"))
		return 0;
	if (path->items.n < 2 || path->items.at[1]->type != SF_JN_NODE_NAME ||
		first->stages.n > 0 || first->predicates.n > 0)
		return SF_JN_STATES_ALL;
	for (size_t i = 0; i < lengthof(fields); i++)
	{
		if (!is_name(&path->items.at[1]->name, fields[i].name))
			continue;
		return fields[i].flag != SF_JN_STATES_CONTEXT ? fields[i].flag :
			path_context_use(path) << SF_JN_STATES_CONTEXT_SHIFT;
	}
	return 0;
}

/* Tell what an expression looks at of $states.context, of which $states.jobs is a part. */
int
sf_jsonata_context_use(const SfJsonata *expr)
{
	return (expr->states_used >> SF_JN_STATES_CONTEXT_SHIFT) & SF_CONTEXT_ALL;
}

typedef struct Walk
{
	int			used;			/* fields of $states */
	bool		in_catcher;
	SfJsonataReport report;
	void	   *report_arg;
	List	   *reported;		/* messages */
} Walk;

/* Report a message, once. */
static void
report_once(Walk *walker, char *message)
{
	ListCell   *lc;

	foreach(lc, walker->reported)
	{
		if (strcmp(lfirst(lc), message) == 0)
			return;
	}
	walker->reported = lappend(walker->reported, message);
	walker->report(walker->report_arg, message);
}

static void walk(Walk *walker, const SfJnNode *node, bool top);

/* Walk every node of a list. */
static void
walk_list(Walk *walker, const SfJnNodeList *list, bool top)
{
	for (int i = 0; i < list->n; i++)
		walk(walker, list->at[i], top);
}

/* Walk the predicates, which see the items as their input. */
static void
walk_stages(Walk *walker, const SfJnStages *stages)
{
	for (int i = 0; i < stages->n; i++)
	{
		if (stages->at[i].expr != NULL)
			walk(walker, stages->at[i].expr, false);
	}
}

/* Look at the reference to $states with which a path begins. */
static void
check_states(Walk *walker, const SfJnNode *path)
{
	const SfJnNode *first = path->items.at[0];
	const SfJnNode *second = path->items.n > 1 ? path->items.at[1] : NULL;
	int			flag = path_field(path);

	walker->used |= flag;
	if (walker->report == NULL || first->type != SF_JN_NODE_VARIABLE ||
		!is_name(&first->name, "states") || second == NULL ||
		second->type != SF_JN_NODE_NAME)
		return;
	if (flag == 0 || (flag == SF_JN_STATES_ERROR_OUTPUT && !walker->in_catcher))
		report_once(walker, psprintf("Field '$states.%.*s' does not exist.",
									 (int) second->name.len, second->name.str));
}

/*
 * Walk a node; top: its input is that of the whole expression, which in a
 * state machine is nothing.
 */
static void
walk(Walk *walker, const SfJnNode *node, bool top)
{
	if (node == NULL)
		return;
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (node->type)
	{
		case SF_JN_NODE_PATH:
			check_states(walker, node);
			for (int i = 0; i < node->items.n; i++)
			{
				const SfJnNode *step = node->items.at[i];

				/* check_states() has seen to a $states that begins a path. */
				if (i == 0 && step->type == SF_JN_NODE_VARIABLE &&
					is_name(&step->name, "states"))
				{
					walk_stages(walker, &step->stages);
					walk_stages(walker, &step->predicates);
				}
				else
					walk(walker, step, top && i == 0);
			}
			break;
		case SF_JN_NODE_NAME:
			if (top && walker->report != NULL)
				report_once(walker, psprintf("Reference to '%.*s' at the top level is not supported.",
											 (int) node->name.len, node->name.str));
			break;
		case SF_JN_NODE_VARIABLE:
			if (is_name(&node->name, "states"))
				walker->used |= SF_JN_STATES_ALL;
			if (walker->report != NULL && is_name(&node->name, "$"))
				report_once(walker, pstrdup("Reference to '$$' is not supported."));
			break;
		case SF_JN_NODE_SORT:
			walk_list(walker, &node->items, false);
			break;
		case SF_JN_NODE_LAMBDA:
			walk(walker, node->rhs, top);
			break;
		case SF_JN_NODE_TRANSFORM:
			walk(walker, node->lhs, false);
			walk(walker, node->rhs, false);
			walk(walker, node->third, false);
			break;
		default:
			walk(walker, node->lhs, top);
			walk_list(walker, &node->items, top);
			if (node->type != SF_JN_NODE_CONDITION || !SF_JN_TESTS_VALUE(node))
				walk(walker, node->rhs, top);
			walk(walker, node->third, top);
			break;
	}
	walk_stages(walker, &node->stages);
	walk_stages(walker, &node->predicates);
	if (node->group != NULL)
		walk_list(walker, &node->group->pairs, false);
}

/* Tell which fields of $states an expression looks at. */
int
sf_jn_states_used(const SfJnNode *root)
{
	Walk		walker = {0};

	walk(&walker, root, true);
	return walker.used;
}

/*
 * Report references to the input ("phone", $$), which state machines do not
 * have, and to fields of $states that do not exist in this scope.  Each is
 * reported once, in the order of the text.  in_catcher: $states.errorOutput is in
 * scope.
 */
void
sf_jsonata_check(const SfJsonata *expr, bool in_catcher, SfJsonataReport report,
				 void *arg)
{
	Walk		walker = {0};

	walker.in_catcher = in_catcher;
	walker.report = report;
	walker.report_arg = arg;
	walk(&walker, expr->root, true);
}
