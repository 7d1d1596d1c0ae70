/*
 * trace_feature.c
 *		What traces have in the registry: their table and options, and what they do when executions begin and end.
 */
#include "postgres.h"

#include "feature/trace/trace.h"
#include "store/feature.h"

static const SfFeatureTable tables[] = {
	{"trace_export",.of_execution = SF_ROWS_GO_ALONG},
	{NULL}
};

/* The number of what is compiled; the registry sets it */
static int	number;

static const char *const options[] = {"trace", NULL};

/* An execution has ended: its leg is due for export. */
static void
ended(const SfExecution *execution, bool began_here)
{
	if (execution->trace != NULL)
		sf_trace_export_insert(execution);
}

static const SfFeatureOptions machine_options = {
	.names = options,
	.number = &number,
	.compile = sf_trace_compile,
};

static const SfFeatureTraces traces = {
	.context_of = sf_span_context,
};

const SfFeature sf_trace_feature = {
	.name = "trace",
	.tables = tables,
	.start_options = options,
	.machine_options = &machine_options,
	.traces = &traces,
	.prepare = sf_trace_prepare,
	.on_ended = ended,
	.put_health = sf_trace_export_health,
};
