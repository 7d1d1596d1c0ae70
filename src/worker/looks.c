/*
 * looks.c
 *		What features look at after a scan for everything due: what time brings.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "worker/attempt.h"
#include "worker/shared.h"
#include "worker/turn.h"

/* Looks of a feature that goes on at once */
#define MAX_AT_ONCE		10

/* May a feature look that does so once in a while only? */
static bool
is_its_time(const SfFeature *feature)
{
	int			number = sf_feature_look_number(feature);
	SfDatabase *database;
	bool		is_time = false;

	if (feature->look_every_ms == 0)
		return true;
	database = sf_shared_lock_database(MyDatabaseId);
	if (database)
	{
		SfTick	   *next = &database->next_looks[number];

		is_time = sf_tick_now() >= *next;
		if (is_time)
			*next = sf_tick_plus_ms(sf_tick_now(), feature->look_every_ms);
		sf_shared_lower_poll(database, *next);
	}
	LWLockRelease(sf_shared_lock);
	return is_time;
}

/* Have the next scan for everything due when a feature is to look again. */
static void
publish_look(const SfFeature *feature, const SfLook *left)
{
	int			number = sf_feature_look_number(feature);
	uint32		bit = 1U << number;
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	if (database)
	{
		SfTick		soon = sf_tick_plus_ms(database->last_scan, feature->look_pause_ms);
		/* what it waits for may have ended before this was known */
		bool		again = left->more || (left->waits && (database->looks_wait & bit) == 0);

		database->looks_wait = left->waits ? database->looks_wait | bit : database->looks_wait & ~bit;
		if (again)
			database->next_looks[number] = 0;
		if (again || left->next != DT_NOEND)
			sf_shared_lower_poll(database, again ? soon : Max(sf_tick_of_wall(left->next), soon));
	}
	LWLockRelease(sf_shared_lock);
}

/* Have a feature look; an error is in the log, and later scans try again. */
static void
look(const SfFeature *feature)
{
	SfAttempt	a = {.kind = SF_ATTEMPT_LOOK,.feature = feature};

	if (!is_its_time(feature))
		return;
	for (int n = 0; n == 0 || (a.left.more && feature->look_pause_ms == 0 && n < MAX_AT_ONCE); n++)
		if (!sf_attempt(&a))
			return;
	if (feature->look_pause_ms > 0)
		publish_look(feature, &a.left);
}

/* Have features look that wanted to by now, as a scan has found. */
void
sf_turn_look_all(const SfDueScan *scan)
{
	if (!scan->everything)
		return;
	SF_FEATURES(look, feature)
	{
		TimestampTz next = scan->next_looks[sf_feature_look_number(feature)];

		if (next <= GetCurrentTimestamp())
			look(feature);
		else if (next != DT_NOEND)
			publish_look(feature, &(SfLook) {.next = next});
	}
}

/* Have features look that want to after a turn, or (told) were told to. */
void
sf_turn_look_if_wanted(bool told)
{
	SF_FEATURES(wants_look, feature)
		if (feature->wants_look())
			look(feature);
	if (told)
		SF_FEATURES(look, feature)
			if (feature->looks_when_told)
				look(feature);
}
