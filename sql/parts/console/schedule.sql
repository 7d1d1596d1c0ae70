-- sf_console_api: schedules and calendars, looked at, planned and set.

-- Schedules as the console has them: the one of a name, or those after a name, as many as are wanted.
CREATE FUNCTION _sfflow.console_schedule_rows(name text, after text, most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(s) ORDER BY s.schedule_name), '[]') FROM (
		SELECT x.schedule_name, x.schedule, x.timezone, x.state_machine,
			_sfflow.console_cut(x.input::text, 2000) AS input,
			x.active, x.next_run, x.last_execution_id, x.state, left(x.problem, 500) AS problem, x.owner, x.calendar,
				x.on_closed,
			x.starts, x.ends, x.missed, x.overlap, x.given_timezone, pg_has_role(x.owner, 'USAGE') AS may_edit,
			EXISTS (SELECT FROM _sfflow.console_held() h WHERE h.target = 'schedule:' || x.schedule_name) AS held
		FROM @extschema@.sf_schedules x
		WHERE x.schedule_name > coalesce($2, '') AND ($1 IS NULL OR x.schedule_name = $1)
		ORDER BY x.schedule_name LIMIT $3) s);

-- schedules {after, limit}: schedules by name, and calendars.
CREATE FUNCTION _sfflow.console_schedules(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'rows', s.rows,
		'next', CASE WHEN jsonb_array_length(s.rows) = _sfflow.console_limit($1, 100, 200)
			THEN s.rows -> -1 -> 'schedule_name' END,
		'may_create', coalesce(has_schema_privilege(to_regnamespace('cron'), 'USAGE'), false),
		'calendars', (SELECT coalesce(jsonb_agg(to_jsonb(c) ORDER BY c.calendar), '[]') FROM (
			SELECT x.calendar, x.owner, _sfflow.console_cut(x.rule::text, 2000) AS rule,
				_sfflow.console_cut(x.days::text, 2000) AS days, pg_has_role(x.owner, 'USAGE') AS may_edit
			FROM @extschema@.sf_calendars x ORDER BY x.calendar LIMIT 100 + 1) c)), '{"calendars": 100}')
	FROM _sfflow.console_schedule_rows(NULL, $1 ->> 'after', _sfflow.console_limit($1, 100, 200)) AS s(rows));

-- schedule {name, from, to}: the schedule, its times from one to another, the days on which its calendar is closed, and
-- its last runs.
CREATE FUNCTION _sfflow.console_schedule(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN _sfflow.console_bounded(jsonb_build_object(
	'schedule', _sfflow.console_schedule_rows(coalesce($1 ->> 'name', ''), NULL, 1) -> 0,
	'times', (SELECT coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.scheduled_for), '[]') FROM (
		SELECT x.scheduled_for, x.local_time, x.execution_name
		FROM @extschema@.sf_schedule_preview($1 ->> 'name', coalesce(($1 ->> 'from')::timestamptz, now()),
			least(coalesce(($1 ->> 'to')::timestamptz, now() + interval '31 days'),
				coalesce(($1 ->> 'from')::timestamptz, now()) + interval '100 days')) x
		ORDER BY x.scheduled_for LIMIT 500 + 1) p),
	'closed', (SELECT coalesce(jsonb_agg(d.day ORDER BY d.day), '[]')
		FROM @extschema@.sf_schedules s
		CROSS JOIN LATERAL @extschema@.sf_calendar_days(s.calendar, ($1 ->> 'from')::date,
			least(($1 ->> 'to')::date, ($1 ->> 'from')::date + 100)) d
		WHERE s.schedule_name = $1 ->> 'name' AND s.calendar IS NOT NULL AND $1 ->> 'from' IS NOT NULL
			AND NOT d.is_open),
	'runs', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.scheduled_for DESC), '[]') FROM (
		SELECT x.scheduled_for, x.started_at, x.status, left(x.error, 500) AS error, x.execution_id, x.ended_at,
			_sfflow.took_ms(x.execution_id) AS took
		FROM @extschema@.sf_schedule_runs x WHERE x.schedule_name = $1 ->> 'name'
		ORDER BY x.scheduled_for DESC NULLS LAST LIMIT 50 + 1) r)), '{"times": 500, "runs": 50}');

