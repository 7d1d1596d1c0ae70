/*
 * mark_outcome.c
 *		How an operator has marked a job: what rows of marks and events JobMarked say.
 */
#include "postgres.h"

#include "db/table.h"
#include "store/history/mark_outcome.h"

static const char *const names[] = {SF_MARK_OUTCOME_LIST(SF_MARK_OUTCOME_NAME)};

/* Name an outcome as sf_mark takes it. */
const char *
sf_mark_outcome_name(SfMarkOutcome outcome)
{
	return names[outcome];
}

/* The outcome that a row or an event names */
SfMarkOutcome
sf_mark_outcome_of(const char *name)
{
	return sf_word_number(name, "outcome", names, lengthof(names));
}
