/*
 * conditions.c
 *		Condition names for SQLSTATEs.
 */
#include "postgres.h"

#include "base/condition_names.h"
#include "base/errors.h"
#include "task/conditions.h"

typedef struct Condition
{
	char		sqlstate[6];
	const char *name;
} Condition;

#define CONDITION(sqlstate, name) {sqlstate, name},
static const Condition conditions[] = {SF_CONDITION_LIST(CONDITION)};

typedef struct OwnCondition
{
	int			sqlerrcode;
	const char *name;
} OwnCondition;

#define OWN_CONDITION(sym, a, b, c, name, answer, meaning, advice) {ERRCODE_SF_##sym, name},
static const OwnCondition own_conditions[] = {SF_SQLSTATE_LIST(OWN_CONDITION)};

/* Compare a SQLSTATE with an entry of the list. */
static int
compare_condition(const void *key, const void *entry)
{
	return strcmp(key, ((const Condition *) entry)->sqlstate);
}

/*
 * Name a SQLSTATE: for class SF the condition name in base/sqlstates.h, else
 * PL/pgSQL's condition name, else the SQLSTATE itself.  The result is static or in
 * CurrentMemoryContext.
 */
const char *
sf_condition_name(int sqlerrcode)
{
	const char *sqlstate = unpack_sql_state(sqlerrcode);
	const Condition *found;
	size_t		i;

	for (i = 0; i < lengthof(own_conditions); i++)
		if (own_conditions[i].sqlerrcode == sqlerrcode)
			return own_conditions[i].name;
	found = bsearch(sqlstate, conditions, lengthof(conditions),
					sizeof(Condition), compare_condition);
	return found != NULL ? found->name : pstrdup(sqlstate);
}
