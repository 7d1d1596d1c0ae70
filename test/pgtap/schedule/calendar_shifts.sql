-- A picked day that is moved twice, by on_closed and by Plus, and each time by almost two years.
BEGIN;
SELECT plan(4);

SELECT sf_create_calendar('sparse', '{"Weekdays": [], "Open": ["2021-03-01", "2023-01-31", "2026-12-01",
	"2028-06-01"]}',
	'[{"Dates": ["2025-01-01"], "Plus": 1}]');
SELECT results_eq($$ SELECT day FROM sf_calendar_days('sparse', '2028-06-01', '2028-06-01', 'next') WHERE is_picked $$,
	$$ VALUES (date '2028-06-01') $$,
	'a day is asked for that is picked more than three years before');
SELECT is_empty($$ SELECT FROM sf_calendar_days('sparse', '2028-05-01', '2028-05-31', 'next') WHERE is_picked $$,
	'none of those before it');
SELECT sf_create_calendar('sparse', '{"Weekdays": [], "Open": ["2021-03-01", "2023-01-31", "2026-12-01",
	"2028-06-01"]}',
	'[{"Dates": ["2025-01-01"], "Plus": -1}]');
SELECT results_eq($$ SELECT day FROM sf_calendar_days('sparse', '2021-03-01', '2021-03-01', 'previous')
	WHERE is_picked $$, $$ VALUES (date '2021-03-01') $$,
	'... or after');
SELECT results_eq($$ SELECT day FROM sf_calendar_days('sparse', '2021-01-01', '2028-12-31', 'previous')
	WHERE is_picked $$, $$ VALUES (date '2021-03-01') $$,
	'a long stretch has the same');

SELECT * FROM finish();
ROLLBACK;
