/*
 * status_event.h
 *		The events of EventBridge that tell of changes of statuses.
 */
#ifndef SF_RULE_STATUS_EVENT_H
#define SF_RULE_STATUS_EVENT_H

#include "rule/observe.h"

extern Jsonb *sf_observe_event(const SfChange *change, const SfExecution *execution,
							  const char *id, bool with_payload);
extern Jsonb *sf_observe_notice_event(const SfNotice *notice, const char *id);
extern Jsonb *sf_observe_event_cut(const Jsonb *event);

#endif							/* SF_RULE_STATUS_EVENT_H */
