/*
 * migrate.h
 *		Migrate an execution to another version of its machine.
 */
#ifndef SF_RUN_MIGRATE_H
#define SF_RUN_MIGRATE_H

#include "run/apply/apply.h"

extern Jsonb *sf_migrate_execution(SfExecution *execution, int version, const Jsonb *state_map,
								   bool rewinds);

#endif							/* SF_RUN_MIGRATE_H */
