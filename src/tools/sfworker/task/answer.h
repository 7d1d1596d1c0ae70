/*
 * answer.h
 *		What an error of the database means for an answer.
 */
#ifndef SFW_ANSWER_H
#define SFW_ANSWER_H

#include "tools/sfworker/task/claimed_task.h"

/* What is to be done with an answer that has failed */
typedef enum SfwAnswerFate
{
	SFW_ANSWER_REFUSED,			/* the task takes none */
	SFW_ANSWER_CHANGED,			/* send it as it is now */
	SFW_ANSWER_MAY_PASS			/* send it again later */
} SfwAnswerFate;

extern bool sfw_answer_is_refused(const char *sqlstate);
extern bool sfw_answer_is_locked(const char *sqlstate);
extern SfwAnswerFate sfw_answer_change(SfwTask *task, const char *sqlstate, const char *message);

#endif							/* SFW_ANSWER_H */
