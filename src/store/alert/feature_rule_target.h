/*
 * feature_rule_target.h
 *		What rules call that is of another feature: its events by key.
 */
#ifndef SF_STORE_FEATURE_RULE_TARGET_H
#define SF_STORE_FEATURE_RULE_TARGET_H

#include "json/json.h"

/* What a feature does that has the events by key that rules may emit: target "event:paid" */
typedef struct SfRuleTarget
{
	/* Raise unless a role may emit events of a type. */
	void		(*require_emit) (const char *name, Oid owner);

	/* Emit one as the role, with key, payload and id (else: another one) of an object. */
	void		(*emit) (const char *name, Oid owner, Jsonb *event, char *id);

	/* How many rules led to what an execution has received */
	int			(*depth_of_received) (int64 execution_no);
} SfRuleTarget;

#endif							/* SF_STORE_FEATURE_RULE_TARGET_H */
