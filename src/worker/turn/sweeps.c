/*
 * sweeps.c
 *		Sweeps of features, after a scan for everything due: what time brings.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "worker/shared_memory/shared.h"
#include "worker/turn/turn.h"
#include "worker/turn/turn_xact.h"

/* Sweeps of a feature that goes on at once */
#define MAX_AT_ONCE		10

/* May a feature sweep that does so once in a while only? */
static bool
is_its_time(const SfFeature *feature)
{
	int			number = sf_feature_sweep_number(feature);
	SfDatabase *database;
	bool		is_time = false;

	if (feature->sweep->every_ms == 0)
		return true;
	database = sf_shared_lock_database(MyDatabaseId);
	if (database)
	{
		SfTick	   *next = &database->next_sweeps[number];

		is_time = sf_tick_now() >= *next;
		if (is_time)
			*next = sf_tick_plus_ms(sf_tick_now(), feature->sweep->every_ms);
		sf_shared_lower_poll(database, *next);
	}
	LWLockRelease(sf_shared_lock);
	return is_time;
}

/* Have the next scan for everything due when a feature is to sweep again. */
static void
publish_sweep(const SfFeature *feature, const SfSweepResult *left)
{
	int			number = sf_feature_sweep_number(feature);
	uint32		bit = 1U << number;
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	if (database)
	{
		SfTick		soon = sf_tick_plus_ms(database->last_scan, feature->sweep->pause_ms);
		/* what it waits for may have ended before this was known */
		bool		again = left->more || (left->waits && (database->sweeps_wait & bit) == 0);

		database->sweeps_wait = left->waits ? database->sweeps_wait | bit : database->sweeps_wait & ~bit;
		if (again)
			database->next_sweeps[number] = SF_TICK_AT_ONCE;
		if (again || left->next != DT_NOEND)
			sf_shared_lower_poll(database, again ? soon : Max(sf_tick_of_wall(left->next), soon));
	}
	LWLockRelease(sf_shared_lock);
}

/* Have a feature sweep; an error is in the log, and later scans try again. */
static void
sweep(const SfFeature *feature)
{
	SfTurnXact	xact = {.kind = SF_TURN_XACT_SWEEP,.sweep.feature = feature};

	if (!is_its_time(feature))
		return;
	for (int n = 0; n == 0 || (xact.sweep.left.more && feature->sweep->pause_ms == 0 && n < MAX_AT_ONCE); n++)
		if (!sf_turn_xact_run(&xact))
			return;
	if (feature->sweep->pause_ms > 0)
		publish_sweep(feature, &xact.sweep.left);
}

/* Have features sweep that wanted to by now, as a scan has found. */
void
sf_turn_sweep_all(const SfDueScan *scan)
{
	if (!scan->everything)
		return;
	SF_FEATURES(sweep, feature)
	{
		TimestampTz next = scan->next_sweeps[sf_feature_sweep_number(feature)];

		if (next <= GetCurrentTimestamp())
			sweep(feature);
		else if (next != DT_NOEND)
			publish_sweep(feature, &(SfSweepResult) {.next = next});
	}
}

/* Have features sweep that want to after a turn, or (told) were told to. */
void
sf_turn_sweep_if_wanted(bool told)
{
	SF_FEATURES(sweep, feature)
		if ((feature->sweep->is_wanted != NULL && feature->sweep->is_wanted()) || (told && feature->sweep->when_told))
			sweep(feature);
}
