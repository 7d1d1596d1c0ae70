/*
 * origin.h
 *		What has an execution started, or an event emitted: a session, a rule or a task.
 */
#ifndef SF_RUN_ORIGIN_H
#define SF_RUN_ORIGIN_H

#include "json/json.h"

/* What has an execution started, or an event emitted, that comes now */
typedef enum SfOriginKind
{
	SF_ORIGIN_SESSION,			/* a statement of the session, or the engine by itself */
	SF_ORIGIN_RULE,				/* the target of a rule */
	SF_ORIGIN_TASK				/* a task that runs in this backend */
} SfOriginKind;

/* RULE */
typedef struct SfRuleOrigin
{
	int			depth;			/* rules that led to it */
	const Jsonb *event;			/* has it start a machine, or give an activity a task; NULL: it calls a function */
} SfRuleOrigin;

/* TASK */
typedef struct SfTaskOrigin
{
	int64		execution_no;
} SfTaskOrigin;

/* One lies in another: a function that is the target of a rule may run an execution with sf_run, and so its tasks. */
typedef struct SfOrigin
{
	SfOriginKind kind;
	const struct SfOrigin *outer;	/* RULE, TASK: what it lies in */
	union
	{
		SfRuleOrigin rule;		/* sf_origin_rule(origin) */
		SfTaskOrigin task;		/* sf_origin_task(origin) */
	};
} SfOrigin;

/* The rule in which something has its origin. */
static inline const SfRuleOrigin *
sf_origin_rule(const SfOrigin *origin)
{
	Assert(origin->kind == SF_ORIGIN_RULE);
	return &origin->rule;
}

/* The task in which something has its origin. */
static inline const SfTaskOrigin *
sf_origin_task(const SfOrigin *origin)
{
	Assert(origin->kind == SF_ORIGIN_TASK);
	return &origin->task;
}

/* The innermost one, never NULL */
extern const SfOrigin *sf_origin_innermost;

/* Find the innermost origin of a kind, RULE or TASK; NULL: there is none. */
static inline const SfOrigin *
sf_origin_of(SfOriginKind kind)
{
	const SfOrigin *origin = sf_origin_innermost;

	while (origin != NULL && origin->kind != kind)
		origin = origin->outer;
	return origin;
}

#endif							/* SF_RUN_ORIGIN_H */
