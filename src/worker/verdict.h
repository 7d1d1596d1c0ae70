/*
 * verdict.h
 *		Whether a database is to be worked on.
 */
#ifndef SF_WORKER_VERDICT_H
#define SF_WORKER_VERDICT_H

/* Whether this database is to be worked on at all */
typedef enum SfTurnVerdict
{
	SF_TURN_MAY_WORK,
	SF_TURN_NOT_DRIVEN,			/* another copy, disabled, or another version */
	SF_TURN_NO_EXTENSION
} SfTurnVerdict;

/*
 * Decide whether to work here.  It holds until the end of the transaction, for
 * which the extension is locked against DROP.
 */
extern SfTurnVerdict sf_verdict(void);

/*
 * Do what has to be done once before a database is worked on: take it over or
 * mark it as a copy (store/instance.h).  False: that is not for this version of
 * the library.
 */
extern bool sf_verdict_prepare(void);

#endif							/* SF_WORKER_VERDICT_H */
