/*
 * step.h
 *		A transition in the making, for the state handlers.
 *
 * A handler changes its own copy of the branch (step->branch) and adds effects.
 */
#ifndef SF_TRANSITION_STEP_H
#define SF_TRANSITION_STEP_H

#include <limits.h>

#include "transition/transition.h"

typedef struct SfStep
{
	const SfLoaded *loaded;
	const SfProgram *program;
	const SfState *state;		/* the branch's present state */
	SfTransition *transition;
	SfBranch   *branch;			/* its new value, in the transition */
	const SfStimulus *stimulus;
	TimestampTz now;
	TimestampTz execution_started_at;
	SfEnv		env;			/* input, context, variables of the state */
	Jsonb	   *map_item;		/* item for $$.Map.Item, or NULL */
	Jsonb	   *map_key;		/* its key, where items come from an object */
	int			map_index;		/* its index, or SF_NO_MAP_INDEX */
	int			entered_previous;	/* previous_id of the event that entered the
									 * state, SF_CHAIN: it was entered before */
	struct
	{
		Jsonb	   *payload;
		int			event;
	}			stored[4];		/* payloads that events of this step have */
	int			nstored;
	int			nevents;		/* events so far, those of the run included */
} SfStep;

/* --- step_event.c: effects, events, the inspection of a test --- */

extern SfEffect *sf_step_effect(SfStep *step, SfEffectKind kind);
extern bool sf_step_has(SfStep *step, uint32 need);
extern void sf_step_show(SfStep *step, SfInspectionField field, Jsonb *value);
extern void sf_step_prefix(SfStep *step, SfError *error);
extern int	sf_step_event(SfStep *step, SfHistoryEventType type, Jsonb *payload,
						  Jsonb *extra);
extern int	sf_step_side_event(SfStep *step, SfHistoryEventType type, Jsonb *payload,
							   Jsonb *extra, int previous);
extern int	sf_step_event_storing(const SfStep *step, const Jsonb *payload);
extern void sf_step_begin_execution(SfStep *step, Jsonb *input);

/* --- for state handlers --- */

/* Handlers by state type: enter (or do again), and take a stimulus. */
extern SfStepNext sf_pass_enter(SfStep *step);
extern SfStepNext sf_choice_enter(SfStep *step);
extern SfStepNext sf_wait_enter(SfStep *step);
extern SfStepNext sf_wait_resume(SfStep *step);
extern SfStepNext sf_succeed_enter(SfStep *step);
extern SfStepNext sf_fail_enter(SfStep *step);
extern SfStepNext sf_task_state_enter(SfStep *step);
extern SfStepNext sf_task_state_resume(SfStep *step);
extern SfStepNext sf_task_state_announced(SfStep *step);
extern SfStepNext sf_task_state_handed_out(SfStep *step);
extern SfStepNext sf_task_state_waits(SfStep *step);
extern SfStepNext sf_task_state_store_outcome(SfStep *step);
extern SfStepNext sf_parallel_enter(SfStep *step);
extern SfStepNext sf_map_enter(SfStep *step);
extern SfStepNext sf_map_continue(SfStep *step);
extern SfStepNext sf_join_resume(SfStep *step);
extern SfStepNext sf_net_enter(SfStep *step);
extern SfStepNext sf_net_continue(SfStep *step);
extern bool sf_net_may_begin(SfStep *step, SfStepNext *next);
extern Jsonb *sf_net_result(const SfStep *step);
extern bool sf_choice_eval(SfStep *step, const SfChoiceRule *rule, bool *is_true,
						   SfError *error);

/* How a task ended that was not answered */
typedef enum SfUnanswered
{
	SF_UNANSWERED_TIMED_OUT,	/* its state goes on with the error */
	SF_UNANSWERED_ABORTED		/* its branch has ended with a sibling, a parent or the execution */
} SfUnanswered;

extern bool sf_task_state_stops_nested(const SfState *state, SfUnanswered unanswered);

/* --- step_end.c: the ways out of a state, and how a branch ends --- */

extern SfStepNext sf_step_exit(SfStep *step, Jsonb *output, int next,
							   Jsonb *assigned);
extern SfStepNext sf_step_succeed(SfStep *step, Jsonb *result);
extern SfStepNext sf_step_fail(SfStep *step, SfError *error);
extern SfStepNext sf_step_fail_branch(SfStep *step, const SfError *error);
extern SfStepNext sf_step_skip_net_job(SfStep *step);
extern SfStepNext sf_step_abort(SfStep *step);
extern SfStepNext sf_step_stop(SfStep *step);
extern SfStepNext sf_step_redrive(SfStep *step);
extern void sf_step_clear_branch_error(SfBranch *branch);
extern void sf_step_forget_map_run(SfBranch *branch);
extern void sf_step_forget_attempt(SfBranch *branch);
extern void sf_step_forget_retries(SfBranch *branch);
extern void sf_step_set_branch_error(SfBranch *branch, const SfError *error);

/* --- dataflow.c: InputPath … OutputPath --- */

extern bool sf_flow_input(SfStep *step, SfError *error);
extern bool sf_flow_parameters(SfStep *step, Jsonb **result, SfError *error);
extern bool sf_flow_output(SfStep *step, Jsonb *result, Jsonb **output,
						   SfError *error);
extern SfEvalStatus sf_flow_value(SfStep *step, const SfValueField *field,
								  const char *name, Jsonb **value, SfError *error);
extern bool sf_flow_read_integer(const char *text, int64 *number);
extern bool sf_flow_integer(SfStep *step, const SfValueField *field,
							const char *name, int64 minimum, int64 *number,
							SfError *error);
extern bool sf_flow_concurrency(SfStep *step, const SfValueField *field, SfError *error);
extern char *sf_flow_shown(Jsonb *value);
extern bool sf_flow_refuse_type(const char *expression, const char *field,
								const char *expected, Jsonb *value,
								SfError *error);
extern bool sf_flow_check_size(SfStep *step, const Jsonb *output, SfError *error);
extern bool sf_flow_check_input_size(SfStep *step, const Jsonb *input, SfError *error);
extern bool sf_flow_assign(SfStep *step, const SfTemplate *assign,
						   const char *field, Jsonb **assigned, SfError *error);
extern bool sf_flow_path(SfStep *step, const SfPathField *field,
						 Jsonb **result, SfError *error);

/* --- context.c --- */

extern Jsonb *sf_context_make(void *arg);

/* --- retry.c --- */

extern int64 sf_retry_next(const SfState *state, SfBranch *branch,
						   const SfError *error, double random, int *retrier);
extern const SfCatcher *sf_catch_find(const SfState *state,
									  const SfError *error);

#endif							/* SF_TRANSITION_STEP_H */
