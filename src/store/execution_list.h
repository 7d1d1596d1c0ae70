/*
 * execution_list.h
 *		Pages of executions, newest first.
 */
#ifndef SF_STORE_EXECUTION_LIST_H
#define SF_STORE_EXECUTION_LIST_H

#include "store/branch.h"

/* A place in a list: executions after it were requested before it. */
typedef struct SfListKey
{
	TimestampTz requested_at;
	int64		execution_no;
} SfListKey;

/* Which executions a list has */
typedef struct SfListQuery
{
	const int  *machines;		/* numbers; other machines are left out */
	int			nmachines;
	int			status;			/* SfStatus; -1: any */
	const char *error;			/* NULL: any, or none */
	const char *prefix;			/* of the name; NULL: any */
	int64		parent_no;		/* 0: any, or none */
	TimestampTz from;			/* requested then, or later */
	SfListKey	before;
	int			limit;
} SfListQuery;

typedef struct SfListedExecution
{
	char	   *execution_id;
	SfStatus	status;
	char	   *error;			/* or NULL */
	TimestampTz requested_at;
	TimestampTz started_at;
	TimestampTz stopped_at;
	int64		execution_no;
} SfListedExecution;

typedef struct SfListedMachine
{
	int			machine_no;
	char	   *name;
	Oid			owner;
} SfListedMachine;

extern List *sf_execution_list_machines(int machine_no, Oid owner);
extern List *sf_execution_list(const SfListQuery *query);

#endif							/* SF_STORE_EXECUTION_LIST_H */
