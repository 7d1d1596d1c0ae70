/*
 * program_cache.h
 *		Compiled programs, one per version, cached by the backend.
 */
#ifndef SF_STORE_PROGRAM_CACHE_H
#define SF_STORE_PROGRAM_CACHE_H

#include "asl/program.h"
#include "store/feature.h"
#include "store/state_machine/machine.h"

/* What a backend keeps of a version of a state machine */
typedef struct SfCachedProgram
{
	const SfProgram *program;
	SfHistoryLevel history;
	const char *role_arn;		/* that the AWS API was given; NULL: none */
	int			priority;		/* of executions, in queues */
	const void *compiled[SF_MAX_OPTIONS];	/* what each feature makes of options (SF_COMPILED); NULL: of none */
} SfCachedProgram;

/*
 * The program of a version, compiled on first use.  Valid at least until the
 * end of the transaction.  ereports when the version does not exist.
 */
extern SfCachedProgram *sf_program_cache_find(int machine_no, int version);

/* The same for those who want the program alone. */
extern const SfProgram *sf_program_cache_get(int machine_no, int version);
extern const SfProgram *sf_program_cache_try(int machine_no, int version);
extern char *sf_program_cache_role(int machine_no, int version, Oid owner);

#endif							/* SF_STORE_PROGRAM_CACHE_H */
