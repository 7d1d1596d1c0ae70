/*
 * schedule_functions.h
 *		Declarations that the functions about schedules share.
 */
#ifndef SF_API_SCHEDULE_FUNCTIONS_H
#define SF_API_SCHEDULE_FUNCTIONS_H

#include "store/schedule.h"

extern bool sf_schedules_is_visible(const SfSchedule *schedule);
extern void sf_schedules_require_owner(const char *name);
extern SfSchedule *sf_schedules_find_visible(const char *name);
extern SfSchedule *sf_schedules_find_own(const char *name, SfLock lock);
extern Oid	sf_schedules_set_owner(const char *name, Oid owner);

#endif							/* SF_API_SCHEDULE_FUNCTIONS_H */
