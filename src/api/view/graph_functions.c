/*
 * graph_functions.c
 *		sf_graph(): a machine or an execution as a picture.  sf_graph_layout() and
 *		sf_graph_status(): the same for a page that draws the picture itself.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "graph/graph.h"
#include "json/json.h"
#include "report/report.h"
#include "store/state_machine/program_cache.h"
#include "store/statistics/usual.h"

/* Find an execution that the caller may READ, and its program. */
static const SfProgram *
read_execution(const char *target, SfExecutionHead *execution)
{
	SfExecution *found = sf_arg_execution(target, SF_LOCK_NONE,
											  SF_RIGHT_READ);

	if (!sf_head_read_visible(found->execution_no, execution))
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
				 errmsg("execution \"%s\" does not exist any more", target)));
	return sf_program_cache_get(execution->machine_no, execution->version);
}

/* Find a machine that the caller may READ, and its program. */
static const SfProgram *
read_machine(const char *target)
{
	SfMachine  *machine = sf_arg_machine(target, SF_RIGHT_READ);

	return sf_program_cache_get(machine->machine_no, machine->version);
}

/* Tell whether a name is one of an execution ("nightly:20250205"), and not of a machine; ARNs are taken too. */
static bool
names_execution(const char *target)
{
	return strchr(sf_public_name_to_id(SF_NAME_STATE_MACHINE, target), ':') != NULL;
}

/*
 * Draw a machine ("nightly", "nightly/3") or an execution ("nightly:20250205"),
 * the latter with the status of each state.
 */
SF_SQL_FUNCTION(sfflow_sf_graph)
{
	const char *target = sf_arg_text(fcinfo, 0, "target");
	const char *format = sf_arg_text(fcinfo, 1, "format");
	SfExecutionHead execution;
	const SfProgram *program;
	char	   *drawn;

	if (names_execution(target))
	{
		program = read_execution(target, &execution);
		drawn = sf_graph_render(program, format, sf_state_status_list(&execution, program));
	}
	else
		drawn = sf_graph_render(read_machine(target), format, NULL);
	PG_RETURN_TEXT_P(cstring_to_text(drawn));
}

/* Return the coordinates of the states, lines and labels of a machine, or of an execution's version of it. */
SF_SQL_FUNCTION(sfflow_sf_graph_layout)
{
	const char *target = sf_arg_text(fcinfo, 0, "target");
	SfExecutionHead execution;

	PG_RETURN_JSONB_P(sf_graph_layout_json(names_execution(target) ?
										   read_execution(target, &execution) :
										   read_machine(target)));
}

/* Add what an execution did in a state. */
static void
add_facts(SfJsonBuilder *json, const SfGraphFacts *facts)
{
	sf_json_add_string(json, "status", sf_graph_statuses[facts->status].name);
	if (facts->aborted)
		sf_json_add_bool(json, "aborted", true);
	if (facts->visits > 0)
		sf_json_add_int(json, "visits", facts->visits);
	if (facts->attempts > 0)
		sf_json_add_int(json, "attempts", facts->attempts);
	if (sf_duration_is_known(facts->duration))
		sf_json_add_int(json, "ms", facts->duration / 1000);
	if (facts->iterations == SF_NO_ITERATIONS)
		return;
	sf_json_add_int(json, "iterations", facts->iterations);
	sf_json_add_int(json, "succeeded", facts->iterations_succeeded);
	sf_json_add_int(json, "failed", facts->iterations_failed);
}

/* Add the name of a job that is a flow of states, or the number of one that is a state. */
static void
add_job(SfJsonBuilder *json, const char *key, const SfProgram *program, int scope)
{
	const SfScope *job = &program->scopes[scope];
	const SfNetJob *of_net = &sf_state_net(&program->states[job->owner_state])->jobs[job->branch_index];

	if (sf_graph_net_job_state(program, of_net) == NULL)
		sf_json_add_string(json, key, of_net->name);
	else
		sf_json_add_int(json, key, job->start);
}

/* Say that the job that begins with a state is on the critical path of its net, and after which. */
static void
add_critical(SfJsonBuilder *json, const SfProgram *program, const SfCritical *critical, int state)
{
	int			scope = program->states[state].scope;

	if (!critical[scope].is_on || program->scopes[scope].start != state)
		return;
	add_job(json, "critical", program, scope);
	if (critical[scope].after != SF_NO_SCOPE)
		add_job(json, "critical_after", program, critical[scope].after);
}

/* Return what an execution did in each state, in the order of their numbers. */
SF_SQL_FUNCTION(sfflow_sf_graph_status)
{
	const char *target = sf_arg_text(fcinfo, 0, "execution_id");
	SfExecutionHead execution;
	const SfProgram *program = read_execution(target, &execution);
	const SfGraphFacts *facts = sf_state_status_list(&execution, program);
	const SfCritical *critical = sf_critical_find(program, sf_usual_jobs(execution.machine_no), facts);
	SfJsonBuilder json;

	sf_json_begin_array(&json);
	for (int i = 0; i < program->nstates; i++)
	{
		sf_json_open_object(&json, NULL);
		sf_json_add_int(&json, "id", i);
		sf_json_add_string(&json, "name", program->states[i].name);
		add_facts(&json, &facts[i]);
		add_critical(&json, program, critical, i);
		sf_json_close_object(&json);
	}
	PG_RETURN_JSONB_P(sf_json_end(&json));
}
