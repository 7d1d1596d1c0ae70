/*
 * audit.h
 *		Rows of _sfflow.audit: what operators did.
 */
#ifndef SF_STORE_AUDIT_H
#define SF_STORE_AUDIT_H

#include "store/execution/execution.h"
#include "store/role/object_kind.h"

extern void sf_audit_note(const char *action, SfObjectKind kind, const char *object,
						  const char *target, const char *reason, const Jsonb *details);
extern void sf_audit_note_execution(const SfExecution *execution, const char *action,
									const char *reason, const Jsonb *details);
extern bool sf_audit_find_redrive(int64 execution_no, const char *client_token,
								  TimestampTz *redriven_at);
extern void sf_audit_forget(SfObjectKind kind, const char *object);

/* Rows that a batch of a purge has deleted: how many, and until when they were written */
typedef struct SfAuditBatch
{
	int			deleted;
	TimestampTz until;			/* at first 0, which is before all */
} SfAuditBatch;

extern void sf_audit_purge(TimestampTz before, int limit, SfAuditBatch *batch);

#endif							/* SF_STORE_AUDIT_H */
