/*
 * program.c
 *		Look-ups in a compiled state machine.
 */
#include "postgres.h"

#include "asl/program.h"

/* Name a state type. */
const char *
sf_state_type_name(SfStateType type)
{
	static const char *const names[] = {
#define SF_STATE_TYPE_NAME(sym, name) [SF_STATE_##sym] = name,
		SF_STATE_TYPE_LIST(SF_STATE_TYPE_NAME)
	};

	return names[type];
}

/*
 * Find the number of a state by its name, which is unique in the whole
 * machine; SF_NO_STATE: there is none.
 */
int
sf_program_find_state(const SfProgram *program, const char *name)
{
	for (int i = 0; i < program->nstates; i++)
	{
		if (strcmp(program->states[i].name, name) == 0)
			return i;
	}
	return SF_NO_STATE;
}

/* --- how the jobs of a JobNet have ended: an SfNetJobEnd by number --- */

/*
 * Tell how many jobs of a job's After have no end yet, and whether one has an end that
 * the job does not accept.
 */
int
sf_asl_net_job_undone(const SfNetJob *job, const char *ends, bool *unmet)
{
	int			undone = 0;

	*unmet = false;
	for (int i = 0; i < job->nafter; i++)
	{
		int			end = ends[job->after[i].job];

		if (end == SF_NET_JOB_END_NONE)
			undone++;
		else if ((end & job->after[i].on) == 0)
			*unmet = true;
	}
	return undone;
}
