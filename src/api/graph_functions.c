/*
 * graph_functions.c
 *		sf_graph(): a machine or an execution as a picture.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "api/sql_arguments.h"
#include "api/objects.h"
#include "base/public_name.h"
#include "base/errors.h"
#include "store/program_cache.h"
#include "report/state_status.h"
#include "graph/graph.h"

PG_FUNCTION_INFO_V1(sfflow_sf_graph);

/* Draw an execution with the status of each state. */
static char *
draw_execution(const char *target, const char *format)
{
	SfExecution *found = sf_arg_execution(target, SF_LOCK_NONE,
											  SF_PRIVILEGE_READ);
	SfStatusExecution execution;
	const SfProgram *program;

	if (!sf_status_execution(found->execution_no, &execution))
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
				 errmsg("execution \"%s\" does not exist any more", target)));
	program = sf_program_cache_get(execution.machine_no, execution.version);
	return sf_graph_render(program, format,
						   sf_state_status_list(&execution, program));
}

/* Draw a machine. */
static char *
draw_machine(const char *target, const char *format)
{
	SfMachine  *machine = sf_arg_machine(target, SF_PRIVILEGE_READ);

	return sf_graph_render(sf_program_cache_get(machine->machine_no, machine->version),
						   format, NULL);
}

/*
 * Draw a machine ("nightly", "nightly/3") or an execution ("nightly:20250205"),
 * the latter with the status of each state; ARNs are taken too.
 */
Datum
sfflow_sf_graph(PG_FUNCTION_ARGS)
{
	const char *target = sf_arg_text(fcinfo, 0, "target");
	const char *format = sf_arg_text(fcinfo, 1, "format");
	const char *id = sf_public_name_to_id(SF_NAME_STATE_MACHINE, target);
	bool		is_execution = strchr(id, ':') != NULL;

	PG_RETURN_TEXT_P(cstring_to_text(is_execution
									 ? draw_execution(target, format)
									 : draw_machine(target, format)));
}
