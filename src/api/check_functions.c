/*
 * check_functions.c
 *		Checks of sf_check() that need the compiled program.
 */
#include "postgres.h"

#include "store/program_cache.h"
#include "fmgr.h"

PG_FUNCTION_INFO_V1(sfflow_is_place);

/* Tell whether a version has a state of this number in the scope of that one. */
Datum
sfflow_is_place(PG_FUNCTION_ARGS)
{
	const SfProgram *program = sf_program_cache_get(PG_GETARG_INT32(0), PG_GETARG_INT32(1));
	int			scope = PG_GETARG_INT32(2);
	int			state = PG_GETARG_INT32(3);

	PG_RETURN_BOOL(scope >= 0 && scope < program->nscopes &&
				   state >= 0 && state < program->nstates &&
				   program->states[state].scope == scope);
}
