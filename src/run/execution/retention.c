/*
 * retention.c
 *		Purge executions by their age: the options "retention" and "archive" of
 *		state machines, and the setting sfflow.retention.
 *
 * A sweep goes through the machines by number, and for each machine through the
 * statuses of ended executions.  It is cut into batches, each in a transaction of
 * its own.  A batch looks at the next BATCH executions by the time of their request
 * and deletes those that are old enough.  Where it stopped is stored, and the next
 * batch goes on behind it, also in a later sweep: so no batch reads the dead index
 * entries of those before it.  Executions that were passed over, because they still
 * ran, had just ended or were needed by a parent, and those whose start has committed
 * behind the position, are seen again when a new pass begins: with the next sweep, unless
 * their retention is long or a pass has much to look at.  A call of sf_purge_due begins
 * all passes anew.
 *
 * At its end a sweep deletes, in batches, too, what is left of machines that were dropped,
 * and the rows of sf_audit that are older than sfflow.audit_retention.
 *
 * One session at a time sweeps (LOCK_SWEEP).  An archive function may take a
 * minute: meanwhile its session gives that lock back and keeps LOCK_ARCHIVE, which every
 * batch of a machine with an archive function takes.  So others purge the machines
 * without one.  Machines with archive functions take turns, batch by batch.
 *
 * Where the option "archive" names an activity, no sweep deletes: the program that polls
 * it collects what is to go (sf_retention_collect), archives it, and has it deleted.
 *
 * No sweep waits for a client, whose transaction may stay open for long.  It passes over executions that others have
 * locked, and over a machine that is being dropped, or of which another transaction collects executions
 * (sf_machine_try_lock_purge).  Should a worker have to wait for a lock nevertheless, the batch fails after
 * SF_ROW_LOCK_MS, and the sweep goes on behind the machine.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/settings.h"
#include "base/time/clock.h"
#include "base/time/interval.h"
#include "base/time/timing.h"
#include "run/execution/lifecycle.h"
#include "run/task/task_runner.h"
#include "store/feature.h"
#include "store/purge/dropped.h"
#include "store/role/privilege.h"
#include "store/state_machine/machine.h"
#include "store/task/task.h"

/* What the name of an activity begins with */
#define ACTIVITY		"activity:"
#define ACTIVITY_LENGTH	(sizeof(ACTIVITY) - 1)

/* Executions that a batch looks at, and one that collects for an archive */
#define BATCH			500
#define COLLECTED		100

/* Longest time of collecting */
#define COLLECT_MS		2000

/* Machines whose locks a transaction keeps that collects for an archive: shared memory has room for some thousand */
#define COLLECTED_MACHINES	100

/* Rows of sf_audit that a batch deletes */
#define AUDIT_BATCH		1000

/*
 * A pass over a machine's executions begins at most once in a tenth of their retention, so that none is
 * kept much longer, and so seldom that passes take a hundredth of the time (some 10 microseconds for an
 * execution that stays); but once a day.
 */
#define PASSES_IN_RETENTION	10
#define PASS_SHARE_US		1000

/* Longest time of a call of an archive function */
#define ARCHIVE_MS		60000

/* The value of the option that keeps executions whatever the setting says */
#define FOREVER			"forever"

/* The statuses of ended executions, in the order in which a sweep goes through them */
static const SfStatus ended[] = {SF_STATUS_SUCCEEDED, SF_STATUS_FAILED, SF_STATUS_TIMED_OUT, SF_STATUS_ABORTED};

/*
 * The time before which an execution must have ended, an interval of text from now.  DT_NOBEGIN: it stays, for no
 * execution is as old as the interval is long.  One whose parts leave the calendar one by one has them stay, too:
 * release 1.0 took some ("-3507001 months 106800000 days"), which PostgreSQL can subtract in some months only.
 */
static TimestampTz
subtract(TimestampTz now, const Interval *interval)
{
	double		us;
	SfIntervalLength length = sf_interval_measure(interval, &us);

	if (length == SF_INTERVAL_LONG || length == SF_INTERVAL_MIXED)
		return DT_NOBEGIN;
	if (length == SF_INTERVAL_NEGATIVE)
		return now + 1;
	return DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval, TimestampTzGetDatum(now),
												   IntervalPGetDatum(interval)));
}

/* The retention that options have for a status, as text; NULL: none. */
static char *
retention_of(const Jsonb *options, SfStatus status)
{
	char	   *all = sf_json_get_cstring(options, "retention");
	Jsonb	   *by_status = all != NULL ? NULL : sf_json_get(options, "retention");

	return by_status == NULL ? all : sf_json_get_cstring(by_status, sf_status_name(status));
}

