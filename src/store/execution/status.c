/*
 * status.c
 *		Statuses of executions, and what came of starts.
 */
#include "postgres.h"

#include "store/execution/status.h"

static const char *const names[] =
{
#define NAME(sym, number) [number] = #sym,
	SF_STATUS_LIST(NAME)
};

/* Name of an execution's status, as the views show it. */
const char *
sf_status_name(SfStatus status)
{
	return names[status];
}

/* The word for what came of a start. */
const char *
sf_execution_start_outcome_name(SfStartOutcome outcome)
{
#define WORD(sym, word) [SF_START_OUTCOME_##sym] = word,
	static const char *const words[] = {SF_START_OUTCOME_LIST(WORD)};

	return words[outcome];
}
