/*
 * compile.c
 *		Compile a checked tree into a program.
 *
 * First every state and scope gets its number, in document order and depth
 * first, so that the arrays have their size before anything points into them.
 * Then each state is compiled; names of next states are looked up among the
 * states of the same scope.
 *
 * Whatever the validator accepts compiles: a failure here is a bug.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "asl/compile/compile.h"

static void number_scope(SfCompiler *compiler, SfTreeNode *scope);
static void number_job(SfCompiler *compiler, SfTreeNode *job);

/* The processor of a Map state, under its new or its old name. */
static SfTreeNode *
map_processor(const SfTreeNode *state)
{
	SfTreeNode *processor = sf_tree_member(state, "ItemProcessor");

	return processor ? processor : sf_tree_member(state, "Iterator");
}

/* Number a state and what it holds. */
static void
number_state(SfCompiler *compiler, SfTreeNode *state)
{
	const char *type = sf_tree_member_string(state, "Type");

	state->number = compiler->program->nstates++;
	if (strcmp(type, "Parallel") == 0)
	{
		SF_TREE_FOREACH(branch, sf_tree_member(state, "Branches"))
			number_scope(compiler, branch);
	}
	else if (strcmp(type, "Map") == 0)
		number_scope(compiler, map_processor(state));
	else if (strcmp(type, "JobNet") == 0)
	{
		SF_TREE_FOREACH(branch, sf_tree_member(state, "Jobs"))
			number_job(compiler, branch);
	}
}

/* Number a job: its scope, and the state or states in it. */
static void
number_job(SfCompiler *compiler, SfTreeNode *job)
{
	job->scope = compiler->program->nscopes;
	if (sf_asl_is_flow(job))
		number_scope(compiler, job);
	else
	{
		compiler->program->nscopes++;
		number_state(compiler, job);
	}
}

/* Number a scope and its states. */
static void
number_scope(SfCompiler *compiler, SfTreeNode *scope)
{
	check_stack_depth();
	scope->number = compiler->program->nscopes++;
	SF_TREE_FOREACH(state, sf_tree_member(scope, "States"))
		number_state(compiler, state);
}

static void compile_scope(SfCompiler *compiler, const SfTreeNode *scope, int owner,
						  int branch_index);

static void compile_state(SfCompiler *compiler, const SfTreeNode *node, int scope);

/* Find the last state of a scope: numbers go depth first. */
static int
last_state(const SfProgram *program, int last)
{
	const SfState *state = &program->states[last];

	for (int i = 0; i < state->nscopes; i++)
		last = Max(last, program->scopes[state->scopes[i]].last);
	return last;
}

/* Compile the scope of a job that is a state. */
static void
compile_lone_scope(SfCompiler *compiler, const SfTreeNode *job, int owner, int branch_index)
{
	SfScope    *scope = &compiler->program->scopes[job->scope];
	SfNameTable saved = compiler->names;

	memset(&compiler->names, 0, sizeof(compiler->names));
	scope->number = job->scope;
	scope->owner_state = owner;
	scope->branch_index = branch_index;
	scope->start = scope->first = job->number;
	compile_state(compiler, job, job->scope);
	compiler->program->states[job->number].end = true;
	scope->last = last_state(compiler->program, job->number);
	compiler->names = saved;
}

/* Compile the scopes of the jobs of a JobNet. */
static void
compile_jobs(SfCompiler *compiler, const SfTreeNode *node, SfState *state)
{
	SfTreeNode **jobs = sf_compile_order_net_jobs(sf_tree_member(node, "Jobs"));

	state->nscopes = state->net.njobs;
	state->scopes = palloc(sizeof(int) * state->nscopes);
	for (int i = 0; i < state->nscopes; i++)
	{
		state->scopes[i] = jobs[i]->scope;
		if (sf_asl_is_flow(jobs[i]))
			compile_scope(compiler, jobs[i], state->number, i);
		else
			compile_lone_scope(compiler, jobs[i], state->number, i);
		compiler->program->scopes[state->scope].context_use |=
			compiler->program->scopes[jobs[i]->scope].context_use | state->net.jobs[i].context_use;
	}
	pfree(jobs);
}

