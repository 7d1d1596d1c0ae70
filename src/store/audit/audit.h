/*
 * audit.h
 *		Rows of _sfflow.audit: what operators did.
 */
#ifndef SF_STORE_AUDIT_H
#define SF_STORE_AUDIT_H

#include "db/row.h"
#include "store/execution/execution.h"
#include "store/role/object_kind.h"

extern void sf_audit_note(const char *action, SfObjectKind kind, const char *object,
						  const char *target, const char *reason, const Jsonb *details);
extern void sf_audit_note_execution(const SfExecution *execution, const char *action,
									const char *reason, const Jsonb *details);
extern bool sf_audit_find_redrive(int64 execution_no, const char *client_token,
								  TimestampTz *redriven_at);
extern void sf_audit_delete_of_object(SfObjectKind kind, const char *object);

/* Rows that a batch of a purge has deleted: how many, and until when they were written */
typedef struct SfAuditBatch
{
	int			deleted;
	TimestampTz until;			/* at first 0, which is before all */
} SfAuditBatch;

extern void sf_audit_purge(TimestampTz before, int max_rows, SfAuditBatch *batch);

/* --- audit_list.c: pages of what operators did, newest first --- */

/* Which actions a page has; NULL: any */
typedef struct SfAuditQuery
{
	Oid			reader;			/* whose rights count */
	SfObjectKind kind;			/* of the object (SF_OBJECT_…) */
	const char *object;			/* its name; NULL: all that the reader may see */
	const char *target;			/* as the row has it */
	const char *action;
	const char *role;
	TimestampTz from;			/* done then, or later */
	TimestampTz before;
	int			max_rows;
} SfAuditQuery;

/* An action */
#define SF_AUDIT_FIELDS(X) \
	X(TimestampTz, at, TIMESTAMPTZ, NOT_NULL) \
	X(char *, action, TEXT, NOT_NULL) \
	X(char *, target, TEXT, NOT_NULL) \
	X(char *, execution_id, TEXT, NULLABLE) \
	X(char *, role, TEXT, NOT_NULL) \
	X(char *, session_role, TEXT, NOT_NULL) \
	X(char *, reason, TEXT, NULLABLE) \
	X(Jsonb *, details, JSONB, NULLABLE)

typedef struct SfAuditRow
{
	SF_AUDIT_FIELDS(SF_FIELD)
} SfAuditRow;

extern List *sf_audit_list(const SfAuditQuery *query);

#endif							/* SF_STORE_AUDIT_H */
