/*
 * resource_mapping.c
 *		From a Resource that sfflow does not know to the one that runs instead.
 *
 * Candidates are the mappings of the machine's owner and those of superusers.
 * The pattern with the most literal characters wins; of equal ones that of the
 * owner, then the one with fewer asterisks, then the one that sorts first.  A
 * pattern is compared with the Resource as written, and without its suffix
 * (".waitForTaskToken", ".sync"): a suffix that the target lacks is kept.  An
 * ItemReader has a further name, with "#" and the type of what it reads.
 *
 * A service may know a resource by further names (sf_service.other_names).
 */
#include "postgres.h"

#include "run/task/service.h"
#include "sql_task/sql_task_internal.h"
#include "store/state_machine/resource_map.h"

/* Match a text with a pattern in which "*" is any text. */
static bool
matches(const char *pattern, const char *text)
{
	const char *star = NULL;	/* the last asterisk, and … */
	const char *resume = NULL;	/* … the text that it has not taken yet */

	while (*text != '\0')
	{
		if (*pattern == '*')
		{
			star = pattern++;
			resume = text;
		}
		else if (*pattern == *text)
		{
			pattern++;
			text++;
		}
		else if (star != NULL)
		{
			pattern = star + 1;
			text = ++resume;
		}
		else
			return false;
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/* Number of asterisks in a pattern. */
static int
count_stars(const char *pattern)
{
	int			n = 0;

	for (; *pattern != '\0'; pattern++)
		n += *pattern == '*';
	return n;
}

/* Tell whether mapping a goes before mapping b for the machines of an owner. */
static bool
goes_before(const SfResourceMapping *a, const SfResourceMapping *b, Oid owner)
{
	int			stars_a = count_stars(a->pattern);
	int			stars_b = count_stars(b->pattern);
	int			literals_a = (int) strlen(a->pattern) - stars_a;
	int			literals_b = (int) strlen(b->pattern) - stars_b;

	if (literals_a != literals_b)
		return literals_a > literals_b;
	if ((a->owner == owner) != (b->owner == owner))
		return a->owner == owner;
	if (stars_a != stars_b)
		return stars_a < stars_b;
	return strcmp(a->pattern, b->pattern) < 0;
}

/* List all names of a resource. */
static List *
resource_names(const SfResource *resource)
{
	List	   *names = list_make2(unconstify(char *, resource->text),
								   unconstify(char *, resource->name));

	if (resource->typed != NULL)
		names = lappend(names, unconstify(char *, resource->typed));
	return list_concat(names, sf_service.other_names(resource));
}

/* Tell whether a mapping is about a resource, by its names. */
static bool
applies(const SfResourceMapping *mapping, const List *names)
{
	const ListCell *lc;

	foreach(lc, names)
		if (matches(mapping->pattern, lfirst(lc)))
			return true;
	return false;
}

/*
 * Find the resource that runs in place of one (SfTaskRunner of
 * task_runner.h); false: nothing maps it.  Strings are in CurrentMemoryContext.
 */
bool
sf_resource_mapping_resolve(const SfResource *resource, Oid owner, SfResource *out)
{
	const SfResourceMapping *best = NULL;
	List	   *names = resource_names(resource);

	foreach_ptr(const SfResourceMapping, mapping, sf_resource_map_of(owner))
	{
		if (applies(mapping, names) &&
			(best == NULL || goes_before(mapping, best, owner)))
			best = mapping;
	}
	if (best == NULL)
		return false;
	sf_resource_parse(best->resource, out);
	out->requested = resource->text;
	if (out->integration == SF_INTEGRATION_REQUEST_RESPONSE &&
		(resource->integration == SF_INTEGRATION_WAIT_FOR_TASK_TOKEN ||
		 out->kind == SF_RESOURCE_START_EXECUTION))
		out->integration = resource->integration;
	return true;
}
