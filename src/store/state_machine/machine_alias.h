/*
 * machine_alias.h
 *		Aliases: names for versions of a state machine.
 */
#ifndef SF_STORE_MACHINE_ALIAS_H
#define SF_STORE_MACHINE_ALIAS_H

#include "store/state_machine/machine.h"

/* Columns of _sfflow.machine_alias; see sql/parts/table/core.sql. */
#define SF_MACHINE_ALIAS_COLUMNS(X) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(char *, alias, TEXT, NOT_NULL) \
	X(Jsonb *, routes, JSONB, NOT_NULL) \
	X(TimestampTz, set_at, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL) \
	X(char *, description, TEXT, NULLABLE)

typedef struct SfMachineAlias
{
	SF_MACHINE_ALIAS_COLUMNS(SF_FIELD)
} SfMachineAlias;

/* Versions that an alias names, at most */
#define SF_ALIAS_MAX_ROUTES	10

/* A version, and the percentage of the starts that it gets */
typedef struct SfRoute
{
	int			version;
	int			percent;
} SfRoute;

extern SfMachineAlias *sf_alias_find(int machine_no, const char *alias);
extern List *sf_alias_list(int machine_no, const char *behind, int version, int limit);
extern void sf_alias_describe(int machine_no, const char *alias, const char *description);
extern int	sf_alias_routes(const SfMachineAlias *alias, SfRoute *routes);
extern bool sf_alias_is_number(const char *qualifier);
extern bool sf_alias_is_publication(const char *qualifier);
extern char *sf_alias_stored(const char *qualifier, const SfRoute *routes);
extern int	sf_alias_resolve(int machine_no, const char *qualifier, SfRoute *routes);
extern int	sf_alias_choose(const SfRoute *routes, int n);
extern List *sf_alias_names(int machine_no);
extern void sf_alias_write(int machine_no, const char *alias, const Jsonb *routes);
extern bool sf_alias_delete(int machine_no, const char *alias);

#endif							/* SF_STORE_MACHINE_ALIAS_H */
