/*
 * job_name.c
 *		Names of jobs and branches as views show them.
 */
#include "postgres.h"

#include <ctype.h>

#include "miscadmin.h"

#include "report/report.h"

/* Find the nearest Map state around a scope, of either mode, or SF_NO_STATE. */
static int
nearest_map(const SfProgram *program, int scope)
{
	int			owner = program->scopes[scope].owner_state;

	while (owner != SF_NO_STATE && program->states[owner].type != SF_STATE_MAP)
		owner = program->scopes[program->states[owner].scope].owner_state;
	return owner;
}

/*
 * Find the nearest Map state in whose iterations a scope lies, or SF_NO_STATE.  A
 * Distributed Map does not count, and hides those around it: its items are
 * executions, not iterations.
 */
int
sf_job_enclosing_map(const SfProgram *program, int scope)
{
	int			map = nearest_map(program, scope);

	return map != SF_NO_STATE && sf_state_is_distributed(&program->states[map]) ? SF_NO_STATE : map;
}

/* Find the Distributed Map whose item executions run a scope, or SF_NO_STATE. */
int
sf_job_distributed_map(const SfProgram *program, int scope)
{
	int			map = nearest_map(program, scope);

	while (map != SF_NO_STATE && !sf_state_is_distributed(&program->states[map]))
		map = nearest_map(program, program->states[map].scope);
	return map;
}

/* Count the Map states around a scope. */
static int
map_depth(const SfProgram *program, int scope)
{
	int			depth = 0;
	int			map = sf_job_enclosing_map(program, scope);

	while (map != SF_NO_STATE)
	{
		depth++;
		map = sf_job_enclosing_map(program, program->states[map].scope);
	}
	return depth;
}

/* Append the names of the Map states below the outermost, up to map. */
static void
append_maps(StringInfo buf, const SfProgram *program, int map,
			const int *iterations, int depth)
{
	check_stack_depth();
	if (depth < 1)
		return;
	append_maps(buf, program,
				sf_job_enclosing_map(program, program->states[map].scope),
				iterations, depth - 1);
	appendStringInfo(buf, "%s[%d]/", program->states[map].name,
					 iterations[depth - 1]);
}

/*
 * Name a state within its iterations (map indexes, outermost first): "T",
 * "T[2]" in one Map, "InnerMap[1]/T[2]" in a Map within a Map.
 */
char *
sf_job_name(const SfProgram *program, int state,
			const int *iterations, int niterations)
{
	const SfState *s = &program->states[state];
	StringInfoData buf;

	niterations = Min(niterations, map_depth(program, s->scope));
	initStringInfo(&buf);
	append_maps(&buf, program, sf_job_enclosing_map(program, s->scope),
				iterations, niterations - 1);
	appendStringInfoString(&buf, s->name);
	if (niterations > 0)
		appendStringInfo(&buf, "[%d]", iterations[niterations - 1]);
	return buf.data;
}

/* Read a name and an index in brackets; NULL: the text does not begin with them. */
static const char *
skip_indexed(const char *text, const char *name, int *index)
{
	size_t		length = strlen(name);
	char	   *end;

	if (strncmp(text, name, length) != 0 || text[length] != '[' || !isdigit((unsigned char) text[length + 1]))
		return NULL;
	*index = strtol(text + length + 1, &end, 10);
	return *end == ']' ? end + 1 : NULL;
}

/* Read what append_maps appends; NULL: the text does not begin with it. */
static const char *
skip_maps(const char *text, const SfProgram *program, int map, int *iterations, int depth)
{
	check_stack_depth();
	if (depth < 1)
		return text;
	text = skip_maps(text, program,
					 sf_job_enclosing_map(program, program->states[map].scope),
					 iterations, depth - 1);
	if (text != NULL)
		text = skip_indexed(text, program->states[map].name, &iterations[depth - 1]);
	return text != NULL && *text == '/' ? text + 1 : NULL;
}

/* Read the iterations from a name that sf_job_name has made; NULL: it is not one of this state. */
int *
sf_job_iterations(const SfProgram *program, int state, const char *name, int *niterations)
{
	const SfState *s = &program->states[state];
	int			depth = map_depth(program, s->scope);
	int		   *iterations = palloc0(sizeof(int) * Max(depth, 1));

	*niterations = depth;
	if (depth == 0)
		return strcmp(name, s->name) == 0 ? iterations : NULL;
	name = skip_maps(name, program, sf_job_enclosing_map(program, s->scope), iterations, depth - 1);
	if (name != NULL)
		name = skip_indexed(name, s->name, &iterations[depth - 1]);
	return name != NULL && *name == '\0' ? iterations : NULL;
}

/* Append the states around a scope; left is how many iterations it lies in. */
static void
append_scopes(StringInfo buf, const SfProgram *program, int scope,
			  const int *iterations, int left)
{
	const SfScope *s = &program->scopes[scope];
	const SfState *owner;
	int			index = s->branch_index;

	check_stack_depth();
	if (s->owner_state == SF_NO_STATE)
		return;
	owner = &program->states[s->owner_state];
	if (sf_state_is_distributed(owner))
		return;					/* the root of an execution of its own */
	if (owner->type == SF_STATE_MAP)
		index = left > 0 ? iterations[--left] : SF_NO_MAP_INDEX;
	append_scopes(buf, program, owner->scope, iterations, left);
	if (buf->len > 0)
		appendStringInfoChar(buf, '/');
	if (owner->type == SF_STATE_JOBNET)
		appendStringInfo(buf, "%s[%s]", owner->name, sf_state_net(owner)->jobs[index].name);
	else
		appendStringInfo(buf, "%s[%d]", owner->name, index);
}

/*
 * Name a branch: "" for the root, else the states around it with the index of
 * each branch or iteration, and the name of each job: "Parallel[0]/Map[7]", "Net[job]".
 */
char *
sf_job_branch_name(const SfProgram *program, int scope,
				   const int *iterations, int niterations)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_scopes(&buf, program, scope, iterations, niterations);
	return buf.data;
}
