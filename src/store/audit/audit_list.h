/*
 * audit_list.h
 *		Pages of what operators did, newest first.
 */
#ifndef SF_STORE_AUDIT_LIST_H
#define SF_STORE_AUDIT_LIST_H

#include "db/row.h"
#include "store/audit/audit.h"

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
	int			limit;
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

#endif							/* SF_STORE_AUDIT_LIST_H */
