/*
 * compile_net.c
 *		The jobs of a JobNet: their numbers, the links between them, and which of the
 *		others their states look at.
 *
 * A job is a scope of its own, of one state or of a flow of states, as a branch of a
 * Parallel state is.  The program numbers them in the order in which they begin, so that the job to begin next
 * is the ready one with the least number.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "asl/compile/compile.h"

/* The jobs of the net that is being compiled */
typedef struct Net
{
	SfCompiler *compiler;
	SfJobNetState *net;
	int			count;
	SfTreeNode **by_number;
	SfTreeNode **sorted;		/* by name */
	int		   *numbers;		/* by position in the text */
} Net;

/* --- numbers --- */

/* Priority of a job; the greater one begins first. */
static int
priority_of(const SfTreeNode *job)
{
	const SfTreeNode *value = sf_tree_member(job, "Priority");

	return value ? (int) sf_tree_number(value) : 0;
}

/* Order jobs by priority, then by position in the text. */
static int
compare_priorities(const void *a, const void *b)
{
	const SfTreeNode *x = *(SfTreeNode *const *) a;
	const SfTreeNode *y = *(SfTreeNode *const *) b;
	int			p = priority_of(x),
				q = priority_of(y);

	return p != q ? (p > q ? -1 : 1) : (x->index > y->index) - (x->index < y->index);
}

/* Tell whether a job is a flow of states, not a state. */
bool
sf_asl_is_flow(const SfTreeNode *job)
{
	return sf_tree_member(job, "Type") == NULL;
}

/* Sort the jobs of a net by number. */
SfTreeNode **
sf_compile_order_net_jobs(const SfTreeNode *jobs)
{
	SfTreeNode **by_number = palloc(sizeof(SfTreeNode *) * jobs->nchildren);

	SF_TREE_FOREACH(job, jobs)
		by_number[job->index] = job;
	qsort(by_number, jobs->nchildren, sizeof(SfTreeNode *), compare_priorities);
	return by_number;
}

/* --- links --- */

/* Compile After, which the validator has found to name jobs of the net. */
static void
compile_after(Net *net, int number)
{
	const SfTreeNode *after = sf_tree_member(net->by_number[number], "After");
	SfNetJob   *job = &net->net->jobs[number];

	if (after == NULL)
		return;
	job->after = palloc(sizeof(SfNetJobLink) * Max(after->nchildren, 1));
	SF_TREE_FOREACH(link, after)
	{
		const SfTreeNode *before = sf_tree_search_members(net->sorted, net->count,
														  sf_asl_link_net_job(link)->string);
		SfNetJobLink *made = &job->after[job->nafter++];

		made->job = net->numbers[before->index];
		made->on = sf_asl_link_ends(link);
		net->net->jobs[made->job].nfollowers++;
	}
}

/* Make the links of each job to those that wait for it. */
static void
compile_followers(Net *net)
{
	for (int i = 0; i < net->count; i++)
	{
		SfNetJob   *job = &net->net->jobs[i];

		job->followers = palloc(sizeof(SfNetJobLink) * Max(job->nfollowers, 1));
		job->nfollowers = 0;
	}
	for (int i = 0; i < net->count; i++)
	{
		const SfNetJob *job = &net->net->jobs[i];

		for (int j = 0; j < job->nafter; j++)
		{
			SfNetJob   *before = &net->net->jobs[job->after[j].job];

			before->followers[before->nfollowers].job = i;
			before->followers[before->nfollowers++].on = job->after[j].on;
		}
	}
}

/* Order the jobs so that each stands after those that it waits for. */
static void
order_jobs(Net *net)
{
	int		   *left = palloc(sizeof(int) * net->count);
	int			norder = 0;

	net->net->order = palloc(sizeof(int) * net->count);
	for (int i = 0; i < net->count; i++)
	{
		left[i] = net->net->jobs[i].nafter;
		if (left[i] == 0)
			net->net->order[norder++] = i;
	}
	for (int done = 0; done < norder; done++)
	{
		const SfNetJob *job = &net->net->jobs[net->net->order[done]];

		for (int j = 0; j < job->nfollowers; j++)
			if (--left[job->followers[j].job] == 0)
				net->net->order[norder++] = job->followers[j].job;
	}
	pfree(left);
	if (norder != net->count)
		elog(ERROR, "the jobs of a net wait for each other");
}

