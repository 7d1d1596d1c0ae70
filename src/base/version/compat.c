/*
 * compat.c
 *		Functions that PostgreSQL has only since a later release.
 */
#include "postgres.h"

#include "utils/guc_tables.h"

#include "base/version/compat.h"

#if PG_VERSION_NUM < 160000
/* Find a setting by its name. */
struct config_generic *
sf_find_setting(const char *name)
{
	struct config_generic **settings = get_guc_variables();
	int			n = GetNumConfigOptions();

	for (int i = 0; i < n; i++)
	{
		if (pg_strcasecmp(settings[i]->name, name) == 0)
			return settings[i];
	}
	elog(ERROR, "unrecognized configuration parameter \"%s\"", name);
}
#endif
