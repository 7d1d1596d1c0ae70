/*
 * placeholder.h
 *		Placeholders for facts about a run in a schedule's input: <aws.scheduler.…>
 *		and <sfflow.…>.
 */
#ifndef SF_SCHEDULE_PLACEHOLDER_H
#define SF_SCHEDULE_PLACEHOLDER_H

#include "json/json.h"

/* Placeholders of Amazon EventBridge Scheduler, and sfflow's own: symbol, name */
#define SF_PLACEHOLDER_LIST(X) \
	X(EXECUTION_ID, "aws.scheduler.execution-id") \
	X(SCHEDULED_TIME, "aws.scheduler.scheduled-time") \
	X(SCHEDULE_ARN, "aws.scheduler.schedule-arn") \
	X(ATTEMPT_NUMBER, "aws.scheduler.attempt-number") \
	X(LOCAL_TIME, "sfflow.scheduled-time") \
	X(LOCAL_DATE, "sfflow.scheduled-date")

#define SF_PLACEHOLDER_ENUM(sym, name) SF_PLACEHOLDER_##sym,
typedef enum SfPlaceholder
{
	SF_PLACEHOLDER_LIST(SF_PLACEHOLDER_ENUM)
	SF_PLACEHOLDER_COUNT
} SfPlaceholder;

extern Jsonb *sf_placeholder_fill(const Jsonb *input, const char *const *values);

#endif							/* SF_SCHEDULE_PLACEHOLDER_H */
