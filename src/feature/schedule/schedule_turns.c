/*
 * schedule_turns.c
 *		The order in which sweeps deal with schedules: their owners take turns.
 *
 * A round deals with each schedule once, the first one of each owner first, then the second of each.  It takes several
 * sweeps if one has written, or has taken, as much as a sweep should: the next sweep of this process goes on with the
 * owner behind the last one.
 */
#include "postgres.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "feature/schedule/schedule.h"

/* How far a round has come with the schedules of an owner */
typedef struct Place
{
	Oid			owner;			/* hash key: must be first */
	char	   *behind;			/* the name of the last one that was dealt with */
} Place;

static MemoryContext round_context = NULL;
static HTAB *places = NULL;		/* NULL: a round begins */
static Oid	last_owner = InvalidOid;

/* Read a schedule and its owner. */
static void
read_turn(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_name = 1, COL_owner};
	List	  **turns = arg;
	SfScheduleTurn *turn = palloc0(sizeof(SfScheduleTurn));
	const SfScheduleTurn *before = *turns == NIL ? NULL : llast(*turns);
	const Place *place;

	turn->name = sf_row_text(tuple, desc, COL_name);
	turn->owner = (Oid) sf_row_number(tuple, desc, COL_owner, InvalidOid);
	place = places == NULL ? NULL : hash_search(places, &turn->owner, HASH_FIND, NULL);
	if (place != NULL && strcmp(turn->name, place->behind) <= 0)
		return;
	turn->rank = before != NULL && before->owner == turn->owner ? before->rank + 1 : 0;
	*turns = lappend(*turns, turn);
}

/* Compare turns: by how many the owner has before, then by the owners from the one behind the last one on. */
static int
compare_turns(const ListCell *a, const ListCell *b)
{
	const SfScheduleTurn *one = lfirst(a);
	const SfScheduleTurn *other = lfirst(b);
	bool		one_wraps = one->owner <= last_owner;
	bool		other_wraps = other->owner <= last_owner;

	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	if (one_wraps != other_wraps)
		return other_wraps ? -1 : 1;
	return one->owner == other->owner ? 0 : one->owner < other->owner ? -1 : 1;
}

/* List the schedules that the round has still to deal with, in their order: a List of SfScheduleTurn. */
List *
sf_schedule_turns(void)
{
	static SfPlan plan = SF_PLAN("SELECT s.name, s.owner FROM _sfflow.schedule s ORDER BY s.owner::pg_catalog.oid, s.name");
	List	   *turns = NIL;

	sf_db_run(InvalidOid, &plan, read_turn, &turns, NULL, 0);
	list_sort(turns, compare_turns);
	return turns;
}

/* Note how far a round has come with the schedules of an owner. */
static void
note_place(const SfScheduleTurn *turn)
{
	Place	   *place = hash_search(places, &turn->owner, HASH_ENTER, NULL);

	place->behind = MemoryContextStrdup(round_context, turn->name);
	last_owner = turn->owner;
}

/* A sweep has dealt with the first n of the schedules that the round had; true: the round is over. */
bool
sf_schedule_turns_taken(List *turns, int n)
{
	HASHCTL		ctl = {.keysize = sizeof(Oid),.entrysize = sizeof(Place)};

	if (n == list_length(turns))
	{
		if (round_context != NULL)
			MemoryContextDelete(round_context);
		round_context = NULL;
		places = NULL;
		return true;
	}
	if (round_context == NULL)
		round_context = AllocSetContextCreate(TopMemoryContext, "sfflow round of schedules", ALLOCSET_SMALL_SIZES);
	ctl.hcxt = round_context;
	if (places == NULL)
		places = hash_create("sfflow places in a round of schedules", 16, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	for (int i = 0; i < n; i++)
		note_place(list_nth(turns, i));
	return false;
}
