-- Calendars: which days are open, which are picked, and what is refused.
\set VERBOSITY default
\set SHOW_CONTEXT never
SET datestyle = 'ISO';
CREATE ROLE regress_sfflow_clerk;
CREATE ROLE regress_sfflow_other;
SET ROLE regress_sfflow_clerk;

-- Without a rule every day is open, and without days every day is picked.
SELECT sf_create_calendar('regress_all', '{}');
SELECT count(*), bool_and(is_open), bool_and(is_picked) FROM sf_calendar_days('regress_all', '2025-01-01',
	'2025-12-31');

-- Weekdays, then Closed, then Open, then Exceptions.
SELECT sf_create_calendar('regress_de', '{"Weekdays": ["MON", "TUE", "WED", "THU", "FRI"],
	"Closed": ["12-25", "12-26", "2025-12-24"],
	"Open": ["2025-12-20"], "Exceptions": [{"From": "2025-12-27", "To": "2025-12-28", "Open": ["SAT"]},
		{"From": "2025-12-29", "To": "2025-12-31", "Closed": true}]}');
SELECT to_char(day, 'Dy DD') AS open FROM sf_calendar_days('regress_de', '2025-12-18', '2026-01-02') WHERE is_open;

-- What a calendar says comes before what it extends; weekdays and the begin of months are those said last.
SELECT sf_create_calendar('regress_shop', '{"Extends": "regress_de", "Weekdays": ["MON", "TUE", "WED", "THU", "FRI",
	"SAT"], "Open": ["2025-12-24"], "Closed": ["2025-12-20"]}');
SELECT to_char(day, 'Dy DD') AS open FROM sf_calendar_days('regress_shop', '2025-12-18', '2026-01-03') WHERE is_open;

-- Days, each by on_closed. The 20th is a Saturday, and open; the first is a Monday.
CREATE FUNCTION pg_temp.picked(days jsonb, on_closed text DEFAULT 'skip',
	rule jsonb DEFAULT '{"Extends": "regress_de"}') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_create_calendar('regress_days', rule, days);
	RETURN (SELECT string_agg(to_char(day, 'DD'), ' ' ORDER BY day)
		FROM sf_calendar_days('regress_days', '2025-12-01', '2025-12-31', on_closed) WHERE is_picked);
END $$;
SELECT pg_temp.picked('{"Every": 5, "From": "2025-12-04"}') AS every, pg_temp.picked('{"Every": 1}', 'run') AS each;
SELECT pg_temp.picked('{"Weekdays": ["mon", "SAT"]}') AS weekdays,
	pg_temp.picked('{"Weekdays": ["MON"], "Nth": 2}') AS second,
	pg_temp.picked('{"Weekdays": ["THU"], "Nth": -1}', 'previous') AS last;
SELECT pg_temp.picked('{"MonthDays": [1, 13, -1]}', o) AS month_days, o
	FROM unnest('{skip,previous,next,run}'::text[]) AS o;
SELECT pg_temp.picked('{"OpenDays": [1, 2, -1]}') AS open_days, pg_temp.picked('{"ClosedDays": [1, -1]}',
	'run') AS closed_days;
SELECT pg_temp.picked('{"Dates": ["12-06", "2025-12-24", "2024-12-12"]}', 'next') AS dates;
SELECT pg_temp.picked('{"MonthDays": [1], "Months": [11]}') AS not_this_month, pg_temp.picked('[]') AS none;
SELECT pg_temp.picked('{"MonthDays": [10], "Plus": 2}') AS plus, pg_temp.picked('{"MonthDays": [13], "Plus": -1}',
	'run') AS minus,
	pg_temp.picked('{"MonthDays": [13], "Plus": 1}', 'next') AS next_and_plus,
		pg_temp.picked('{"MonthDays": [13], "Plus": 1}', 'skip') AS skipped;
SELECT pg_temp.picked('[{"MonthDays": [1, 2, 3]}, {"MonthDays": [3, 4], "Except": {"MonthDays": [4]}},
	{"Except": [{"MonthDays": [2]}]}]') AS several;
SELECT pg_temp.picked('[{"MonthDays": [1, -1]}]', 'run', '{"MonthStart": 21}') AS other_months;
-- A month has no 31st open day, and no open day is near enough to a day when none is open.
SELECT pg_temp.picked('{"OpenDays": [31]}') AS too_many, pg_temp.picked('{"MonthDays": [1]}', 'next',
	'{"Weekdays": []}') AS never;
-- What a calendar has no days of its own for is picked by those of the calendar that it extends.
SELECT sf_create_calendar('regress_more', '{"Extends": "regress_days"}');
SELECT pg_temp.picked('{"MonthDays": [5]}');
SELECT string_agg(day::text, ' ') FROM sf_calendar_days('regress_more', '2025-12-01', '2025-12-31') WHERE is_picked;

-- What is wrong, and where.
CREATE FUNCTION pg_temp.complaint(rule jsonb, days jsonb DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM sf_create_calendar('regress_bad', rule, days);
	RETURN 'made';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, SQLERRM || ':', detail);
