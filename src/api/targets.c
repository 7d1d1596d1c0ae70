/*
 * targets.c
 *		What an operator's action is about: a state machine, a state of it, a resource.
 */
#include "postgres.h"

#include "api/objects.h"
#include "api/targets.h"
#include "base/closest.h"
#include "base/errors.h"
#include "base/public_name.h"
#include "store/program_cache.h"

/*
 * Find the machine that a target "machine" or "machine/state" names, like sf_arg_machine().
 * *state gets the state, which may not exist; NULL: the target names none.
 */
SfMachine *
sf_object_machine_or_state(const char *text, SfPrivilege needed, char **state)
{
	const char *slash = strchr(text, '/');

	*state = slash == NULL ? NULL : pstrdup(slash + 1);
	return sf_arg_machine(slash == NULL ? text : pnstrdup(text, slash - text), needed);
}

/*
 * Keep a machine from being dropped until the end of the transaction.  Raises SF003 if
 * another session has dropped it since the caller found it.
 */
void
sf_object_keep_machine(int machine_no, const char *name)
{
	sf_machine_lock_starts(machine_no, false);
	if (!sf_machine_exists(machine_no))
		sf_object_missing(SF_OBJECT_STATE_MACHINE, name);
}

/* Raise unless some version of a machine, from this one down, has a state. */
void
sf_object_require_state(int machine_no, int version, const char *machine, const char *state)
{
	SfClosest	closest = sf_closest_begin(state);

	for (int v = version; v > 0; v--)
	{
		const SfProgram *program = sf_program_cache_get(machine_no, v);

		if (sf_program_find_state(program, state) >= 0)
			return;
		for (int i = 0; i < program->nstates; i++)
			sf_closest_offer(&closest, program->states[i].name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("state machine \"%s\" has no state \"%s\"", machine, state),
			 sf_closest_errhint(&closest, NULL)));
}

/* Is a target a resource: "sql:…", or an ARN of nothing that sfflow has? */
bool
sf_object_is_resource(const char *text)
{
	return strncmp(text, "sql:", 4) == 0 ||
		(strncmp(text, "arn:", 4) == 0 &&
		 sf_public_name_to_id(SF_NAME_EXECUTION, text) == text &&
		 sf_public_name_to_id(SF_NAME_STATE_MACHINE, text) == text);
}
