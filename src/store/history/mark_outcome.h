/*
 * mark_outcome.h
 *		How an operator has marked a job: what rows of marks and events JobMarked say.
 */
#ifndef SF_STORE_MARK_OUTCOME_H
#define SF_STORE_MARK_OUTCOME_H

/* Outcomes: symbol, name */
#define SF_MARK_LIST(X) \
	X(SUCCESS, "success") \
	X(SKIP, "skip") \
	X(FAILURE, "failure")

#define SF_MARK_ENUM(sym, name) SF_MARK_##sym,
typedef enum SfMarkOutcome
{
	SF_MARK_LIST(SF_MARK_ENUM)
	SF_MARK_COUNT
} SfMarkOutcome;

extern const char *sf_mark_outcome_name(SfMarkOutcome outcome);
extern SfMarkOutcome sf_mark_outcome_of(const char *name);

#endif							/* SF_STORE_MARK_OUTCOME_H */
