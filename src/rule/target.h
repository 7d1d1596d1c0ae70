/*
 * target.h
 *		What a rule calls, by its name: "nightly", "sql:shop.note", "activity:report",
 *		"notify:alarms".
 */
#ifndef SF_RULE_TARGET_H
#define SF_RULE_TARGET_H

#include "asl/program.h"
#include "store/rule.h"

typedef enum SfTargetKind
{
	SF_TARGET_MACHINE,			/* "machine", "machine/3" or an ARN: starts an execution */
	SF_TARGET_FUNCTION,			/* a SQL function, called as by a Task state */
	SF_TARGET_ACTIVITY,			/* starts an execution of a machine that is made for the
								 * rule, with one task of that activity */
	SF_TARGET_CHANNEL			/* NOTIFY */
} SfTargetKind;

typedef struct SfTarget
{
	SfTargetKind kind;
	const char *name;			/* of the machine (for ACTIVITY that of the rule), the
								 * activity or the channel */
	SfResource	resource;		/* FUNCTION */
} SfTarget;

extern SfTarget sf_target_parse(const char *text);
extern const char *sf_target_machine_of(const char *rule);

extern Jsonb *sf_target_input(const SfRule *rule, Jsonb *event, SfError *error);
extern void sf_target_check_input(const Jsonb *input);

#endif							/* SF_RULE_TARGET_H */
