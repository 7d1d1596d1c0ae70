/*
 * entries.c
 *		Fixed tables whose entries owners share.
 *
 * Where no entry is free the owner with most of them gives one up, as in the ring.  So an
 * owner who fills a table takes no entry of one who has few.
 */
#include "postgres.h"

#include "worker/shared_memory/entries.h"

/* Order owners. */
static int
compare_owners(const void *a, const void *b)
{
	Oid			x = *(const Oid *) a;
	Oid			y = *(const Oid *) b;

	return x < y ? -1 : x > y;
}

/*
 * Find who gives up an entry of his for one more of the owner who asks: the one with most, if he
 * has more than the other one would have then, else the owner who asks.  False: that one has
 * none.  owners has the owner of each entry that may be given up; it is sorted.
 */
bool
sf_entries_find_giver(Oid *owners, int n, Oid asking, Oid *giver)
{
	int			own = 0;
	int			most = 0;
	int			begin = 0;

	qsort(owners, n, sizeof(Oid), compare_owners);
	for (int i = 0; i < n; i++)
	{
		if (owners[i] != owners[begin])
			begin = i;
		if (owners[i] == asking)
			own++;
		if (i - begin + 1 > most)
		{
			most = i - begin + 1;
			*giver = owners[i];
		}
	}
	if (most > own + 1)
		return true;
	*giver = asking;
	return own > 0;
}
