-- What is known of the runs of a schedule. Each function answers only the schedule's owner and roles that
-- may READ the machine.

-- state: active, inactive, failing, missed, gone, not driven; problem: in words, null without one;
-- missed_at: the latest time at which a run was due and none came, null where there is none; is_alert: its runs do not
-- happen as they should; since: that they do not, null where that is not known.
CREATE FUNCTION _sfflow.schedule_status(
	name text,
	OUT state text,
	OUT problem text,
	OUT missed_at timestamptz,
	OUT is_alert boolean,
	OUT since timestamptz)
AS 'MODULE_PATHNAME', 'sfflow_schedule_status'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

-- What pg_cron has noted of the runs of its job.
CREATE FUNCTION _sfflow.cron_runs(
	name text,
	OUT run_id bigint,
	OUT pid integer,
	OUT started_at timestamptz,
	OUT ended_at timestamptz,
	OUT status text,
	OUT message text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_cron_runs'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 100;

