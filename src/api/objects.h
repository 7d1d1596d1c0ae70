/*
 * objects.h
 *		Find state machines, executions and activities that a caller may know of.
 */
#ifndef SF_API_OBJECTS_H
#define SF_API_OBJECTS_H

#include "base/compat.h"
#include "store/execution.h"
#include "store/machine.h"
#include "store/privilege.h"
#include "store/task.h"

/*
 * Find a machine by "machine", "machine/3" or an ARN, with that version.  Raises
 * SF003 if it does not exist or the caller has no right on it, and 42501 if the
 * caller has a right, but not the one that is needed.
 */
extern SfMachine *sf_arg_machine(const char *text, SfPrivilege needed);

/* The same for an execution by id or ARN (SF005); it is locked after the check. */
extern SfExecution *sf_arg_execution(const char *text, SfLock lock,
									 SfPrivilege needed);

/* The same for an activity by name, "activity:name" or ARN (SF018). */
extern SfActivity *sf_arg_activity(const char *text, SfPrivilege needed);

/* The same for an object (SF_OBJECT_…) that was found otherwise. */
extern void sf_object_require(char kind, const char *name, Oid owner,
							  SfPrivilege needed);

/* Raise the error for an object that does not exist, as far as the caller may know. */
extern void sf_object_missing(char kind, const char *name) pg_attribute_noreturn();

/* Raise 42501: the caller may not create state machines and activities. */
extern void sf_deny_create(void) pg_attribute_noreturn();

/* Raise the notice that names the states from which a redrive continues. */
extern void sf_redrive_notice(const SfExecution *execution, const char *from);

#endif							/* SF_API_OBJECTS_H */
