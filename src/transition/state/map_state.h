/*
 * map_state.h
 *		What the two modes of Map share, and what DISTRIBUTED adds.
 */
#ifndef SF_TRANSITION_MAP_STATE_H
#define SF_TRANSITION_MAP_STATE_H

#include "store/map_run/map_run.h"
#include "transition/state/join.h"

/* --- map_state.c --- */

extern bool sf_map_integer(SfStep *step, const SfValueField *field,
						   const char *name, int64 *count, SfError *error);
extern bool sf_map_percentage(SfStep *step, double *percentage, SfError *error);
extern void sf_map_show_tolerated(SfStep *step, int64 count, double percentage);
extern bool sf_map_items(SfStep *step, Jsonb **items, SfError *error);
extern bool sf_map_iteration_input(SfStep *step, Jsonb *item, int index,
								   Jsonb **input, SfError *error);
extern Jsonb *sf_map_length(int length);

/* --- distributed_map.c: Map in mode DISTRIBUTED --- */

/* Items that are looked at, and bytes that are handed out, in one step */
#define SF_MAP_STEP_ITEMS	10000
#define SF_MAP_STEP_BYTES	(4 * 1024 * 1024)

extern SfStepNext sf_distributed_enter(SfStep *step);
extern SfStepNext sf_distributed_resume(SfStep *step);		/* a task has an outcome */
extern SfStepNext sf_distributed_continue(SfStep *step);	/* item executions may begin */
extern SfStepNext sf_distributed_joined(SfStep *step);		/* all have ended */

extern SfStepNext sf_distributed_write(SfStep *step);
extern bool sf_distributed_is_reading(const SfState *state, const SfBranch *branch);
extern const SfResource *sf_distributed_resource(const SfState *state,
												 const SfBranch *branch);

/* "…:mapRun:machine/label:uuid" and "machine/label:name", the id of an item execution. */
extern char *sf_map_arn(const SfExecution *execution, const SfState *state,
						const char *uuid);
extern char *sf_map_execution_id(const SfExecution *execution, const SfState *state,
								 const char *uuid, int index);

extern Jsonb *sf_map_redriven_extra(const SfExecution *execution,
									const SfState *state,
									const SfMapRun *map_run);

#endif							/* SF_TRANSITION_MAP_STATE_H */