/* Compile the scopes that a state holds. */
static void
compile_inner_scopes(SfCompiler *compiler, const SfTreeNode *node, SfState *state)
{
	SfTreeNode *branches = sf_tree_member(node, "Branches");
	int			i = 0;

	if (state->type == SF_STATE_JOBNET)
	{
		compile_jobs(compiler, node, state);
		return;
	}
	if (state->type == SF_STATE_MAP)
	{
		SfTreeNode *processor = map_processor(node);

		state->nscopes = 1;
		state->scopes = palloc(sizeof(int));
		state->scopes[0] = processor->number;
		compile_scope(compiler, processor, state->number, 0);
		return;
	}
	state->nscopes = branches->nchildren;
	state->scopes = palloc(sizeof(int) * state->nscopes);
	SF_TREE_FOREACH(branch, branches)
	{
		state->scopes[i] = branch->number;
		compile_scope(compiler, branch, state->number, i++);
		compiler->program->scopes[state->scope].context_use |=
			compiler->program->scopes[branch->number].context_use;
	}
}

/* Compile Seconds or Timestamp of a Wait state. */
static void
compile_wait(SfCompiler *compiler, const SfTreeNode *node, SfWaitState *wait)
{
	SfValueField seconds = sf_compile_value(compiler, node, "Seconds", SF_EXPR_PATH);

	wait->kind = seconds.kind == SF_FIELD_ABSENT ? SF_WAIT_TIMESTAMP : SF_WAIT_SECONDS;
	if (wait->kind == SF_WAIT_TIMESTAMP)
		wait->timestamp = sf_compile_value(compiler, node, "Timestamp", SF_EXPR_ANY);
	else
		wait->seconds = seconds;
}

/* Compile what only some state types have. */
static void
compile_by_type(SfCompiler *compiler, const SfTreeNode *node, SfState *state)
{
	switch (state->type)
	{
		case SF_STATE_PASS:
			state->pass.result = sf_compile_jsonb(compiler, node, "Result");
			break;
		case SF_STATE_TASK:
			sf_resource_parse(sf_tree_member_string(node, "Resource"),
							  &state->task.resource);
			state->task.credentials = sf_compile_template(compiler, node, "Credentials");
			state->task.timeout = sf_compile_value(compiler, node, "TimeoutSeconds", SF_EXPR_PATH);
			state->task.heartbeat = sf_compile_value(compiler, node, "HeartbeatSeconds", SF_EXPR_PATH);
			if (sf_tree_member(node, "MaxConcurrency") != NULL)
				state->task.max_concurrency = (int) sf_tree_number(sf_tree_member(node, "MaxConcurrency"));
			state->task.concurrency_key = sf_compile_string(compiler, node, "ConcurrencyKey");
			break;
		case SF_STATE_CHOICE:
			sf_compile_choice(compiler, node, state);
			break;
		case SF_STATE_WAIT:
			compile_wait(compiler, node, &state->wait);
			break;
		case SF_STATE_FAIL:
			state->fail.error = sf_compile_value(compiler, node, "Error", SF_EXPR_ANY);
			state->fail.cause = sf_compile_value(compiler, node, "Cause", SF_EXPR_ANY);
			break;
		case SF_STATE_MAP:
			sf_compile_map(compiler, node, state);
			break;
		case SF_STATE_JOBNET:
			sf_compile_net(compiler, node, state);
			break;
		case SF_STATE_PARALLEL:
		case SF_STATE_SUCCEED:
			break;
	}
}

