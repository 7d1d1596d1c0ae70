/*
 * subtransaction.h
 *		Running a function in a subtransaction.
 */
#ifndef SF_BASE_SUBTRANSACTION_H
#define SF_BASE_SUBTRANSACTION_H

/*
 * Call work(arg) in a subtransaction, in the current memory context, which is
 * also current afterwards.  True keeps what it did; false rolls it back, and so
 * does an error, which is returned (else NULL).  end(arg), unless it is NULL, is
 * called last in the subtransaction, also after an error; it raises none itself.
 */
extern ErrorData *sf_subtransaction_run(bool (*work) (void *arg),
										void (*end) (void *arg), void *arg);

#endif							/* SF_BASE_SUBTRANSACTION_H */
