/*
 * schedule_functions.h
 *		Declarations that the functions about schedules share.
 */
#ifndef SF_API_SCHEDULE_FUNCTIONS_H
#define SF_API_SCHEDULE_FUNCTIONS_H

#include "store/schedule.h"

/* May the current user see a schedule: is it a member of the owner, or may it READ the machine? */
extern bool sf_schedule_is_visible(const SfSchedule *schedule);

/*
 * Give a schedule that the caller owns, and its pg_cron job, to another role;
 * the owner before.
 */
extern Oid	sf_schedule_set_owner(const char *name, Oid owner);

#endif							/* SF_API_SCHEDULE_FUNCTIONS_H */
