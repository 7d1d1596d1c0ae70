/*
 * subtransaction.h
 *		Running a function in a subtransaction.
 */
#ifndef SF_BASE_SUBTRANSACTION_H
#define SF_BASE_SUBTRANSACTION_H

extern ErrorData *sf_subtransaction_run(bool (*work) (void *arg),
										void (*end) (void *arg), void *arg);

#endif							/* SF_BASE_SUBTRANSACTION_H */
