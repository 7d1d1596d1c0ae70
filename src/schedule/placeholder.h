/*
 * placeholder.h
 *		Placeholders for facts about a run in a schedule's input: <aws.scheduler.…>.
 */
#ifndef SF_SCHEDULE_PLACEHOLDER_H
#define SF_SCHEDULE_PLACEHOLDER_H

#include "json/json.h"

/* Placeholders of Amazon EventBridge Scheduler: symbol, name */
#define SF_PLACEHOLDER_LIST(X) \
	X(EXECUTION_ID, "execution-id") \
	X(SCHEDULED_TIME, "scheduled-time") \
	X(SCHEDULE_ARN, "schedule-arn") \
	X(ATTEMPT_NUMBER, "attempt-number")

#define SF_PLACEHOLDER_ENUM(sym, name) SF_PLACEHOLDER_##sym,
typedef enum SfPlaceholder
{
	SF_PLACEHOLDER_LIST(SF_PLACEHOLDER_ENUM)
	SF_PLACEHOLDER_COUNT
} SfPlaceholder;

extern Jsonb *sf_placeholder_fill(const Jsonb *input, const char *const *values);

#endif							/* SF_SCHEDULE_PLACEHOLDER_H */