/* The time before which executions of a status must have ended; DT_NOBEGIN: they stay. */
static TimestampTz
cutoff(const Jsonb *options, SfStatus status)
{
	TimestampTz now = GetCurrentTimestamp();
	char	   *text = retention_of(options, status);
	TimestampTz at;

	if (text == NULL)
		return sf_setting_retention == 0 ? DT_NOBEGIN :
			now - (int64) sf_setting_retention * USECS_PER_MINUTE;
	if (strcmp(text, FOREVER) == 0)
		return DT_NOBEGIN;
	/* months and days ("1 mon -30 days") may reach into the future in one month only */
	at = subtract(now, sf_interval_parse(text));
	return at > now ? DT_NOBEGIN : at;
}

/* Is an interval an age? */
static bool
is_age(const Interval *interval)
{
	TimestampTz now = GetCurrentTimestamp();
	double		us;

	return sf_interval_measure(interval, &us) != SF_INTERVAL_MIXED && subtract(now, interval) <= now;
}

/* Raise unless a value of the option retention is an age. */
static void
check_age(const char *text)
{
	if (text != NULL && (strcmp(text, FOREVER) == 0 || is_age(sf_interval_parse(text))))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("option retention must be an interval such as \"90 days\", or \"" FOREVER "\", or an object with one for each status")));
}

/* Is a name that of a status of ended executions? */
static bool
is_ended(const char *name)
{
	for (size_t i = 0; i < lengthof(ended); i++)
		if (strcmp(name, sf_status_name(ended[i])) == 0)
			return true;
	return false;
}

/* Raise unless the members of an object are ages by status. */
static void
check_ages(const Jsonb *ages)
{
	JsonbValue	key;
	JsonbIterator *it = JsonbIteratorInit(unconstify(JsonbContainer *, &ages->root));
	JsonbIteratorToken token;

	if (!JB_ROOT_IS_OBJECT(ages))
		check_age(NULL);
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
	{
		char	   *name;

		if (token != WJB_KEY)
			continue;
		name = pnstrdup(key.val.string.val, key.val.string.len);
		if (!is_ended(name))
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_OPTION),
					 errmsg("option retention has \"%s\", which is no status of an ended execution", name),
					 errhint("It is one of SUCCEEDED, FAILED, TIMED_OUT, ABORTED.")));
		check_age(sf_json_get_cstring(ages, name));
	}
}

/* Is what the option archive says (NULL: nothing) an activity? */
static bool
is_activity(const char *archive)
{
	return archive != NULL && strncmp(archive, ACTIVITY, ACTIVITY_LENGTH) == 0;
}

/* Raise unless the options "retention" and "archive" of a machine are valid. */
void
sf_retention_check(const Jsonb *options)
{
	const char *archive = sf_json_get_cstring(options, "archive");
	const char *all = sf_json_get_cstring(options, "retention");
	Jsonb	   *ages = sf_json_get(options, "retention");
	SfResource	resource;

	if (all != NULL)
		check_age(all);
	else if (ages != NULL)
		check_ages(ages);
	if (archive != NULL)
		sf_resource_parse(archive, &resource);
	if (sf_json_get(options, "archive") != NULL &&
		(archive == NULL || resource.integration != SF_INTEGRATION_REQUEST_RESPONSE ||
		 (resource.kind != SF_RESOURCE_SQL_FUNCTION &&
		  (!is_activity(archive) || SF_PROVIDER(check_archive) == NULL))))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option archive must be a SQL function, as in \"sql:schema.function\", or an activity, as in \"activity:name\"")));
	if (is_activity(archive))
		SF_TELL(check_archive, archive + ACTIVITY_LENGTH);
}

/* {"state_machine": …, "executions": [ids]} */
static Jsonb *
archive_payload(const SfPurgeMachine *machine, const List *ids)
{
	SfJsonBuilder json;
	ListCell   *lc;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "state_machine", machine->name);
	sf_json_open_array(&json, "executions");
	foreach(lc, ids)
		sf_json_add_string(&json, NULL, lfirst(lc));
	sf_json_close_array(&json);
	return sf_json_end(&json);
}

/* Is it a session that sweeps? */
static bool
in_session(const SfRetention *sweep)
{
	return sweep->caller != SF_RETENTION_BY_WORKER;
}

