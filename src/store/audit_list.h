/*
 * audit_list.h
 *		Pages of what operators did, newest first.
 */
#ifndef SF_STORE_AUDIT_LIST_H
#define SF_STORE_AUDIT_LIST_H

#include "store/audit.h"

/* Which actions a page has; NULL: any */
typedef struct SfAuditQuery
{
	Oid			reader;			/* whose rights count */
	char		kind;			/* of the object (SF_OBJECT_…) */
	const char *object;			/* its name; NULL: all that the reader may see */
	const char *target;			/* as the row has it */
	const char *action;
	const char *role;
	TimestampTz from;			/* done then, or later */
	TimestampTz before;
	int			limit;
} SfAuditQuery;

/* An action */
typedef struct SfAuditRow
{
	TimestampTz at;
	char	   *action;
	char	   *target;
	char	   *execution_id;	/* or NULL */
	char	   *role;
	char	   *session_role;
	char	   *reason;			/* or NULL */
	Jsonb	   *details;		/* or NULL */
} SfAuditRow;

extern List *sf_audit_list(const SfAuditQuery *query);

#endif							/* SF_STORE_AUDIT_LIST_H */
