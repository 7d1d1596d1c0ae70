/*
 * critical.c
 *		The critical path of a net: of the ways by After through its jobs, the one that
 *		takes longest.
 *
 * A job that has ended takes what it took; one that runs, at least that; others, and
 * those of which no history tells, what they usually take (remaining.c).  A job that was
 * skipped takes nothing.  If nothing is known there is no path.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "report/report.h"
#include "report/visits.h"

/* What an execution did in a scope that is a job */
typedef struct Spent
{
	int64		us;				/* or SF_NO_DURATION */
	bool		ended;
} Spent;

/* Find what an execution did in each scope, in the states that are not within others. */
static Spent *
find_spent(const SfProgram *program, const SfGraphFacts *facts)
{
	Spent	   *spent = palloc(sizeof(Spent) * program->nscopes);

	for (int i = 0; i < program->nscopes; i++)
		spent[i] = (Spent) {.us = SF_NO_DURATION,.ended = facts[program->scopes[i].start].status != SF_GRAPH_ENTRY};
	for (int i = 0; i < program->nstates; i++)
	{
		Spent	   *s = &spent[program->states[i].scope];

		if (sf_duration_is_known(facts[i].duration))
			s->us = (sf_duration_is_known(s->us) ? s->us : 0) + facts[i].duration;
		if (facts[i].status == SF_GRAPH_RUNNING || facts[i].status == SF_GRAPH_UNKNOWN)
			s->ended = false;
	}
	return spent;
}

/* What a job takes. */
static int64
time_of_job(const SfProgram *program, int scope, const Spent *spent, const SfGraphFacts *facts,
			const SfRemaining *usual)
{
	int64		usually = sf_remaining_of_scope(usual, scope);

	if (facts[program->scopes[scope].start].status == SF_GRAPH_SKIP)
		return 0;
	if (!sf_duration_is_known(spent[scope].us))
		return usually;
	return spent[scope].ended ? spent[scope].us : Max(spent[scope].us, usually);
}

/* Find the critical path of a net. */
static void
find_path(const SfState *state, const int64 *times, SfCritical *critical)
{
	const SfJobNetState *net = sf_state_net(state);
	int64	   *until = palloc(sizeof(int64) * net->njobs);
	int64		longest = 0;
	int			last = SF_NO_SCOPE;

	for (int i = 0; i < net->njobs; i++)
	{
		int			number = net->order[i];
		const SfNetJob *job = &net->jobs[number];
		int64		before = 0;

		for (int j = 0; j < job->nafter; j++)
		{
			int			other = job->after[j].job;

			if (until[other] <= before)
				continue;
			before = until[other];
			critical[job->scope].after = net->jobs[other].scope;
		}
		until[number] = before + times[job->scope];
		if (until[number] > longest)
		{
			longest = until[number];
			last = job->scope;
		}
	}
	for (int scope = last; scope != SF_NO_SCOPE; scope = critical[scope].after)
		critical[scope].is_on = true;
	pfree(until);
}

/*
 * Find the critical paths of the nets of a program, by a List of SfUsualJob and by what
 * an execution did in each state: of each scope, where it is on one.
 */
SfCritical *
sf_critical_find(const SfProgram *program, List *usual, const SfGraphFacts *facts)
{
	SfCritical *critical = palloc(sizeof(SfCritical) * program->nscopes);
	int64	   *times = palloc0(sizeof(int64) * program->nscopes);
	SfRemaining *remaining = sf_remaining_begin(program, usual, SF_NO_STATE);
	Spent	   *spent = find_spent(program, facts);

	for (int i = 0; i < program->nscopes; i++)
	{
		critical[i] = (SfCritical) {.after = SF_NO_SCOPE};
		times[i] = time_of_job(program, i, spent, facts, remaining);
	}
	for (int i = 0; i < program->nstates; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (program->states[i].type == SF_STATE_JOBNET)
			find_path(&program->states[i], times, critical);
	}
	return critical;
}
