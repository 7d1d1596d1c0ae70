/*
 * graph.c
 *		sf_graph(): a machine or an execution as a picture.
 */
#include "postgres.h"

#include "base/arn.h"
#include "engine/state_status.h"
#include "fmgr.h"
#include "graph/graph.h"
#include "store/execution.h"
#include "store/machine.h"
#include "store/privilege.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(sfflow_sf_graph);

/* Compile a stored definition; it was checked when it was stored. */
static SfProgram *
compile_stored(const SfMachine *machine)
{
	List	   *diagnostics;
	SfProgram  *program = sf_asl_compile(machine->definition,
										 strlen(machine->definition),
										 CurrentMemoryContext, &diagnostics);

	if (program == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("version %d of state machine \"%s\" is not valid any more",
						machine->version, machine->name),
				 errdetail("%s", sf_diagnostics_print(diagnostics))));
	return program;
}

/* Find a machine that the caller may read, by "name" or "name/version". */
static SfMachine *
find_machine(const char *target)
{
	char	   *name = pstrdup(target);
	char	   *slash = strrchr(name, '/');
	int			version = 0;
	SfMachine  *machine = NULL;

	if (slash != NULL)
	{
		char	   *end;
		long		number = strtol(slash + 1, &end, 10);

		*slash = '\0';
		version = *end == '\0' && number > 0 && number <= PG_INT32_MAX ? number : -1;
	}
	if (version >= 0)
		machine = sf_machine_read(name, version);
	if (machine == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST),
				 errmsg("state machine \"%s\" does not exist", target)));
	sf_privilege_require(machine->name, machine->owner, SF_PRIVILEGE_READ);
	return machine;
}

/* Draw an execution with the status of each state. */
static char *
draw_execution(const char *target, const char *format)
{
	SfExecution *found = sf_execution_find(sf_arn_to_execution_id(target),
										   SF_LOCK_NONE);
	SfStatusExecution execution;
	SfMachine  *machine;
	SfProgram  *program;

	if (found == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
				 errmsg("execution \"%s\" does not exist", target)));
	sf_privilege_require(found->machine_name, found->owner, SF_PRIVILEGE_READ);
	machine = sf_machine_read_version(found->machine_no, found->version);
	if (machine == NULL || !sf_status_execution(found->execution_no, &execution))
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
				 errmsg("execution \"%s\" does not exist any more", target)));
	program = compile_stored(machine);
	return sf_graph_render(program, format,
						   sf_state_status_list(&execution, program));
}

/*
 * Draw a machine ("nightly", "nightly/3") or an execution ("nightly:20250205"),
 * the latter with the status of each state; ARNs are taken too.
 */
Datum
sfflow_sf_graph(PG_FUNCTION_ARGS)
{
	const char *target = text_to_cstring(PG_GETARG_TEXT_PP(0));
	const char *format = text_to_cstring(PG_GETARG_TEXT_PP(1));
	const char *machine = sf_arn_to_state_machine(target);
	char	   *drawn;

	if (strchr(machine, ':') != NULL)
		drawn = draw_execution(target, format);
	else
		drawn = sf_graph_render(compile_stored(find_machine(machine)), format,
								NULL);
	PG_RETURN_TEXT_P(cstring_to_text(drawn));
}
