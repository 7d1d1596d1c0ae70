/*
 * conditions.h
 *		Condition names for SQLSTATEs.
 */
#ifndef SF_TASK_CONDITIONS_H
#define SF_TASK_CONDITIONS_H

/*
 * Name a SQLSTATE: PL/pgSQL's condition name, that of errors.h for class SF,
 * else the SQLSTATE itself.  The result is static or in CurrentMemoryContext.
 */
extern const char *sf_condition_name(int sqlerrcode);

#endif							/* SF_TASK_CONDITIONS_H */