/* Have a worker wait no longer than SF_ROW_LOCK_MS for each lock. */
static void
begin_brief(SfRetention *sweep)
{
	sweep->lock_level = in_session(sweep) ? 0 : sf_brief_locks_begin(SF_ROW_LOCK_MS);
}

/* End that. */
static void
end_brief(SfRetention *sweep)
{
	if (sweep->lock_level != 0)
		sf_brief_locks_end(sweep->lock_level);
	sweep->lock_level = 0;
}

/* Note what the batch has done. */
static void
note_deed(SfRetention *sweep, SfRetentionDeed deed)
{
	sweep->did = Max(sweep->did, deed);
}

/* Give executions to the machine's archive function; false: it failed, so they stay. */
static bool
archive(SfRetention *sweep, const SfPurgeMachine *machine, const char *function,
		const List *ids)
{
	SfResource	resource;
	SfTaskCall	call = {.owner = machine->owner,.in_session = in_session(sweep)};
	SfTaskOutcome outcome;

	if (function == NULL || ids == NIL)
		return true;
	sf_resource_parse(function, &resource);
	call.resource = &resource;
	call.execution_id = linitial(ids);
	call.payload = archive_payload(machine, ids);
	call.timeout_ms = ARCHIVE_MS;
	note_deed(sweep, SF_RETENTION_DEED_ARCHIVED);
	if (sweep->caller != SF_RETENTION_BY_TRANSACTION)
		sf_purge_unlock(SF_PURGE_LOCK_SWEEP);
	end_brief(sweep);
	if (!in_session(sweep))
		sf_task_runner.assume_identity(machine->owner);
	sf_task_runner.run(&call, &outcome);
	begin_brief(sweep);
	if (!outcome.ok)
		ereport(in_session(sweep) ? WARNING : LOG,
				(errmsg("executions of state machine \"%s\" are not purged: its archive function failed with %s",
						machine->name, outcome.error.name),
				 outcome.error.cause == NULL ? 0 : errdetail("%s", outcome.error.cause)));
	return outcome.ok;
}

/* The time that lies between the beginnings of two passes, at least. */
static int64
pass_interval(TimestampTz before, const SfPurgePosition *position)
{
	int64		wanted = Max((GetCurrentTimestamp() - before) / PASSES_IN_RETENTION,
							 position->looked_at * PASS_SHARE_US);

	return Min(wanted, USECS_PER_DAY);
}

/* Go on behind a batch of max_rows or less; begin a new pass if the last one has ended and began long enough ago. */
static void
continue_pass(SfPurgePosition *position, const SfPurgeBatch *batch, int max_rows, TimestampTz before)
{
	TimestampTz now = GetCurrentTimestamp();

	if (batch->looked_at > 0)
		position->requested_at = batch->until;
	position->looked_at += batch->looked_at;
	if (batch->looked_at >= max_rows || now - position->began_at < pass_interval(before, position))
		return;
	*position = (SfPurgePosition) {.requested_at = DT_NOBEGIN,.began_at = now};
}

/*
 * Store a position, unless it is what it was; where there is nothing, nothing is written.  Tells whether it was
 * stored.
 */
static bool
store_position(int machine_no, SfStatus status, const SfPurgePosition *position, const SfPurgePosition *was,
			   const SfPurgeBatch *batch)
{
	if (position->requested_at == was->requested_at &&
		(position->began_at == was->began_at || batch->looked_at == 0))
		return false;
	sf_purge_set_position(machine_no, status, position);
	return true;
}

/*
 * Find and lock a batch of a machine's executions of a status, behind a position; false: the machine is being dropped,
 * or a program that archives has them.
 */
static bool
find(const SfPurgeMachine *machine, SfStatus status, TimestampTz before, const SfPurgePosition *position,
	 SfPurgeBatch *batch)
{
	if (!sf_machine_try_lock_purge(machine->machine_no))
		return false;
	sf_purge_find(machine->machine_no, status, before, position->requested_at, BATCH, batch);
	sf_machine_unlock_purge(machine->machine_no);
	return true;
}

/* Delete a batch, and go on behind it; false: the machine is being dropped now. */
static bool
delete(SfRetention *sweep, const SfPurgeMachine *machine, SfStatus status, TimestampTz before,
	   const SfPurgePosition *was, SfPurgePosition *position, const SfPurgeBatch *batch)
{
	if (!sf_machine_try_lock_purge(machine->machine_no))
		return false;
	sweep->purged += sf_purge_delete(batch->numbers);
	continue_pass(position, batch, BATCH, before);
	if (store_position(machine->machine_no, status, position, was, batch))
		note_deed(sweep, SF_RETENTION_DEED_WROTE);
	sf_machine_unlock_purge(machine->machine_no);
	return true;
}

