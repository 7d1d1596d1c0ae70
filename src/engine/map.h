/*
 * map.h
 *		What the two modes of Map share, and what DISTRIBUTED adds.
 */
#ifndef SF_ENGINE_MAP_H
#define SF_ENGINE_MAP_H

#include "engine/driver.h"
#include "engine/join.h"
#include "store/map_run.h"

/* --- map.c --- */

/* MaxConcurrency and its like, negative ones too; 0 where there is none. */
extern bool sf_map_count(SfStep *step, const SfValueField *field,
						 const char *name, int64 *count, SfError *error);

/* ToleratedFailurePercentage; 0 where there is none. */
extern bool sf_map_percentage(SfStep *step, double *percentage, SfError *error);

/* MaxConcurrency, into the branch; 0 is without limit. */
extern bool sf_map_concurrency(SfStep *step, SfError *error);

/* Show what is tolerated, as far as the state says, to whoever looks on. */
extern void sf_map_trace_tolerated(SfStep *step, int64 count, double percentage);

/* The array that a Map without ItemReader iterates over. */
extern bool sf_map_items(SfStep *step, Jsonb **items, SfError *error);

/* The input of one iteration: the item, or what ItemSelector makes of it. */
extern bool sf_map_iteration_input(SfStep *step, const JsonbValue *item,
								   int index, Jsonb **input, SfError *error);

/* {"length": n} */
extern Jsonb *sf_map_length(int length);

/* --- distributed.c: Map in mode DISTRIBUTED --- */

/* A child execution to begin */
typedef struct SfMapChild
{
	Jsonb	   *input;
	int			items;			/* that it stands for */
} SfMapChild;

extern SfStepOutcome sf_distributed_enter(SfStep *step);
extern SfStepOutcome sf_distributed_resume(SfStep *step);	/* a task has an outcome */
extern SfStepOutcome sf_distributed_continue(SfStep *step);	/* children may begin */
extern SfStepOutcome sf_distributed_joined(SfStep *step);	/* all have ended */

/* The resource of the task that a Distributed Map is at. */
extern const SfResource *sf_distributed_resource(const SfState *state,
												 const SfBranch *branch);

/* "…:mapRun:machine/label:uuid" and "machine/label:name", the child's id. */
extern char *sf_map_run_arn(const SfExecution *execution, const SfState *state,
							const char *uuid);
extern char *sf_map_child_id(const SfExecution *execution, const SfState *state,
							 const char *uuid, int index);

/* --- item_reader.c, result_writer.c: the tasks of a Distributed Map --- */

/* Carry out the task that a Distributed Map is at, as its owner. */
extern void sf_distributed_run_task(const SfRun *run, const SfBranch *branch,
									const SfTaskCall *call, SfTaskOutcome *out);

/* Read items into the run; the outcome's output is their number. */
extern void sf_item_reader_run(const SfMapRun *map_run, const SfState *state,
							   const SfTaskCall *call, SfTaskOutcome *out);

/* Write the results of the run; the outcome's output is ResultWriterDetails. */
extern void sf_result_writer_run(const SfMapRun *map_run, const SfRun *run,
								 const SfState *state, const SfTaskCall *call,
								 SfTaskOutcome *out);

/* {"mapRunArn": …, "redriveCount": …} */
extern Jsonb *sf_map_run_redriven_extra(const SfExecution *execution,
										const SfState *state,
										const SfMapRun *map_run);

/* Results in the form that WriterConfig asks for. */
typedef enum SfResultForm
{
	SF_RESULT_NONE,				/* with all that is known of the child */
	SF_RESULT_COMPACT,			/* outputs */
	SF_RESULT_FLATTEN			/* elements of outputs that are arrays */
} SfResultForm;

extern SfResultForm sf_result_form(const Jsonb *writer_config,
								   SfResultForm otherwise);

/*
 * Add one child's result to an array under construction; returns how many.
 * What the array needs until it is finished goes into the context keep.
 */
extern int	sf_result_add(SfJsonBuilder *b, const SfMapResult *result,
						  SfResultForm form, const char *machine,
						  MemoryContext keep);

/* --- map_run.c: effects and children --- */

/* Carry out what a step decided about a run. */
extern void sf_map_run_apply(SfRun *run, SfStep *step);

/* A run for the step of a branch; NULL when there is none. */
extern SfMapRun *sf_map_run_of(const SfBranch *branch);

/*
 * Results of all children as an array; NULL when they are larger than a
 * payload may be.
 */
extern Jsonb *sf_map_run_outputs(const SfRun *run, const SfBranch *branch);

/* A child execution has ended, in this slice or from outside. */
typedef struct SfChildEnd
{
	SfBranchKey parent;
	int64		map_run_no;
	const SfProgram *program;
	SfStatus	status;
	int			items;
} SfChildEnd;

/* Note how a child ended, for sf_map_run_children_ended; NULL: it is none. */
extern SfChildEnd *sf_map_run_child_end(const SfExecution *execution,
										const SfProgram *program);

/* Count ended children against their parents; a List of SfChildEnd. */
extern void sf_map_run_children_ended(List *ends);

/*
 * End the running children of a join as ABORTED; returns how many somebody
 * else has in hand just now.
 */
extern int	sf_map_run_abort(SfBranchKey parent, int64 map_run_no);

/* End the running children of all runs of an execution that ends. */
extern void sf_map_run_abort_all(const SfExecution *execution);

/* Go on with a run whose execution is redriven; returns how many run. */
extern int	sf_map_run_redrive(const SfExecution *execution,
							   const SfBranch *branch, TimestampTz now);

#endif							/* SF_ENGINE_MAP_H */
