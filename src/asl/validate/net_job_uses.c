/*
 * net_job_uses.c
 *		Which jobs the states of a job look at: $$.Jobs.load.Output, or in JSONata
 *		$states.jobs.load.Output and $states.context.Jobs.load.Output.
 *
 * Expressions are read as texts here: what is not surely one job's name counts as any.
 * A net inside a job has jobs of its own.  The executions of a Distributed Map are
 * executions, and know of no jobs.
 */
#include "postgres.h"

#include <ctype.h>

#include "miscadmin.h"

#include "asl/validate/validate.h"

/* A text that is read, and what is told of it */
typedef struct Text
{
	const SfTreeNode *at;
	bool		jsonata;
	SfNetJobUse use;
	void	   *arg;
} Text;

/* Does an unquoted name go on with a character? */
static bool
is_of_name(const Text *text, char c)
{
	return IS_HIGHBIT_SET(c) || isalnum((unsigned char) c) || c == '_' ||
		(c == '-' && !text->jsonata);
}

/* Read a name at an offset of a text; *name is NULL when it is none, or has escapes. */
static const char *
read_name(const Text *text, const char *from, char **name)
{
	const char *end = from;
	char		quote = *from == '`' || *from == '"' || *from == '\'' ? *from : '\0';

	*name = NULL;
	if (quote != '\0')
	{
		end = strchr(from + 1, quote);
		if (end == NULL || memchr(from, '\\', end - from) != NULL)
			return from;
		*name = pnstrdup(from + 1, end - from - 1);
		return end + 1;
	}
	while (is_of_name(text, *end))
		end++;
	if (end > from)
		*name = pnstrdup(from, end - from);
	return end;
}

/* Read one step of a path, ".name" or "['name']"; *name is NULL when it is none. */
static const char *
read_step(const Text *text, const char *from, char **name)
{
	const char *end = from;

	*name = NULL;
	while (isspace((unsigned char) *end))
		end++;
	if (*end == '.')
	{
		end++;
		while (isspace((unsigned char) *end))
			end++;
		return read_name(text, end, name);
	}
	if (*end != '[' || (end[1] != '\'' && end[1] != '"'))
		return from;
	end = read_name(text, end + 1, name);
	if (*end == ']')
		return end + 1;
	*name = NULL;				/* several names, for example */
	return from;
}

/* Tell what a text looks at after a reference to the context object, or to $states. */
static void
visit_reference(const Text *text, const char *from)
{
	bool		is_context = !text->jsonata;
	char	   *name;

	from = read_step(text, from, &name);
	if (!is_context && name != NULL && strcmp(name, "context") == 0)
	{
		is_context = true;
		from = read_step(text, from, &name);
	}
	if (name == NULL)
		/* all of it, or a part that is known at run time only */
		text->use(text->arg, text->at, false, NULL);
	else if (strcmp(name, is_context ? "Jobs" : "jobs") == 0)
	{
		(void) read_step(text, from, &name);
		text->use(text->arg, text->at, true, name);
	}
}

/* Call back for each reference in a text, if it is a path, an intrinsic function or JSONata. */
static void
visit_text(const SfTreeNode *at, SfNetJobUse use, void *arg)
{
	Text		text = {.at = at,.jsonata = strncmp(at->string, "{%", 2) == 0,.use = use,.arg = arg};
	const char *root = text.jsonata ? "$states" : "$$";

	if (!text.jsonata && at->string[0] != '$' && strncmp(at->string, "States.", 7) != 0)
		return;
	for (const char *from = at->string; (from = strstr(from, root)) != NULL;)
	{
		from += strlen(root);
		visit_reference(&text, from);
	}
}

/* What knows of jobs in another way than the state that it is a field of */
typedef enum Within
{
	SAME,
	JOBS,						/* of a JobNet: they know of each other */
	CHILDREN					/* of a Distributed Map: executions, which know of none */
} Within;

/* Which fields of an object know of other jobs; looked up for the first that may be one */
typedef struct JobFields
{
	bool		known;
	bool		has_jobs;
	bool		has_children;
} JobFields;

/* Find out which fields of an object know of other jobs. */
static void
find_job_fields(const SfTreeNode *object, JobFields *fields)
{
	const char *type = sf_tree_member_string(object, "Type");

	fields->known = true;
	fields->has_jobs = type != NULL && strcmp(type, "JobNet") == 0;
	fields->has_children = type != NULL && strcmp(type, "Map") == 0 && sf_asl_is_distributed(object);
}

/* Tell whether a field of an object has states that know of other jobs. */
static Within
look_within(const SfTreeNode *object, const SfTreeNode *field, JobFields *fields)
{
	bool		is_jobs;

	if (field->kind != SF_TREE_OBJECT || field->key == NULL)
		return SAME;
	is_jobs = strcmp(field->key, "Jobs") == 0;
	if (!is_jobs && strcmp(field->key, "ItemProcessor") != 0 && strcmp(field->key, "Iterator") != 0)
		return SAME;
	if (!fields->known)
		find_job_fields(object, fields);
	if (is_jobs)
		return fields->has_jobs ? JOBS : SAME;
	return fields->has_children ? CHILDREN : SAME;
}

/* Call back for each reference in the texts of a job, but for those of the jobs inside it. */
void
sf_asl_net_job_uses(const SfTreeNode *node, SfNetJobUse use, void *arg)
{
	JobFields	fields = {.known = false};

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node->kind == SF_TREE_STRING)
		visit_text(node, use, arg);
	SF_TREE_FOREACH(child, node)
		if (look_within(node, child, &fields) == SAME)
			sf_asl_net_job_uses(child, use, arg);
}

/* Call back for each reference in texts that no job has; in_job: the node is a job's. */
void
sf_asl_net_job_uses_outside(const SfTreeNode *node, bool in_job, SfNetJobUse use, void *arg)
{
	JobFields	fields = {.known = false};

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node->kind == SF_TREE_STRING && !in_job)
		visit_text(node, use, arg);
	SF_TREE_FOREACH(child, node)
	{
		Within		within = look_within(node, child, &fields);

		sf_asl_net_job_uses_outside(child, within == SAME ? in_job : within == JOBS, use, arg);
	}
}
