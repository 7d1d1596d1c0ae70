/*
 * test_net.c
 *		A JobNet in sf_test_state: which jobs would run, if each that runs ends as its
 *		mock says.
 *
 * The jobs are decided on one after another, each after those that it waits for.  Those
 * that have ended are rows in memory, as run/join/dependents_context.c reads them for $$.Jobs.
 */
#include "postgres.h"

#include "base/error/errors.h"
#include "feature/test_state/test_state.h"
#include "run/join/children.h"

typedef struct NetTest
{
	const SfStateTest *test;
	SfLoaded	loaded;
	SfInspection inspection;
	const SfBranch *join;
	const SfJobNetState *net;
	SfBranch  **rows;			/* by number; of jobs that have ended, but for those skipped */
	char	   *ends;			/* an SfNetJobEnd each */
} NetTest;

/* Tell whether a job waits for an end that another one did not have. */
static bool
is_unmet(const NetTest *test, const SfNetJob *job)
{
	for (int i = 0; i < job->nafter; i++)
		if ((test->ends[job->after[i].job] & job->after[i].on) == 0)
			return true;
	return false;
}

/* Make the branch of a job, which is about to begin. */
static SfBranch *
make_job(const NetTest *test, int number)
{
	SfBranch   *branch = sf_branch_make(0, test->join->owner, number + 1);

	branch->parent_no = SF_BRANCH_ROOT;
	branch->branch_index = number;
	branch->scope = test->net->jobs[number].scope;
	branch->state = test->test->program->scopes[branch->scope].start;
	sf_branch_carry(branch, sf_branch_input_of_net_jobs(test->join), SF_NO_EVENT);
	branch->variables = test->join->variables;
	return branch;
}

/*
 * See how the condition of a job ends it before it begins, by a transition that would
 * begin it; 0: it may begin.
 */
static SfNetJobEnd
end_by_condition(NetTest *test, const SfNetJob *job, SfBranch *branch, TimestampTz now)
{
	const Jsonb *context = test->inspection.context;
	SfStimulus	stimulus = {.kind = SF_STIMULUS_DUE};
	SfTransition transition = {0};
	SfJsonBuilder json;

	if (job->condition == NULL)
		return SF_NET_JOB_END_NONE;
	sf_json_begin_object(&json);
	sf_json_add(&json, "Jobs", sf_dependents_net_jobs(test->net, branch->branch_index, test->rows));
	test->inspection.context = sf_json_merge(context, sf_json_end(&json));
	test->inspection.failed = false;
	sf_transition(&test->loaded, branch, &stimulus, now, &transition);
	test->inspection.context = unconstify(Jsonb *, context);
	if (transition.branch.entered_at != DT_NOBEGIN)
		return SF_NET_JOB_END_NONE;
	if (!test->inspection.failed)
		return SF_NET_JOB_END_SKIP;
	sf_step_set_branch_error(branch, &test->inspection.error);
	return SF_NET_JOB_END_FAILURE;
}

/* Have a job that runs end as its mock says. */
static SfNetJobEnd
end_by_mock(const NetTest *test, const SfNetJob *job, SfBranch *branch)
{
	const SfMock *mock = &sf_mock_jobs(&test->test->mock)[branch->branch_index];

	if (mock->kind == SF_MOCK_KIND_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("job \"%s\" would run, and has no mock", job->name),
				 errdetail("Argument mock of sf_test_state() is not valid.")));
	if (mock->kind == SF_MOCK_KIND_RESULT)
	{
		sf_branch_carry(branch, sf_mock_result(mock), SF_NO_EVENT);
		return SF_NET_JOB_END_SUCCESS;
	}
	branch->error = unconstify(char *, sf_mock_error(mock)->name);
	branch->cause = unconstify(char *, sf_mock_error(mock)->cause);
	return SF_NET_JOB_END_FAILURE;
}

/* Decide on a job, and end it. */
static void
decide(NetTest *test, int number, TimestampTz now)
{
	const SfNetJob *job = &test->net->jobs[number];
	SfBranch   *branch;

	test->ends[number] = SF_NET_JOB_END_SKIP;
	if (is_unmet(test, job))
		return;
	branch = make_job(test, number);
	test->ends[number] = end_by_condition(test, job, branch, now);
	if (test->ends[number] == SF_NET_JOB_END_NONE)
		test->ends[number] = end_by_mock(test, job, branch);
	branch->phase = test->ends[number] == SF_NET_JOB_END_SUCCESS ? SF_PHASE_DONE : SF_PHASE_FAILED;
	if (test->ends[number] != SF_NET_JOB_END_SKIP)
		test->rows[number] = branch;
}

/* Give *joined the outputs of the jobs that have succeeded. */
static void
give_outputs(const NetTest *test, SfJoined *joined)
{
	joined->kind = SF_JOINED_OUTPUTS;
	joined->outputs = palloc(sizeof(Jsonb *) * test->net->njobs);
	joined->indexes = palloc(sizeof(int) * test->net->njobs);
	for (int number = 0; number < test->net->njobs; number++)
	{
		if (test->ends[number] != SF_NET_JOB_END_SUCCESS)
			continue;
		joined->indexes[joined->noutputs] = number;
		joined->outputs[joined->noutputs++] = sf_branch_output(test->rows[number]);
	}
}

/* {"load": "success", "check": "skip" …}: what became of the jobs. */
static Jsonb *
print_ends(const NetTest *test)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	for (int number = 0; number < test->net->njobs; number++)
		if (test->ends[number] != SF_NET_JOB_END_NONE)
			sf_json_add_string(&json, test->net->jobs[number].name,
							   test->ends[number] == SF_NET_JOB_END_SUCCESS ? "success" :
							   test->ends[number] == SF_NET_JOB_END_FAILURE ? "failure" : "skip");
	return sf_json_end(&json);
}

/*
 * Run the jobs of a net that has begun, with their mocks: the join fails with the first
 * error, or *joined gets the outputs.  Returns what became of each job.
 */
Jsonb *
sf_test_net(const SfStateTest *test, const SfLoaded *loaded, SfBranch *join,
			SfJoined *joined, TimestampTz now)
{
	const SfState *state = &test->program->states[test->state];
	NetTest		t = {.test = test,.loaded = *loaded,.inspection = *loaded->inspection,.join = join};

	t.loaded.inspection = &t.inspection;
	t.net = sf_state_net(state);
	t.rows = palloc0(sizeof(SfBranch *) * t.net->njobs);
	t.ends = palloc0(t.net->njobs);
	for (int i = 0; i < t.net->njobs; i++)
	{
		int			number = t.net->order[i];

		decide(&t, number, now);
		if (t.ends[number] != SF_NET_JOB_END_FAILURE || sf_join_course(join) == SF_JOIN_FAILING)
			continue;
		sf_join_set_course(join, SF_JOIN_FAILING);
		join->error = t.rows[number]->error;
		join->cause = t.rows[number]->cause;
		if (state->failure_mode == SF_FAILURE_ABORT)
			break;
	}
	give_outputs(&t, joined);
	return print_ends(&t);
}
