/*
 * event_pass.c
 *		Passes over keys of events that this process goes on with: they are taken, and forgotten.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "utils/memutils.h"

#include "feature/event/event_pass.h"

/* A pass over a key is gone on with within this, or begun anew */
#define PASS_MS					60000

/* Passes that a process goes on with */
#define MAX_PASSES		1000

/* Fresh events that a pass is of */
#define FRESH			500

/* Passes that were cut, of this process */
static List *passes = NIL;

/* Compare two keys. */
int
sf_event_key_compare(const SfEventKey *a, const SfEventKey *b)
{
	return a->event_type_no != b->event_type_no ? (a->event_type_no < b->event_type_no ? -1 : 1) : strcmp(a->key, b->key);
}

/* Forget a pass. */
void
sf_event_pass_forget(SfEventPass *pass)
{
	passes = list_delete_ptr(passes, pass);
	MemoryContextDelete(pass->context);
}

/* Find the oldest pass of the owner that has the most; there are some. */
static SfEventPass *
find_to_forget(void)
{
	SfEventPass *found = linitial(passes);
	int			most = 0;

	foreach_ptr(SfEventPass, pass, passes)
	{
		int			n = 0;

		foreach_ptr(const SfEventPass, other, passes)
			n += other->owner == pass->owner;
		if (n > most)
		{
			most = n;
			found = pass;
		}
	}
	return found;
}

/* Find the pass over a key that was cut; NULL: there is none. */
static SfEventPass *
find_pass(const SfEventKey *event_key)
{
	foreach_ptr(SfEventPass, pass, passes)
		if (sf_event_key_compare(&pass->event_key, event_key) == 0)
			return pass;
	return NULL;
}

/* Forget the pass over a key, of which an error has come. */
void
sf_event_pass_forget_of(const SfEventKey *event_key)
{
	SfEventPass *pass = find_pass(event_key);

	if (pass != NULL)
		sf_event_pass_forget(pass);
}

/* Does it count what a pass has gone through? */
static bool
counts(const SfEventPass *pass)
{
	return pass->at >= sf_tick_plus_ms(sf_tick_now(), -PASS_MS) &&
		(!TransactionIdIsValid(pass->xid) || TransactionIdIsCurrentTransactionId(pass->xid) ||
		 TransactionIdDidCommit(pass->xid));
}

/* Note numbers in the memory of a pass. */
void
sf_event_pass_note_fresh(SfEventPass *pass, const List *numbers)
{
	MemoryContext old = MemoryContextSwitchTo(pass->context);

	foreach_ptr(const int64, number, numbers)
	{
		int64	   *copy = palloc(sizeof(int64));

		*copy = *number;
		pass->fresh = lappend(pass->fresh, copy);
	}
	MemoryContextSwitchTo(old);
}

/* Begin a pass over a key, of its fresh events behind a number. */
static SfEventPass *
begin_pass(const SfEventType *type, const char *key, int64 fresh_from)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "sfflow pass over events", ALLOCSET_SMALL_SIZES);
	SfEventPass *pass = MemoryContextAllocZero(context, sizeof(SfEventPass));
	MemoryContext old;

	pass->context = context;
	pass->event_key = (SfEventKey) {type->event_type_no, MemoryContextStrdup(context, key)};
	pass->owner = type->owner;
	pass->fresh_from = fresh_from;
	if (list_length(passes) >= MAX_PASSES)
		sf_event_pass_forget(find_to_forget());
	old = MemoryContextSwitchTo(TopMemoryContext);
	passes = lappend(passes, pass);
	MemoryContextSwitchTo(old);
	sf_event_pass_note_fresh(pass, sf_emission_fresh(type, key, fresh_from, FRESH));
	pass->more_fresh = list_length(pass->fresh) == FRESH;
	return pass;
}

/*
 * Go on with the pass over a key that was cut, or begin one: behind the fresh events of the last pass, if there are
 * more, so that a wait which is locked for long keeps no others from those.
 */
SfEventPass *
sf_event_pass_take(const SfEventType *type, const char *key)
{
	SfEventKey	event_key = {type->event_type_no, unconstify(char *, key)};
	SfEventPass *pass = find_pass(&event_key);
	bool		good = pass != NULL && counts(pass);
	int64		fresh_from = good ? pass->fresh_from : 0;

	if (!good || (pass->fresh == NIL && !pass->is_begun && !pass->is_within))
	{
		if (pass != NULL)
			sf_event_pass_forget(pass);
		pass = begin_pass(type, key, fresh_from);
	}
	pass->is_old = good;
	return pass;
}
