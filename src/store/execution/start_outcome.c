/*
 * start_outcome.c
 *		What came of starts.
 */
#include "postgres.h"

#include "store/execution/start_outcome.h"

/* The word for what came of a start. */
const char *
sf_execution_start_outcome_name(SfStartOutcome outcome)
{
#define WORD(sym, word) [SF_START_OUTCOME_##sym] = word,
	static const char *const words[] = {SF_START_OUTCOME_LIST(WORD)};

	return words[outcome];
}
