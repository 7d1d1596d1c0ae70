/*
 * targets.h
 *		What an operator's action is about: a state machine, a state of it, a resource.
 */
#ifndef SF_API_TARGETS_H
#define SF_API_TARGETS_H

#include "store/machine.h"
#include "store/privilege.h"

extern SfMachine *sf_object_machine_or_state(const char *text, SfPrivilege needed, char **state);
extern void sf_object_keep_machine(int machine_no, const char *name);
extern void sf_object_require_state(int machine_no, int version, const char *machine,
									const char *state);
extern bool sf_object_is_resource(const char *text);

#endif							/* SF_API_TARGETS_H */
