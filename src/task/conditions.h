/*
 * conditions.h
 *		Condition names for SQLSTATEs.
 */
#ifndef SF_TASK_CONDITIONS_H
#define SF_TASK_CONDITIONS_H

extern const char *sf_condition_name(int sqlerrcode);

#endif							/* SF_TASK_CONDITIONS_H */