/* Compile what all state types have in common, as far as a type has it. */
static void
compile_data_flow(SfCompiler *compiler, const SfTreeNode *node, SfState *state)
{
	bool		jsonata = compiler->language == SF_QL_JSONATA;

	compiler->context_use = 0;
	state->output_path = sf_compile_path(compiler, node, "OutputPath", SF_EXPR_PATH);
	state->result_path = sf_compile_path(compiler, node, "ResultPath",
										 SF_EXPR_REFERENCE);
	state->result_selector = sf_compile_template(compiler, node, "ResultSelector");
	state->output = sf_compile_template(compiler, node, "Output");
	state->assign = sf_compile_template(compiler, node, "Assign");
	if (compiler->context_use != 0)
		state->needs.leave |= SF_NEED_CONTEXT;
	state->context_use = compiler->context_use;

	compiler->context_use = 0;
	state->input_path = sf_compile_path(compiler, node, "InputPath", SF_EXPR_PATH);
	/* a Map state's Parameters are the old name of its ItemSelector */
	if (state->type != SF_STATE_MAP)
		state->parameters =
			sf_compile_template(compiler, node, jsonata ? "Arguments" : "Parameters");
}

/*
 * Work out what the transitions of a state need.  What only a catcher needs is
 * left to be found out.
 */
static void
compile_needs(const SfCompiler *compiler, SfState *state)
{
	SfNeeds    *needs = &state->needs;

	if (compiler->context_use != 0)
		needs->enter |= SF_NEED_CONTEXT;
	for (int i = 0; i < state->nretriers; i++)
		if (state->retriers[i].jitter == SF_JITTER_FULL)
			needs->leave |= SF_NEED_RANDOM;
	if (sf_state_is_distributed(state))
	{
		needs->proceed = needs->enter | SF_NEED_MAP_RUN | SF_NEED_ITEMS;
		needs->enter |= SF_NEED_MAP_RUN;
	}
	else
		needs->proceed = needs->enter;
	/* these are left as they are entered; any may fail at once */
	if (state->type != SF_STATE_TASK && !sf_state_has_children(state))
		needs->enter |= needs->leave;
	needs->enter |= needs->leave & SF_NEED_RANDOM;
	needs->proceed |= needs->leave & SF_NEED_RANDOM;
	if (sf_state_awaits_token(state) ||
		(sf_state_is_sync(state) && (compiler->context_use & SF_CONTEXT_TOKEN) != 0))
		needs->enter |= SF_NEED_TOKEN;
}

/* Compile a state. */
static void
compile_state(SfCompiler *compiler, const SfTreeNode *node, int scope)
{
	SfState    *state = &compiler->program->states[node->number];
	SfQueryLanguage saved = compiler->language;
	const SfTreeNode *end = sf_tree_member(node, "End");

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();

	compiler->language = sf_asl_language(node, compiler->program->language);
	state->number = node->number;
	sf_asl_find_state_type(sf_tree_member_string(node, "Type"), &state->type);
	state->name = pstrdup(node->key);
	state->pointer = sf_tree_location(node);
	state->scope = scope;
	state->language = compiler->language;
	state->end = end && end->boolean;
	state->next_name = sf_compile_string(compiler, node, "Next");
	state->next = sf_compile_target(compiler, state->next_name);
	state->failure_mode =
		sf_compile_failure_mode(node, state->type == SF_STATE_JOBNET ? SF_FAILURE_DRAIN :
								compiler->program->failure_mode);

	compile_data_flow(compiler, node, state);
	compile_by_type(compiler, node, state);
	sf_compile_retry(compiler, node, state);
	compile_needs(compiler, state);
	sf_compile_catch(compiler, node, state);
	state->context_use |= compiler->context_use;
	compiler->program->scopes[scope].context_use |= state->context_use;
	if (sf_state_has_children(state))
		compile_inner_scopes(compiler, node, state);
	compiler->language = saved;
}

/* Compile a scope and its states. */
static void
compile_scope(SfCompiler *compiler, const SfTreeNode *node, int owner, int branch_index)
{
	SfScope    *scope = &compiler->program->scopes[node->number];
	SfTreeNode *states = sf_tree_member(node, "States");
	SfNameTable saved = compiler->names;

	check_stack_depth();
	compiler->names.count = states->nchildren;
	compiler->names.sorted = sf_tree_sort_members(states);

	scope->number = node->number;
	scope->owner_state = owner;
	scope->branch_index = branch_index;
	scope->start = sf_compile_target(compiler, sf_tree_member_string(node, "StartAt"));
	scope->first = states->first->number;
	SF_TREE_FOREACH(state, states)
		compile_state(compiler, state, node->number);

	scope->last = last_state(compiler->program, states->last->number);

	pfree(compiler->names.sorted);
	compiler->names = saved;
}

