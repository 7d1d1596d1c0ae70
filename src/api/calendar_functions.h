/*
 * calendar_functions.h
 *		Declarations that functions about calendars share.
 */
#ifndef SF_API_CALENDAR_FUNCTIONS_H
#define SF_API_CALENDAR_FUNCTIONS_H

#include "store/calendar.h"

extern Oid	sf_calendars_set_owner(const char *name, Oid owner);

#endif							/* SF_API_CALENDAR_FUNCTIONS_H */