/*
 * Purge a batch of a machine's executions of a status; tells whether more may be due.
 * While another session calls an archive function, a worker passes over a machine that
 * has one.
 */
static bool
purge(SfRetention *sweep, const SfPurgeMachine *machine, SfStatus status)
{
	TimestampTz before = cutoff(machine->options, status);
	char	   *function = sf_json_get_cstring(machine->options, "archive");
	SfPurgePosition position,
				was;
	SfPurgeBatch batch;

	if (before == DT_NOBEGIN || is_activity(function) ||
		(function != NULL && !sf_purge_lock(SF_PURGE_LOCK_ARCHIVE, in_session(sweep))))
		return false;
	was = position = sf_purge_position(machine->machine_no, status);
	if (in_session(sweep) && position.began_at < sweep->began_at)
		position = (SfPurgePosition) {.requested_at = DT_NOBEGIN,.began_at = GetCurrentTimestamp()};
	if (!find(machine, status, before, &position, &batch))
		return false;
	if (batch.numbers != NIL)
		note_deed(sweep, SF_RETENTION_DEED_WROTE);
	return archive(sweep, machine, function, batch.ids) &&
		delete(sweep, machine, status, before, &was, &position, &batch) && batch.looked_at >= BATCH;
}

/* A machine is swept: go on with the next one, from its first status on. */
static void
leave_machine(SfRetention *sweep, int machine_no)
{
	sweep->nswept = 0;
	sweep->machine_no = machine_no;
}

/* Go on to the next status, or the next machine. */
static void
step(SfRetention *sweep, const SfPurgeMachine *machine)
{
	if (++sweep->nswept == lengthof(ended))
		leave_machine(sweep, machine->machine_no);
}

/*
 * Delete a batch of the executions of a machine that was dropped; tells whether to go on.  At the
 * end those that other sessions had locked are left to the next sweep.
 */
static bool
purge_dropped(SfRetention *sweep)
{
	SfDroppedMachine machine;
	SfPurgeBatch batch;
	bool		more;

	if (!sf_dropped_next(&machine))
		return false;
	sf_dropped_find(machine.machine_no, machine.requested_at, BATCH, &batch);
	sweep->purged += sf_purge_delete_dropped(batch.numbers);
	machine.passed_over |= list_length(batch.numbers) < batch.looked_at;
	more = batch.looked_at >= BATCH || !machine.passed_over;
	if (batch.looked_at < BATCH && more)
		sf_dropped_delete(machine.machine_no);
	else
	{
		machine.requested_at = more ? batch.until : DT_NOBEGIN;
		machine.passed_over &= more;
		sf_dropped_set(&machine);
	}
	return more;
}

/* Delete a batch of the oldest rows of sf_audit; tells whether there were any. */
static bool
purge_audit(SfRetention *sweep)
{
	TimestampTz before = GetCurrentTimestamp() -
		(int64) sf_setting_audit_retention * USECS_PER_MINUTE;

	if (sweep->audit_done || sf_setting_audit_retention == 0)
		return false;
	sf_audit_purge(before, AUDIT_BATCH, &sweep->audit);
	sweep->audit_done = sweep->audit.deleted < AUDIT_BATCH;
	return sweep->audit.deleted > 0;
}

/* The machine that a sweep is at; NULL: the sweep is over. */
static SfPurgeMachine *
find_machine(SfRetention *sweep)
{
	SfPurgeMachine *machine = sf_purge_next_machine(sweep->machine_no, NULL);

	if (machine == NULL && sweep->again)
	{
		sweep->again = false;
		sweep->machine_no = SF_NO_MACHINE;
		machine = sf_purge_next_machine(SF_NO_MACHINE, NULL);
	}
	return machine;
}

/*
 * Carry a batch of a sweep out, which no other session does now.  It ends once it has locked
 * executions, written something or called an archive function, which takes on the identity
 * of its owner: so a function never runs while the batch holds rows of other machines.
 * False: the sweep is over.
 */
