/*
 * verdict.h
 *		Whether a database is to be worked on.
 */
#ifndef SF_WORKER_VERDICT_H
#define SF_WORKER_VERDICT_H

/* Whether this database is to be worked on at all */
typedef enum SfVerdict
{
	SF_VERDICT_MAY_WORK,
	SF_VERDICT_NOT_DRIVEN,		/* another copy, disabled, or of another schema */
	SF_VERDICT_NO_EXTENSION
} SfVerdict;

extern SfVerdict sf_verdict(void);
extern bool sf_verdict_prepare(void);

#endif							/* SF_WORKER_VERDICT_H */
