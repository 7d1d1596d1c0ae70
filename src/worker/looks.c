/*
 * looks.c
 *		What a worker looks at after a scan for everything due: schedules, deadlines, alerts.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/timing.h"
#include "worker/attempt.h"
#include "worker/shared.h"
#include "worker/turn.h"

/* Have schedules looked at; an error is in the log, and later scans try again. */
void
sf_turn_look_at_schedules(void)
{
	SfAttempt	a = {.kind = SF_ATTEMPT_RUNS};
	SfDatabase *database;

	if (!sf_attempt(&a))
		return;
	database = sf_shared_lock_database(MyDatabaseId);
	if (database)
	{
		/* what they wait for may have ended before this was known */
		if (a.runs_left == SF_RUNS_DUE ||
			(a.runs_left == SF_RUNS_WAIT && !database->runs_wait))
		{
			database->scan_from = DT_NOBEGIN;
			database->next_scan = Min(database->next_scan,
									  sf_tick_plus_ms(database->last_scan, SF_RUNS_LOOK_PAUSE_MS));
		}
		database->runs_wait = a.runs_left != SF_RUNS_NONE;
	}
	LWLockRelease(sf_shared_lock);
}

/* Have the next scan for everything due when deadlines are to be looked at. */
static void
scan_at(TimestampTz at)
{
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	if (database)
		sf_shared_lower_poll(database, Max(sf_tick_of_wall(at),
										   sf_tick_plus_ms(database->last_scan, SF_DEADLINES_PAUSE_MS)));
	LWLockRelease(sf_shared_lock);
}

/* Have deadlines looked at that are due; an error is in the log, and later scans try again. */
void
sf_turn_look_at_deadlines(TimestampTz next)
{
	SfAttempt	a = {.kind = SF_ATTEMPT_DEADLINES};

	if (next <= GetCurrentTimestamp())
	{
		if (!sf_attempt(&a))
			return;
		next = a.next_deadline;
	}
	if (next != DT_NOEND)
		scan_at(next);
}

/* Have alerts looked at that time opens, once a SF_ALERTS_LOOK_MS; an error is in the log, and later scans try again. */
void
sf_turn_look_at_alerts(void)
{
	SfAttempt	a = {.kind = SF_ATTEMPT_ALERTS};
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);
	bool		is_due = false;

	if (database)
	{
		is_due = sf_tick_now() >= database->next_alerts;
		if (is_due)
			database->next_alerts = sf_tick_plus_ms(sf_tick_now(), SF_ALERTS_LOOK_MS);
		sf_shared_lower_poll(database, database->next_alerts);
	}
	LWLockRelease(sf_shared_lock);
	if (!is_due || !sf_attempt(&a) || !a.more)
		return;
	database = sf_shared_lock_database(MyDatabaseId);
	if (database)
	{
		database->next_alerts = 0;
		sf_shared_lower_poll(database,
							 sf_tick_plus_ms(database->last_scan, SF_DEADLINES_PAUSE_MS));
	}
	LWLockRelease(sf_shared_lock);
}
