/*
 * schedule_functions.h
 *		Declarations that the functions about schedules share.
 */
#ifndef SF_API_SCHEDULE_FUNCTIONS_H
#define SF_API_SCHEDULE_FUNCTIONS_H

#include "store/schedule.h"

/* Tell whether the current user is a member of a schedule's owner, or may READ its machine. */
extern bool sf_schedule_is_visible(const SfSchedule *schedule);

/*
 * Give a schedule that the caller owns, and its pg_cron job, to another role;
 * returns the previous owner.
 */
extern Oid	sf_schedule_set_owner(const char *name, Oid owner);

#endif							/* SF_API_SCHEDULE_FUNCTIONS_H */