END $$;
SELECT pg_temp.complaint(rule::jsonb) FROM (VALUES ('[]'), ('"a"'), ('{"Holidays": []}'), ('{"Weekdays": "MON"}'),
	('{"Weekdays": ["MON", "Montag"]}'),
	('{"Closed": ["2025-02-29"]}'), ('{"Closed": ["02-29"]}'), ('{"Closed": ["02-30"]}'), ('{"Closed": ["13-01"]}'),
		('{"Closed": ["2025-1-1"]}'), ('{"Open": [20250101]}'), ('{"Open": ["0000-01-01"]}'),
	('{"MonthStart": 29}'), ('{"MonthStart": 1.5}'), ('{"Extends": 7}'), ('{"Extends": "regress_nothing"}'),
		('{"Exceptions": [{"From": "2025-01-01"}]}'),
	('{"Exceptions": [{"From": "2025-01-02", "To": "2025-01-01", "Open": true}]}'),
		('{"Exceptions": [{"From": "2025-01-01", "To": "2025-01-02", "Open": true, "Closed": true}]}'),
	('{"Exceptions": [{"From": "2025-01-01", "To": "2025-01-02", "Open": false}]}'),
		('{"Exceptions": [{"From": "01-01", "To": "2025-01-02", "Open": true}]}')) AS r(rule);
SELECT pg_temp.complaint('{}', days::jsonb) FROM (VALUES ('7'), ('{}'), ('[{"Months": [1]}]'), ('{"Every": 0}'),
	('{"Every": 2}'), ('{"Every": 1, "MonthDays": [1]}'),
	('{"Weekdays": ["MON"], "Nth": 0}'), ('{"Weekdays": ["MON"], "Nth": 6}'), ('{"MonthDays": [1], "Nth": 1}'),
		('{"MonthDays": [0]}'), ('{"MonthDays": [32]}'), ('{"OpenDays": ["1"]}'),
	('{"MonthDays": [1], "From": "2025-01-01"}'), ('{"MonthDays": [1], "Months": [13]}'),
		('{"MonthDays": [1], "Plus": 400}'), ('{"MonthDays": [1], "Except": {"MonthDays": [1], "Plus": 1}}'),
	('{"MonthDays": [1], "Except": {"Months": [1]}}'),
		('[{"MonthDays": [1]}, {"Except": [{"Every": 1, "From": "x"}]}]')) AS d(days);
SELECT sf_create_calendar('regress bad', '{}');
SELECT sf_create_calendar('regress_bad', NULL);
SELECT * FROM sf_calendar_days('regress_nothing', '2025-01-01', '2025-01-02');
SELECT * FROM sf_calendar_days('regress_de', '2025-01-01', '2035-02-01');
SELECT count(*) FROM sf_calendar_days('regress_de', '2025-01-01', '2035-01-01');
SELECT * FROM sf_calendar_days('regress_de', '2025-01-01', 'infinity');
SELECT * FROM sf_calendar_days('regress_de', '0001-12-31 BC', '0001-01-01');
SELECT * FROM sf_calendar_days('regress_de', '9999-12-31', '10000-01-01');
SELECT * FROM sf_calendar_days('regress_de', '9999-12-31', '9999-12-31');
SELECT count(*) FROM sf_calendar_days('regress_de', '0001-01-01', '0001-01-03');
SELECT * FROM sf_calendar_days('regress_de', '2025-01-01', '2025-01-02', 'never');
SELECT * FROM sf_calendar_days('regress_de', '2025-01-02', '2025-01-01');

-- Calendars do not extend each other in a circle, and stay as long as another one extends them.
SELECT sf_create_calendar('regress_de', '{"Extends": "regress_shop"}');
SELECT sf_create_calendar('regress_de', '{"Extends": "regress_de"}');
SELECT sf_create_calendar('regress_all', '{"Extends": "regress_more"}');
SELECT sf_drop_calendar('regress_de');
SELECT sf_drop_calendar('regress_nothing');

-- Every role sees and uses calendars; only the owner changes one.
SELECT calendar, owner, rule, days, changed_at > created_at AS changed FROM sf_calendars
	WHERE calendar IN ('regress_all', 'regress_days') ORDER BY calendar;
SET ROLE regress_sfflow_other;
SELECT count(*) FROM sf_calendars WHERE calendar LIKE 'regress%';
SELECT sf_create_calendar('regress_all', '{}');
SELECT sf_drop_calendar('regress_all');
SELECT sf_create_calendar('regress_mine', '{"Extends": "regress_all"}');
SELECT sf_alter_owner('calendar:regress_all', 'regress_sfflow_other');
RESET ROLE;
-- Rights and owners as of other objects.
SELECT sf_revoke('CREATE', '*', 'public');
SET ROLE regress_sfflow_other;
SELECT sf_create_calendar('regress_mine', '{}');
SELECT sf_create_calendar('regress_new', '{}');
RESET ROLE;
SELECT sf_grant('CREATE', '*', 'public');
DROP ROLE regress_sfflow_other;
SELECT sf_alter_owner('calendar:regress_mine', 'regress_sfflow_clerk');
DROP ROLE regress_sfflow_other;
DROP FUNCTION pg_temp.picked, pg_temp.complaint;
SELECT sf_reassign_owned('regress_sfflow_clerk', current_user) AS reassigned;
DROP ROLE regress_sfflow_clerk;
SELECT action, target FROM sf_audit WHERE target = 'calendar:regress_mine' ORDER BY at;
SELECT sf_drop_calendar(c) FROM unnest('{regress_mine,regress_all,regress_more,regress_days,regress_shop,regress_de,
	regress_bad}'::text[]) AS c;
SELECT count(*) FROM sf_calendars WHERE calendar LIKE 'regress%';
SELECT * FROM sf_check();
