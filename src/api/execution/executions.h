/*
 * executions.h
 *		What callers do with executions: start, run and redrive them, take their tasks.
 */
#ifndef SF_API_EXECUTIONS_H
#define SF_API_EXECUTIONS_H

#include "api/objects.h"
#include "store/execution/status.h"

/* --- start_functions.c, start_options.c: one name, one run (3.1 of the design) --- */

/* A call that starts executions of a machine */
typedef struct SfStart
{
	SfMachine  *machine;		/* of several versions, the first */
	SfMachine  *versions[SF_ALIAS_MAX_ROUTES];	/* that an alias names */
	SfRoute		routes[SF_ALIAS_MAX_ROUTES];	/* their shares of the starts */
	int			nversions;		/* 0: machine alone */
	const char *qualifier;		/* the version or the alias that is named; or NULL */
	SfIfExists	if_exists;
	bool		quiet;			/* the outcomes tell what notices would */
	bool		has_priority;	/* else the machine's counts */
	int			priority;
	const Jsonb *options;		/* of sf_start() with options, for features; or NULL */
} SfStart;

extern SfIfExists sf_start_if_exists(const char *text);
extern SfStart sf_start_prepare(const char *state_machine, int version,
								SfIfExists if_exists, bool quiet);
extern SfStart sf_start_prepare_options(const char *state_machine, const Jsonb *options, bool many,
										char **name);
extern void sf_start_set_priority(SfStart *start, int priority);
extern SfExecution *sf_start_form(const SfStart *start, Jsonb *input, const char *name);
extern void sf_start_all(const SfStart *start, SfExecution *const *executions, int n,
						 SfStartOutcome *outcomes);

/* --- run_functions.c --- */

extern void sf_start_run(const char *execution_id);

/* --- control_functions.c --- */

extern TimestampTz sf_control_redrive_once(const char *id, const char *client_token);
extern void sf_control_resume(SfExecution *execution, SfRedrivenFrom *from);
extern void sf_control_redrive_notice(const SfExecution *execution,
									   const SfRedrivenFrom *from);

/* --- activity_functions.c --- */

extern List *sf_object_claim_tasks(const SfActivity *activity, char *worker, int max_tasks);

#endif							/* SF_API_EXECUTIONS_H */
