/*
 * retention.h
 *		Purge executions by their age.
 */
#ifndef SF_RUN_RETENTION_H
#define SF_RUN_RETENTION_H

#include "json/json.h"

/* Where a look for executions to purge stands; zero: at its beginning */
typedef struct SfRetention
{
	bool		in_session;		/* not a worker */
	int			machine_no;		/* looked through, with all below */
	int			status;			/* of the next machine: looked through, with all below */
	int64		purged;
	int			at;				/* machine of the last batch, 0: none */
	bool		ran;			/* user code, an archive function, in this batch */
} SfRetention;

extern void sf_retention_check(const Jsonb *options);
extern bool sf_retention_batch(SfRetention *look);

#endif							/* SF_RUN_RETENTION_H */
