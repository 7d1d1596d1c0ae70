/*
 * mark_outcome.h
 *		How an operator has marked a job: what events JobMarked say, and rows of marks (feature/hold/).
 *
 * The events are part of histories, which views read whether the library marks jobs or not.
 */
#ifndef SF_STORE_MARK_OUTCOME_H
#define SF_STORE_MARK_OUTCOME_H

/* Outcomes: symbol, name */
#define SF_MARK_OUTCOME_LIST(X) \
	X(SUCCESS, "success") \
	X(SKIP, "skip") \
	X(FAILURE, "failure")

#define SF_MARK_OUTCOME_ENUM(sym, name) SF_MARK_OUTCOME_##sym,
typedef enum SfMarkOutcome
{
	SF_MARK_OUTCOME_LIST(SF_MARK_OUTCOME_ENUM)
	SF_MARK_OUTCOME_COUNT
} SfMarkOutcome;

#define SF_MARK_OUTCOME_NAME(sym, name) name,

extern const char *sf_mark_outcome_name(SfMarkOutcome outcome);
extern SfMarkOutcome sf_mark_outcome_of(const char *name);

#endif							/* SF_STORE_MARK_OUTCOME_H */
