/*
 * guest.h
 *		A task in a session that serves another role than its owner.
 */
#ifndef SF_SQL_TASK_GUEST_H
#define SF_SQL_TASK_GUEST_H

#include "nodes/pg_list.h"
#include "utils/portal.h"

/* A cursor that was there before the task, and the state that it goes back to */
typedef struct SfShelteredPortal
{
	Portal		portal;
	PortalStatus status;
} SfShelteredPortal;

typedef struct SfGuest
{
	struct SfGuest *outer;		/* the task around this one */
	bool		is_on;
	bool		ends_locks;		/* the session held no advisory lock before */
	MemoryContext context;		/* holds what follows */
	List	   *made;			/* ObjectAddress of objects that the task created */
	List	   *portals;		/* SfShelteredPortal */
} SfGuest;

extern void sf_guest_begin(SfGuest *guest);
extern void sf_guest_clear(const SfGuest *guest);
extern void sf_guest_end(SfGuest *guest);
extern SfGuest *sf_guest_current(void);
extern bool sf_guest_holds_advisory_lock(void);

/* --- temp_schema.c: what tasks may do with the temporary schema of the session --- */

extern void sf_temp_schema_init(void);
extern bool sf_temp_schema_exists(void);
extern uint64 sf_temp_schema_changes(void);
extern void sf_temp_schema_check(const SfGuest *guest);

#endif							/* SF_SQL_TASK_GUEST_H */
