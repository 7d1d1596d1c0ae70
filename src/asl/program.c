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
 * machine; -1: there is none.
 */
int
sf_program_find_state(const SfProgram *program, const char *name)
{
	for (int i = 0; i < program->nstates; i++)
	{
		if (strcmp(program->states[i].name, name) == 0)
			return i;
	}
	return -1;
}
