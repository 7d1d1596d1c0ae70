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

/* Jobs of which a packed number says how they have ended, in two bits each */
#define ENDS_IN_NUMBER	16

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

		if (end == 0)
			undone++;
		else if ((end & job->after[i].on) == 0)
			*unmet = true;
	}
	return undone;
}

/* Unpack the ends of the jobs of a net. */
char *
sf_asl_net_job_ends(const int *packed, int npacked, int njobs)
{
	char	   *ends = palloc0(njobs);

	for (int i = 0; i < Min(njobs, npacked * ENDS_IN_NUMBER); i++)
	{
		int			end = (uint32) packed[i / ENDS_IN_NUMBER] >> (2 * (i % ENDS_IN_NUMBER)) & 3;

		ends[i] = end == 0 ? 0 : 1 << (end - 1);
	}
	return ends;
}

/* Pack the ends of the jobs of a net. */
int *
sf_asl_net_job_ends_pack(const char *ends, int njobs, int *npacked)
{
	uint32	   *packed;

	*npacked = (njobs + ENDS_IN_NUMBER - 1) / ENDS_IN_NUMBER;
	packed = palloc0(sizeof(uint32) * *npacked);
	for (int i = 0; i < njobs; i++)
	{
		uint32		end = ends[i] == SF_NET_JOB_END_SKIP ? 3 : ends[i];

		packed[i / ENDS_IN_NUMBER] |= end << (2 * (i % ENDS_IN_NUMBER));
	}
	return (int *) packed;
}