static bool
run_batch(SfRetention *sweep)
{
	SfTick		until = sf_tick_plus_ms(sf_tick_now(), sf_setting_slice_ms);
	SfPurgeMachine *machine;
	bool		more;

	sweep->did = SF_RETENTION_DEED_LOOKED;
	while (sweep->did == SF_RETENTION_DEED_LOOKED && sf_tick_now() < until)
	{
		CHECK_FOR_INTERRUPTS();
		machine = find_machine(sweep);
		if (machine == NULL)
			return purge_dropped(sweep) || purge_audit(sweep);
		sweep->tried_machine_no = machine->machine_no;
		more = purge(sweep, machine, ended[sweep->nswept]);
		sweep->again |= more && sweep->did == SF_RETENTION_DEED_ARCHIVED;
		if (!more || sweep->did == SF_RETENTION_DEED_ARCHIVED)
			step(sweep, machine);
	}
	return true;
}

/*
 * Carry a batch of a sweep out; the caller commits.  False: the sweep is over, or, in a worker, another session purges.
 */
bool
sf_retention_batch(SfRetention *sweep)
{
	bool		more;

	if (!sf_purge_lock(SF_PURGE_LOCK_SWEEP, in_session(sweep)))
		return false;
	begin_brief(sweep);
	more = run_batch(sweep);
	end_brief(sweep);
	return more;
}

/* A batch has raised: go on behind the machine that it was at; false: it was at none, and the sweep is over. */
bool
sf_retention_skip(SfRetention *sweep)
{
	if (sweep->tried_machine_no == SF_NO_MACHINE)
		return false;
	leave_machine(sweep, sweep->tried_machine_no);
	return true;
}

/* Executions that are being collected for an archive */
typedef struct Collecting
{
	SfTick		until;
	int			wanted;			/* executions */
	SfRetentionTake take;
	void	   *arg;
	bool		has_written;	/* of the machine */
} Collecting;

/*
 * Collect a machine's executions of a status that are old enough to go, from where the last sweep stopped; false: no
 * more are wanted, or the time is over.
 */
static bool
collect(Collecting *c, const SfPurgeMachine *machine, SfStatus status)
{
	TimestampTz before = cutoff(machine->options, status);
	SfPurgePosition position = sf_purge_position(machine->machine_no, status);
	bool		more = before != DT_NOBEGIN;

	while (more && c->wanted > 0 && sf_tick_now() < c->until)
	{
		SfPurgePosition was = position;
		int			max_rows = Min(c->wanted, COLLECTED);
		SfPurgeBatch batch;

		CHECK_FOR_INTERRUPTS();
		sf_purge_find(machine->machine_no, status, before, position.requested_at, max_rows, &batch);
		if (batch.numbers != NIL)
			c->wanted = c->take(batch.numbers, c->arg);
		more = batch.looked_at >= max_rows;
		continue_pass(&position, &batch, max_rows, before);
		c->has_written |= store_position(machine->machine_no, status, &position, &was, &batch) || batch.numbers != NIL;
	}
	return !more;
}

/* Collect those of all statuses, likewise. */
static bool
collect_of_machine(Collecting *c, const SfPurgeMachine *machine)
{
	for (size_t i = 0; i < lengthof(ended); i++)
		if (!collect(c, machine, ended[i]))
			return false;
	return true;
}

/*
 * Give take the executions of machines whose option archive names an activity, which their owners may use, and that are
 * old enough to go, locked, some hundred at a time, until it wants no more; at first so many are wanted, and those that
 * were requested with the last one.  Machines are passed over that are being dropped, or of which another transaction
 * has collected executions.  True: that was all that are due now.
 */
bool
sf_retention_collect(const SfActivity *activity, int wanted, SfRetentionTake take, void *arg)
{
	Collecting	c = {.until = sf_tick_plus_ms(sf_tick_now(), COLLECT_MS),.wanted = wanted,.take = take,.arg = arg};
	const char *archive = psprintf(ACTIVITY "%s", activity->name);
	SfPurgeMachine *machine = NULL;
	int			nlocked = 0;
	bool		all = true;
	bool		passed_over = false;

	while (all && nlocked < COLLECTED_MACHINES &&
		   (machine = sf_purge_next_machine(machine == NULL ? SF_NO_MACHINE : machine->machine_no, archive)) != NULL)
	{
		if (!sf_privilege_check_role(machine->owner, SF_OBJECT_ACTIVITY, activity->name, activity->owner,
									 SF_RIGHT_WORK))
			continue;
		if (!sf_machine_try_lock_purge(machine->machine_no))
		{
			passed_over = true;
			continue;
		}
		c.has_written = false;
		all = collect_of_machine(&c, machine);
		if (c.has_written)
			nlocked++;
		else
			sf_machine_unlock_purge(machine->machine_no);
	}
	return all && machine == NULL && !passed_over;
}
