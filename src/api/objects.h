/*
 * objects.h
 *		Find state machines, executions and activities that a caller may know of.
 */
#ifndef SF_API_OBJECTS_H
#define SF_API_OBJECTS_H

#include "base/version/compat.h"
#include "run/execution/lifecycle.h"
#include "store/execution/execution.h"
#include "store/execution/execution_head.h"
#include "store/role/named_lock.h"
#include "store/role/privilege.h"
#include "store/state_machine/machine.h"
#include "store/task/task.h"

extern SfMachine *sf_arg_machine(const char *text, SfRight needed);
extern SfMachine *sf_arg_machine_routes(const char *text, SfRight needed,
										SfRoute *routes, int *n);
extern int *sf_object_machines(int only, Oid owner, SfRight needed, int *n);
extern SfMachine *sf_object_version(const SfMachine *machine, int version);
extern void sf_object_keep_here(const SfExecution *execution);
extern bool sf_object_keep_number(int64 execution_no);
extern void sf_object_keep_execution(const SfExecution *execution);
extern SfExecution *sf_arg_execution(const char *text, SfLock lock,
									 SfRight needed);
extern void sf_arg_map_run_missing(const char *text) pg_attribute_noreturn();
extern void sf_arg_map_run(const char *text, SfRight needed, int64 *execution_no,
						   int64 *map_run_no);
extern SfActivity *sf_arg_activity(const char *text, SfRight needed);
extern void sf_object_require(SfObjectKind kind, const char *name, Oid owner,
							  SfRight needed);
extern void sf_object_missing(SfObjectKind kind, const char *name) pg_attribute_noreturn();
extern void sf_object_missing_version(const SfMachine *machine, int version) pg_attribute_noreturn();
extern void sf_object_missing_alias(const SfMachine *machine, const char *name) pg_attribute_noreturn();
extern int	sf_object_errdetail_missing(void);
extern char *sf_object_target(SfObjectKind kind, const char *name);
extern int	sf_object_errhint_grant(SfObjectKind kind, const char *name, SfRight needed);
extern Oid	sf_object_lock(SfObjectKind kind, const char *name, SfNamedLock how);
extern Oid	sf_object_lock_own(SfObjectKind kind, const char *name, SfNamedLock how);
extern void sf_deny_create(void) pg_attribute_noreturn();

/* --- what an operator's action is about: a state machine, a state of it, a resource --- */

extern SfMachine *sf_object_machine_or_state(const char *text, SfRight needed, char **state);
extern void sf_object_lock_machine(int machine_no, const char *name);
extern SfMachine *sf_object_lock_owned_machine(const SfMachine *machine);
extern void sf_object_require_state(int machine_no, int version, const char *machine,
									const char *state);
extern bool sf_object_is_resource(const char *text);

/* --- what is read of an execution: monitoring/check_functions.c, view/history_functions.c --- */

/* Of the arguments version, execution_no and branch_no: a branch, or NULL, and its execution as a draft. */
extern struct SfDraft *sf_object_read_branch(FunctionCallInfo fcinfo, SfBranch **branch);

/* Takes an event, the name of its state (NULL: none) and its details. */
typedef void (*SfHistoryEventPut) (const SfHistoryEvent *event, const char *state, const Jsonb *details, void *arg);

extern void sf_object_each_event(const SfExecutionHead *execution, SfHistoryEventPut put, void *arg);

#endif							/* SF_API_OBJECTS_H */
