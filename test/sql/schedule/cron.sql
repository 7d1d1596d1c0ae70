-- When cron expressions match: the latest match up to a time, and the next one after it.
SET timezone = 'UTC';
\set VERBOSITY default
\set SHOW_CONTEXT never

-- Wednesday, the fifth of February 2025, half past ten in UTC.
SELECT expression, _sfflow.schedule_latest(expression, 'UTC', t) AS latest,
	_sfflow.schedule_next(expression, 'UTC', t) AS next
FROM (VALUES
	('* * * * *'), ('30 10 * * *'), ('31 10 * * *'), ('0 2 * * *'), ('*/15 * * * *'),
	('5-20/5,40 9-17 * * *'), ('0 0 1 * *'), ('0 0 $ * *'), ('0 0 * * mon'), ('0 0 * * MON-FRI'),
	('0 0 * * 0'), ('0 0 * * 7'), ('0 12 13 * 5'), ('0 12 */2 * 5'), ('0 0 29 2 *'),
	('0 0 1 jan,jul *'), ('0 0 31 4-6 *'), ('  0   2	* * *  '),
	('@hourly'), ('@daily'), ('@midnight'), ('@weekly'), ('@monthly'), ('@yearly'), ('@annually'),
	('10 seconds'), ('7 seconds')) AS e(expression),
	(VALUES ('2025-02-05 10:30:00+00'::timestamptz)) AS n(t);

-- A second before the minute is not yet the match.
SELECT _sfflow.schedule_latest('30 10 * * *', 'UTC', '2025-02-05 10:29:59.999999+00') AS before,
	_sfflow.schedule_latest('30 10 * * *', 'UTC', '2025-02-05 10:30:59.999999+00') AS within,
	_sfflow.schedule_next('30 10 * * *', 'UTC', '2025-02-05 10:29:59.999999+00') AS next;

-- In other zones, and before 1970 and 2000.
SELECT zone, _sfflow.schedule_next('0 2 * * *', zone, '2025-02-05 10:30Z') AS next
FROM unnest(ARRAY['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu', 'Pacific/Auckland']) AS zone;
SELECT _sfflow.schedule_latest('*/10 * * * *', 'UTC', '1969-12-31 23:59:30+00'), _sfflow.schedule_next('45 seconds',
	'UTC', '1999-12-31 23:59:50+00');

-- Clocks go forward: in Berlin there is no 02:30 on the 30th of March; the run comes at 03:30, as PostgreSQL reads it;
-- hours marked "*" just go on.
SELECT expression, string_agg(to_char(m, 'DD HH24:MI'), ', ' ORDER BY m) AS utc
FROM (VALUES ('30 2 * * *'), ('30 * * * *')) AS e(expression),
LATERAL (
	WITH RECURSIVE r(m, n) AS (
		SELECT _sfflow.schedule_next(expression, 'Europe/Berlin', '2025-03-29 00:00Z'), 1
		UNION ALL
		SELECT _sfflow.schedule_next(expression, 'Europe/Berlin', m), n + 1 FROM r
		WHERE m < '2025-03-30 03:00Z')
	SELECT m FROM r WHERE m > '2025-03-29 22:00Z' OR expression LIKE '30 2%') x
GROUP BY 1 ORDER BY 1;

-- Clocks go back: 02:30 comes twice on the 26th of October; a given hour runs the first time only.
SELECT expression, string_agg(to_char(m, 'DD HH24:MI'), ', ' ORDER BY m) AS utc
FROM (VALUES ('30 2 * * *'), ('30 * * * *'), ('30 2-3 * * *')) AS e(expression),
LATERAL (
	WITH RECURSIVE r(m) AS (
		SELECT _sfflow.schedule_next(expression, 'Europe/Berlin', '2025-10-25 22:00Z')
		UNION ALL
		SELECT _sfflow.schedule_next(expression, 'Europe/Berlin', m) FROM r
		WHERE m < '2025-10-26 03:00Z')
	SELECT m FROM r) x
GROUP BY 1 ORDER BY 1;

-- By half an hour, on Lord Howe Island.
SELECT string_agg(to_char(m, 'DD HH24:MI'), ', ' ORDER BY m) AS utc
FROM (
	WITH RECURSIVE r(m) AS (
		SELECT _sfflow.schedule_next('0,15,30,45 1-2 * * *', 'Australia/Lord_Howe', '2025-10-04 13:00Z')
		UNION ALL
		SELECT _sfflow.schedule_next('0,15,30,45 1-2 * * *', 'Australia/Lord_Howe', m) FROM r
		WHERE m < '2025-10-04 17:00Z')
	SELECT m FROM r) x;

-- Looking back and looking forward agree, over two years and both changes of clocks.
SELECT count(*) AS differences
FROM unnest(ARRAY['30 2 * * *', '15 */3 * * 1-5', '0 0 1,15 * *', '59 23 $ * *']) AS expression,
	unnest(ARRAY['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC']) AS zone,
	generate_series('2025-01-01'::timestamptz, '2027-01-01', '97 hours 13 minutes') AS t,
	LATERAL (SELECT _sfflow.schedule_next(expression, zone, t) AS next) n
WHERE _sfflow.schedule_latest(expression, zone, next) <> next
	OR _sfflow.schedule_latest(expression, zone, next - interval '1 minute') > t;

-- What is no expression, and why.
\set VERBOSITY terse
SELECT _sfflow.schedule_next('', 'UTC', now());
SELECT _sfflow.schedule_next('@reboot', 'UTC', now());
SELECT _sfflow.schedule_next('60 seconds', 'UTC', now());
SELECT _sfflow.schedule_next('0 2 * * *', 'Mars/Olympus', now());
\set VERBOSITY default
SELECT _sfflow.schedule_next('0 2 * *', 'UTC', now());
SELECT _sfflow.schedule_next('0 2 * * * *', 'UTC', now());
SELECT _sfflow.schedule_next('60 2 * * *', 'UTC', now());
SELECT _sfflow.schedule_next('0 2 0 * *', 'UTC', now());
SELECT _sfflow.schedule_next('0 2 * foo *', 'UTC', now());
SELECT _sfflow.schedule_next('0 17-9 * * *', 'UTC', now());
SELECT _sfflow.schedule_next('5/10 * * * *', 'UTC', now());
SELECT _sfflow.schedule_next('*/0 * * * *', 'UTC', now());
SELECT _sfflow.schedule_next('0 0 31 2 *', 'UTC', now());
