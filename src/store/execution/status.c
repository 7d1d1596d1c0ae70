/*
 * status.c
 *		Statuses of executions.
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
