-- Calendars: open days, and the days that are picked, for schedules. Every role may see and use them; only the owner
-- changes one.

CREATE FUNCTION @extschema@.sf_create_calendar(name text, rule jsonb, days jsonb DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_calendar'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_create_calendar(text, jsonb, jsonb) IS
	'make a calendar for schedules, or replace it';

CREATE FUNCTION @extschema@.sf_drop_calendar(name text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_calendar'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_calendar(text) IS 'remove a calendar that no schedule and no calendar uses';

CREATE FUNCTION @extschema@.sf_calendar_days(
	calendar text,
	from_day date,
	to_day date,
	on_closed text DEFAULT 'skip',
	OUT day date,
	OUT is_open boolean,
	OUT is_picked boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_calendar_days'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 365;
COMMENT ON FUNCTION @extschema@.sf_calendar_days(text, date, date, text) IS
	'the days of a calendar from one to another: which are open, and which it picks';

CREATE VIEW @extschema@.sf_calendars WITH (security_barrier) AS
SELECT c.name AS calendar, c.owner, c.rule, c.days, c.created_at, c.changed_at
FROM _sfflow.calendar c;
GRANT SELECT ON @extschema@.sf_calendars TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_calendars IS 'calendars for schedules';
