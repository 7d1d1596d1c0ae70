/*
 * tries.h
 *		What happens to the branches of a slice that failed.
 *
 * When a slice fails, by an error in it or in its commit, nothing of it has
 * happened, and the error does not say which branch caused it.  The same three
 * steps follow, in a worker (each try is a transaction, worker/turn/turn.c) and in a
 * session (each is a subtransaction, api/execution/run_functions.c):
 *
 *	1.	The branches of the slice, sf_claim_touched(), run one by one.
 *	2.	A branch that fails by a conflict with others is tried again, SF_TRIES
 *		times in all, after pauses of random length.
 *	3.	When that does not help, or the error is the branch's own, it ends with
 *		States.Runtime and the error's text: sf_slice_fail_branch().
 */
#ifndef SF_RUN_TRIES_H
#define SF_RUN_TRIES_H

extern void sf_tries_run(bool (*try_once) (void *arg, bool last), void *arg);

#endif							/* SF_RUN_TRIES_H */