/* --- Condition --- */

/* Compile Condition: a rule of JSONPath, or an expression. */
static void
compile_condition(Net *net, int number)
{
	SfCompiler *compiler = net->compiler;
	const SfTreeNode *node = net->by_number[number];
	const SfTreeNode *condition = sf_tree_member(node, "Condition");
	SfNetJob   *job = &net->net->jobs[number];
	SfQueryLanguage language = compiler->language;
	int			context_use = compiler->context_use;

	if (condition == NULL)
		return;
	compiler->language = job->language =
		sf_asl_is_flow(node) ? compiler->program->language : sf_asl_language(node, compiler->program->language);
	compiler->context_use = 0;
	job->condition = palloc0(sizeof(SfChoiceRule));
	if (job->language == SF_QL_JSONATA)
	{
		job->condition->kind = SF_CHOICE_CONDITION;
		job->condition->condition.condition = sf_compile_template_value(compiler, condition);
		job->condition->condition.text = sf_compile_expression_text(compiler, condition);
	}
	else
		sf_compile_rule(compiler, condition, job->condition);
	job->context_use = compiler->context_use;
	compiler->context_use = context_use;
	compiler->language = language;
}

/* --- the jobs that the states of a job look at --- */

/* A job whose states are looked through */
typedef struct Reader
{
	Net		   *net;
	SfNetJob   *job;
} Reader;

/* Note that a job looks at another one, or at some (name NULL). */
static void
add_use(void *arg, const SfTreeNode *at, bool of_jobs, const char *name)
{
	const Net  *net = ((Reader *) arg)->net;
	SfNetJob   *job = ((Reader *) arg)->job;
	const SfTreeNode *used = name == NULL ? NULL :
		sf_tree_search_members(net->sorted, net->count, name);

	if (used == NULL)
	{
		job->uses_any = true;
		return;
	}
	for (int i = 0; i < job->nuses; i++)
		if (job->uses[i] == net->numbers[used->index])
			return;
	if (job->uses == NULL)
		job->uses = palloc(sizeof(int));
	else
		job->uses = repalloc(job->uses, sizeof(int) * (job->nuses + 1));
	job->uses[job->nuses++] = net->numbers[used->index];
}

/* Compile what a JobNet says of its jobs, apart from their states. */
void
sf_compile_net(SfCompiler *compiler, const SfTreeNode *node, SfState *state)
{
	const SfTreeNode *jobs = sf_tree_member(node, "Jobs");
	Net			net = {.compiler = compiler,.net = &state->net,.count = jobs->nchildren};

	net.by_number = sf_compile_order_net_jobs(jobs);
	net.sorted = sf_tree_sort_members(jobs);
	net.numbers = palloc(sizeof(int) * net.count);
	for (int i = 0; i < net.count; i++)
		net.numbers[net.by_number[i]->index] = i;

	state->net.max_concurrency = sf_compile_value(compiler, node, "MaxConcurrency", SF_EXPR_PATH);
	state->net.njobs = net.count;
	state->net.jobs = palloc0(sizeof(SfNetJob) * net.count);
	for (int i = 0; i < net.count; i++)
	{
		SfNetJob   *job = &state->net.jobs[i];
		Reader		reader = {&net, job};

		CHECK_FOR_INTERRUPTS();
		job->name = pstrdup(net.by_number[i]->key);
		job->scope = net.by_number[i]->scope;
		job->priority = priority_of(net.by_number[i]);
		compile_after(&net, i);
		compile_condition(&net, i);
		sf_asl_net_job_uses(net.by_number[i], add_use, &reader);
	}
	compile_followers(&net);
	order_jobs(&net);
	pfree(net.numbers);
	pfree(net.sorted);
	pfree(net.by_number);
}
