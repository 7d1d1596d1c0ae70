-- The six jobs. Each is a plain function: its argument comes from the payload by name, its result is
-- the job's output, an error is the job's failure.

SET search_path = shop;

-- JOB-001: load the files of the day.
CREATE FUNCTION load_day(id date, OUT sales bigint, OUT payments bigint)
LANGUAGE plpgsql SET search_path = shop, pg_temp AS $$
DECLARE
	folder text := (SELECT i.folder FROM inbox AS i);
BEGIN
	CREATE TEMP TABLE raw_sale (store_id integer, receipt_no integer, line_no integer, sku integer,
		quantity integer, amount numeric) ON COMMIT DROP;
	CREATE TEMP TABLE raw_payment (payment_id bigint, store_id integer, receipt_no integer,
		method text, terminal text, amount numeric) ON COMMIT DROP;
	EXECUTE format('COPY raw_sale FROM %L (FORMAT csv, HEADER)', folder || '/sales.csv');
	EXECUTE format('COPY raw_payment FROM %L (FORMAT csv, HEADER)', folder || '/payments.csv');

	INSERT INTO sale SELECT load_day.id, r.* FROM raw_sale AS r;
	GET DIAGNOSTICS sales = ROW_COUNT;
	INSERT INTO payment SELECT load_day.id, r.* FROM raw_payment AS r;
	GET DIAGNOSTICS payments = ROW_COUNT;
	DROP TABLE raw_sale, raw_payment;
END $$;

-- JOB-002: aggregate sales by store.
CREATE FUNCTION aggregate_stores(id date, OUT stores bigint, OUT revenue numeric)
LANGUAGE sql SET search_path = shop, pg_temp AS $$
	WITH made AS (
		INSERT INTO store_day
		SELECT business_day, store_id, count(DISTINCT receipt_no), count(*), sum(amount)
		FROM sale WHERE business_day = aggregate_stores.id
		GROUP BY business_day, store_id
		RETURNING *)
	SELECT count(*), sum(made.revenue) FROM made;
$$;

-- JOB-003: report by region, with the best store and the best article of each.
CREATE FUNCTION report_regions(id date, OUT regions bigint)
LANGUAGE sql SET search_path = shop, pg_temp AS $$
	WITH by_sku AS (
		SELECT region, sku, row_number() OVER (PARTITION BY region ORDER BY sum(amount) DESC, sku) AS place
		FROM sale JOIN store USING (store_id)
		WHERE business_day = report_regions.id
		GROUP BY region, sku
	), by_store AS (
		SELECT region, name, sum(revenue) OVER (PARTITION BY region) AS revenue,
			row_number() OVER (PARTITION BY region ORDER BY revenue DESC, store_id) AS place
		FROM store_day JOIN store USING (store_id)
		WHERE business_day = report_regions.id
	), made AS (
		INSERT INTO region_report
		SELECT report_regions.id, region, s.revenue, s.name, k.sku
		FROM by_store AS s JOIN by_sku AS k USING (region)
		WHERE s.place = 1 AND k.place = 1
		RETURNING *)
	SELECT count(*) FROM made;
$$;

-- JOB-004: reconcile receipts with payments.
CREATE FUNCTION reconcile(id date, OUT receipts bigint, OUT differences bigint)
LANGUAGE plpgsql SET search_path = shop, pg_temp AS $$
BEGIN
	WITH sold AS (
		SELECT store_id, receipt_no, sum(amount) AS amount
		FROM sale WHERE business_day = reconcile.id GROUP BY store_id, receipt_no
	), paid AS (
		SELECT store_id, receipt_no, sum(amount) AS amount
		FROM payment WHERE business_day = reconcile.id GROUP BY store_id, receipt_no
	), made AS (
		INSERT INTO difference
		SELECT reconcile.id, store_id, receipt_no, coalesce(sold.amount, 0), coalesce(paid.amount, 0)
		FROM sold FULL JOIN paid USING (store_id, receipt_no)
		WHERE sold.amount IS DISTINCT FROM paid.amount
		RETURNING *)
	SELECT (SELECT count(*) FROM sold), (SELECT count(*) FROM made) INTO receipts, differences;
END $$;

-- JOB-005: settle with the bank, by terminal and method.
CREATE FUNCTION settle(id date, OUT settlements bigint, OUT amount numeric)
LANGUAGE sql SET search_path = shop, pg_temp AS $$
	WITH made AS (
		INSERT INTO settlement
		SELECT p.business_day, p.store_id, p.terminal, p.method, count(*), sum(p.amount)
		FROM payment AS p WHERE p.business_day = settle.id
		GROUP BY p.business_day, p.store_id, p.terminal, p.method
		RETURNING *)
	SELECT count(*), sum(made.amount) FROM made;
$$;

-- JOB-006: close the day.
CREATE FUNCTION close_day(id date) RETURNS closed_day
LANGUAGE sql SET search_path = shop, pg_temp AS $$
	INSERT INTO closed_day (business_day, stores, receipts, revenue, settled, differences)
	SELECT close_day.id, count(*), sum(receipts), sum(revenue),
		(SELECT sum(amount) FROM settlement WHERE business_day = close_day.id),
		(SELECT count(*) FROM difference WHERE business_day = close_day.id)
	FROM store_day WHERE business_day = close_day.id
	RETURNING *;
$$;

-- What the schedule starts: the night of the day that is over by then, under that day's name.
CREATE FUNCTION start_night(scheduled timestamptz) RETURNS text
LANGUAGE sql SET search_path = public, pg_temp AS $$
	SELECT sf_start('nightly', jsonb_build_object('id', to_char(scheduled AT TIME ZONE 'UTC' - interval '1 day', 'YYYYMMDD')));
$$;