-- set_calendar {name, rule, days, new}: make a calendar, or another one in its place; rule and days are JSON text. With
-- new, a name that is taken is refused.
CREATE FUNCTION _sfflow.console_set_calendar(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF (q ->> 'new')::boolean
		AND EXISTS (SELECT FROM @extschema@.sf_calendars c WHERE c.calendar = q ->> 'name') THEN
		RAISE EXCEPTION 'there is a calendar "%" already', q ->> 'name' USING ERRCODE = 'SF012';
	END IF;
	PERFORM @extschema@.sf_create_calendar(q ->> 'name', (q ->> 'rule')::jsonb, nullif(q ->> 'days', '')::jsonb);
	RETURN jsonb_build_object('calendar', q ->> 'name');
END
$$;

-- plan_calendar, as set_calendar: the days of the next two months with it, and when the schedules that use it would run
-- next.
CREATE FUNCTION _sfflow.console_plan_calendar(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM _sfflow.console_set_calendar(q);
	RETURN jsonb_build_object(
		'days', (SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.day), '[]')
			FROM @extschema@.sf_calendar_days(q ->> 'name', current_date, current_date + 61) d),
		'schedules', (SELECT coalesce(jsonb_agg(to_jsonb(s) ORDER BY s.schedule_name), '[]') FROM (
			SELECT x.schedule_name, x.next_run FROM @extschema@.sf_schedules x WHERE x.calendar = q ->> 'name'
			ORDER BY x.schedule_name LIMIT 10) s));
END
$$;

-- set_schedule {name, schedule, state_machine, input, timezone, calendar, on_closed, starts, ends, missed, overlap}:
-- make a schedule, or replace it; "" is as good as nothing. A schedule that is replaced keeps its owner and, unless one
-- is given, its input. With new, a name that is taken is refused.
CREATE FUNCTION _sfflow.console_set_schedule(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	target text := q ->> 'name';
	former record;
	job bigint;
BEGIN
	SELECT s.owner, s.input INTO former FROM @extschema@.sf_schedules s WHERE s.schedule_name = target;
	IF FOUND AND (q ->> 'new')::boolean THEN
		RAISE EXCEPTION 'there is a schedule "%" already', target USING ERRCODE = 'SF012';
	END IF;
	job := @extschema@.sf_schedule(target, q ->> 'schedule', q ->> 'state_machine',
		coalesce(nullif(q ->> 'input', '')::jsonb, former.input, '{}'),
		nullif(q ->> 'timezone', ''), nullif(q ->> 'calendar', ''),
		coalesce(q ->> 'on_closed', 'skip'), nullif(q ->> 'starts', '')::timestamptz,
			nullif(q ->> 'ends', '')::timestamptz,
		coalesce(q ->> 'missed', 'run_once'), coalesce(q ->> 'overlap', 'skip'));
	IF former.owner <> current_user THEN
		PERFORM @extschema@.sf_alter_owner('schedule:' || target, former.owner);
	END IF;
	RETURN jsonb_build_object('job', job);
END
$$;

-- plan_schedule, as set_schedule: the next five times that the schedule would have.
CREATE FUNCTION _sfflow.console_plan_schedule(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	begin_at timestamptz := greatest(now(), nullif(q ->> 'starts', '')::timestamptz);
	ahead interval;
	plan jsonb;
BEGIN
	PERFORM _sfflow.console_set_schedule(q);
	-- Times of many years are too many for a schedule of minutes.
	FOREACH ahead IN ARRAY '{2 days, 40 days, 400 days, 9 years}'::interval[] LOOP
		SELECT jsonb_build_object('times', coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.scheduled_for), '[]')) INTO plan
		FROM (SELECT x.scheduled_for, x.local_time
			FROM @extschema@.sf_schedule_preview(q ->> 'name', begin_at, begin_at + ahead) x
			ORDER BY x.scheduled_for LIMIT 5) p;
		EXIT WHEN jsonb_array_length(plan -> 'times') = 5;
	END LOOP;
	RETURN plan;
END
$$;
