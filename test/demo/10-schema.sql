-- A retailer's tables: what comes in, what the night makes of it.

CREATE SCHEMA shop;
SET search_path = shop;

-- Where the day's files are put.
CREATE TABLE inbox (folder text NOT NULL);

CREATE TABLE store (
	store_id integer PRIMARY KEY,
	name text NOT NULL,
	region text NOT NULL
);
INSERT INTO store
SELECT n, 'Store ' || n, (ARRAY['North', 'East', 'South', 'West'])[1 + n % 4]
FROM generate_series(1, 200) AS n;

CREATE TABLE sale (
	business_day date NOT NULL,
	store_id integer NOT NULL REFERENCES store,
	receipt_no integer NOT NULL,
	line_no integer NOT NULL,
	sku integer NOT NULL,
	quantity integer NOT NULL CHECK (quantity > 0),
	amount numeric(12, 2) NOT NULL,
	PRIMARY KEY (business_day, store_id, receipt_no, line_no)
);

-- As reported by tills and terminals; nothing is refused here.
CREATE TABLE payment (
	business_day date NOT NULL,
	payment_id bigint NOT NULL,
	store_id integer NOT NULL,
	receipt_no integer NOT NULL,
	method text NOT NULL,
	terminal text,
	amount numeric(12, 2) NOT NULL,
	PRIMARY KEY (business_day, payment_id)
);

CREATE TABLE store_day (
	business_day date NOT NULL,
	store_id integer NOT NULL REFERENCES store,
	receipts integer NOT NULL,
	lines integer NOT NULL,
	revenue numeric(14, 2) NOT NULL,
	PRIMARY KEY (business_day, store_id)
);

CREATE TABLE region_report (
	business_day date NOT NULL,
	region text NOT NULL,
	revenue numeric(14, 2) NOT NULL,
	best_store text NOT NULL,
	best_sku integer NOT NULL,
	PRIMARY KEY (business_day, region)
);

-- Receipts whose payments do not add up.
CREATE TABLE difference (
	business_day date NOT NULL,
	store_id integer NOT NULL,
	receipt_no integer NOT NULL,
	sold numeric(12, 2) NOT NULL,
	paid numeric(12, 2) NOT NULL,
	PRIMARY KEY (business_day, store_id, receipt_no)
);

-- What the bank is told. It refuses a terminal that cannot exist.
CREATE TABLE settlement (
	business_day date NOT NULL,
	store_id integer NOT NULL REFERENCES store,
	terminal text NOT NULL CONSTRAINT terminal_is_valid CHECK (terminal ~ '^T[0-9]{7}$'),
	method text NOT NULL,
	payments integer NOT NULL,
	amount numeric(14, 2) NOT NULL,
	PRIMARY KEY (business_day, store_id, terminal, method)
);

CREATE TABLE closed_day (
	business_day date PRIMARY KEY,
	stores integer NOT NULL,
	receipts integer NOT NULL,
	revenue numeric(14, 2) NOT NULL,
	settled numeric(14, 2) NOT NULL,
	differences integer NOT NULL,
	closed_at timestamptz NOT NULL DEFAULT now()
);