/* Compile a tree into a program of its own memory context. */
static SfProgram *
compile_tree(SfTreeNode *root, const char *text, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "sfflow program",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	SfCompiler	compiler = {0};
	SfProgram  *program = palloc0(sizeof(SfProgram));

	compiler.text = text;
	compiler.program = program;
	program->context = context;
	program->language = sf_asl_language(root, SF_QL_JSONPATH);
	program->comment = sf_compile_string(&compiler, root, "Comment");
	program->timeout_seconds = sf_compile_double(&compiler, root, "TimeoutSeconds", SF_NO_TIMEOUT);
	program->failure_mode = sf_compile_failure_mode(root, SF_FAILURE_ABORT);

	number_scope(&compiler, root);
	program->states = palloc_extended(sizeof(SfState) * program->nstates,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	program->scopes = palloc0(sizeof(SfScope) * program->nscopes);
	compile_scope(&compiler, root, SF_NO_STATE, 0);

	MemoryContextSwitchTo(caller);
	return program;
}

/* Check a text, and compile it if it has no error and parent is given. */
static SfProgram *
compile_text(const char *text, int len, bool lone_state, MemoryContext parent,
			 const SfValidation *how, List **diagnostics)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext scratch = AllocSetContextCreate(caller, "sfflow definition",
												  ALLOCSET_DEFAULT_SIZES);
	SfProgram  *program = NULL;
	List	   *found;
	SfTreeNode *root;

	MemoryContextSwitchTo(scratch);
	root = lone_state ? sf_asl_check_state(text, len, &found)
		: sf_asl_check(text, len, how, &found);
	if (root != NULL && parent != NULL)
		program = compile_tree(root, text, parent);
	MemoryContextSwitchTo(caller);

	*diagnostics = NIL;
	foreach_ptr(const SfDiagnostic, d, found)
	{
		SfDiagnostic *copy = palloc(sizeof(SfDiagnostic));

		*copy = *d;
		copy->code = pstrdup(copy->code);
		copy->message = pstrdup(copy->message);
		copy->location = copy->location ? pstrdup(copy->location) : NULL;
		*diagnostics = lappend(*diagnostics, copy);
	}
	MemoryContextDelete(scratch);
	return program;
}

/*
 * Check a definition given as text and compile it.
 *
 * *diagnostics gets a List of SfDiagnostic (errors and warnings, in the
 * order in which they stand in the text), allocated in the current context.
 * Returns the program, in a new memory context that is a child of parent, or
 * NULL when there is any error (or parent is NULL: validate only).
 * ereports only for limits (54001 stack depth).
 */
SfProgram *
sf_asl_compile(const char *text, int len, MemoryContext parent,
			   List **diagnostics)
{
	return compile_text(text, len, false, parent, NULL, diagnostics);
}

/* Check a definition as sf_asl_compile does, and for what else is asked for. */
List *
sf_asl_validate(const char *text, int len, const SfValidation *how)
{
	List	   *diagnostics;

	(void) compile_text(text, len, false, NULL, how, &diagnostics);
	return diagnostics;
}

/*
 * Compile one state by itself, as TestState takes it: a state object (with
 * state_name NULL; it is called "StateName" then), or a whole definition of
 * which state_name names one state.  Next targets that do not exist are allowed
 * in the first form: they get number SF_NO_STATE and next_name tells the name.
 * *state_number is SF_NO_STATE if the definition has no state of that name.
 */
SfProgram *
sf_asl_compile_state(const char *text, int len, const char *state_name,
					 MemoryContext parent, int *state_number,
					 List **diagnostics)
{
	SfProgram  *program = compile_text(text, len, state_name == NULL, parent,
									   NULL, diagnostics);

	*state_number = program == NULL ? SF_NO_STATE : state_name == NULL ? 0 :
		sf_program_find_state(program, state_name);
	return program;
}
