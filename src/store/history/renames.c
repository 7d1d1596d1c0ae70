/*
 * renames.c
 *		Names that states get when an execution is migrated to another version.
 *
 * Events name a state by its number in the program of their time.  What is told of
 * an execution goes by the names of its version: those of earlier versions are
 * followed from each migration to the next.  The event ExecutionMigrated has, in the
 * member stateMap of its details, the names that change: {"Old": "New"}.
 */
#include "postgres.h"

#include "store/history/history_event.h"

/* The names that a migration has changed, by the details of its event; NULL: none. */
Jsonb *
sf_renames_of_migration(const Jsonb *details)
{
	return details == NULL ? NULL : sf_json_get(details, "stateMap");
}

/* The name that a state, or a job of a net, has after a migration; renames may be NULL. */
const char *
sf_renames_after(const Jsonb *renames, const char *name)
{
	JsonbValue	root;
	JsonbValue	renamed;

	if (renames == NULL)
		return name;
	sf_json_root(renames, &root);
	if (sf_json_member(&root, name, strlen(name), &renamed) && renamed.type == jbvString)
		return pnstrdup(renamed.val.string.val, renamed.val.string.len);
	return name;
}

/* The names that states with one of some names had before a migration, which can be several. */
List *
sf_renames_before(const Jsonb *renames, const List *names)
{
	JsonbValue	root;
	SfJsonMember *members;
	List	   *before = NIL;
	int			n;

	sf_json_root(renames, &root);
	members = sf_json_members(&root, &n);
	foreach_ptr(const char, name, names)
	{
		if (strcmp(sf_renames_after(renames, name), name) == 0)
			before = lappend(before, unconstify(char *, name));
		for (int i = 0; i < n; i++)
		{
			const JsonbValue *old = &members[i].key;
			const JsonbValue *new = &members[i].value;

			if (new->type == jbvString && new->val.string.len == (int) strlen(name) &&
				memcmp(new->val.string.val, name, strlen(name)) == 0)
				before = lappend(before, pnstrdup(old->val.string.val, old->val.string.len));
		}
	}
	return before;
}
