--
-- PostgreSQL database dump
--


-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: sfflow; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS sfflow WITH SCHEMA public;


--
-- Name: EXTENSION sfflow; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION sfflow IS 'durable Amazon States Language workflows inside PostgreSQL';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: ledger; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ledger (
    kind text,
    name text,
    step text
);


--
-- Name: book(text, text, text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.book(kind text, name text, step text) RETURNS jsonb
    LANGUAGE sql
    BEGIN ATOMIC
 INSERT INTO public.ledger (kind, name, step)
   VALUES (book.kind, book.name, book.step);
 SELECT to_jsonb(step) AS to_jsonb;
END;


--
-- Name: fail_until_repaired(text, text, text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.fail_until_repaired(kind text, name text, step text) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'public.repaired'::regclass AND attname = 'done') THEN
		RAISE EXCEPTION 'not yet';
	END IF;
	RETURN public.book(kind, name, step);
END $$;


--
-- Name: size; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.size (
    n integer
);


--
-- Name: wanted; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.wanted AS
 SELECT step.kind,
    (number.number)::text AS name,
    step.step
   FROM ((public.size
     CROSS JOIN LATERAL generate_series(1, size.n) number(number))
     CROSS JOIN ( VALUES ('task'::text,'a'::text), ('task'::text,'b'::text), ('parallel'::text,'a'::text), ('parallel'::text,'b'::text), ('parallel'::text,'c'::text), ('parallel'::text,'e'::text), ('nested'::text,'a'::text), ('nested'::text,'b'::text), ('nested'::text,'c'::text), ('activity'::text,'a'::text), ('turn'::text,'a'::text), ('turn'::text,'b'::text), ('place'::text,'a'::text), ('net'::text,'a'::text), ('net'::text,'b'::text), ('net'::text,'c'::text), ('net'::text,'d'::text), ('map'::text,'i'::text), ('map'::text,'i'::text), ('map'::text,'e'::text), ('distributed'::text,'i'::text), ('distributed'::text,'i'::text), ('distributed'::text,'e'::text), ('failed'::text,'a'::text), ('failed'::text,'b'::text)) step(kind, step));


--
-- Name: differences; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.differences AS
 SELECT COALESCE(w.kind, l.kind) AS kind,
    COALESCE(w.name, l.name) AS name,
    COALESCE(w.step, l.step) AS step,
    w.times AS wanted,
    l.times AS done
   FROM (( SELECT wanted.kind,
            wanted.name,
            wanted.step,
            count(*) AS times
           FROM public.wanted
          GROUP BY wanted.kind, wanted.name, wanted.step) w
     FULL JOIN ( SELECT ledger.kind,
            ledger.name,
            ledger.step,
            count(*) AS times
           FROM public.ledger
          GROUP BY ledger.kind, ledger.name, ledger.step) l USING (kind, name, step))
  WHERE (w.times IS DISTINCT FROM l.times);


--
-- Name: repaired; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.repaired (
);


--
-- Name: started; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.started AS
 SELECT kind.kind
   FROM unnest('{task,parallel,nested,activity,turn,place,net,map,distributed,failed}'::text[]) kind(kind);


--
-- Name: token; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.token (
    token text
);


--
-- Data for Name: access_key; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.access_key (access_key_id, role, secret, created_at, created_by, created_in) FROM stdin;
\.


--
-- Data for Name: acknowledgement; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.acknowledgement (execution_no, kind, since, acknowledged_at, acknowledged_by, comment, slow_since) FROM stdin;
\.


--
-- Data for Name: activity; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.activity (activity_no, name, owner, lease, max_receive_count, created_at, last_polled_at, last_worker) FROM stdin;
1	outside	postgres	01:00:00	\N	2026-11-26 03:54:14.234993+00	2026-11-26 03:54:14.429706+00	early
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.audit (at, action, object_kind, object_name, execution_no, target, role, session_role, reason, details) FROM stdin;
2026-11-26 03:54:14.236773+00	create	m	task	\N	task	postgres	postgres	\N	{"version": 1}
2026-11-26 03:54:14.245725+00	create	m	parallel	\N	parallel	postgres	postgres	\N	{"version": 1}
2026-11-26 03:54:14.247637+00	create	m	inner	\N	inner	postgres	postgres	\N	{"version": 1}
2026-11-26 03:54:14.247905+00	create	m	nested	\N	nested	postgres	postgres	\N	{"version": 1}
2026-11-26 03:54:14.248159+00	create	m	activity	\N	activity	postgres	postgres	\N	{"version": 1}
2026-11-26 03:54:14.24857+00	create	m	turn	\N	turn	postgres	postgres	\N	{"version": 1}
2026-11-26 03:54:14.250043+00	set limit	m	turn	\N	turn	postgres	postgres	\N	{"on_limit": "queue", "max_running": 2}
2026-11-26 03:54:14.254201+00	create	m	place	\N	place	postgres	postgres	\N	{"version": 1}
2026-11-26 03:54:14.265876+00	create	m	net	\N	net	postgres	postgres	\N	{"version": 1}
2026-11-26 03:54:14.266181+00	create	m	map	\N	map	postgres	postgres	\N	{"version": 1}
2026-11-26 03:54:14.2664+00	create	m	distributed	\N	distributed	postgres	postgres	\N	{"version": 1}
2026-11-26 03:54:14.266583+00	create	m	failed	\N	failed	postgres	postgres	\N	{"version": 1}
\.


--
-- Data for Name: aws_resource; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.aws_resource (object_kind, object_name, tags, encryption) FROM stdin;
\.


--
-- Data for Name: branch; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.branch (execution_no, branch_no, parent_no, branch_index, scope, state, phase, place, owner, attempt, generation, entered_event, last_event, payload_event, pending, next_index, total, max_concurrency, failed_event, transitions, map_run_no, failing, aborting, uncatchable, due_at, entered_at, started_at, deadline, iterations, retry_counts, jobs, error, cause, sqlstate, payload, variables, task_payload, outcome, join_input, item) FROM stdin;
2	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.293803+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
3	0	\N	0	0	0	6	0	postgres	0	1	2	5	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.29386+00	2026-11-26 03:54:14.29386+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
7	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	3	2	3	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.294585+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
8	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.294638+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
12	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.29491+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
13	0	\N	0	0	0	6	0	postgres	0	1	2	5	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.294921+00	2026-11-26 03:54:14.294921+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
14	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.294965+00	2026-11-26 03:54:14.294965+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
16	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.295035+00	2026-11-26 03:54:14.295035+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
17	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	3	2	3	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.295066+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
18	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.295076+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
22	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.295129+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
23	0	\N	0	0	0	6	0	postgres	0	1	2	5	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.295141+00	2026-11-26 03:54:14.295141+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
11	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.376231+00	2026-11-26 03:54:14.376231+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
15	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:15.376214+00	2026-11-26 03:54:14.376214+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
20	0	\N	0	0	1	8	0	postgres	0	1	7	11	1	0	0	0	0	0	2	\N	f	f	f	\N	2026-11-26 03:54:14.376186+00	2026-11-26 03:54:14.376186+00	\N	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
21	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.37618+00	2026-11-26 03:54:14.37618+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
4	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:54:14.430002+00	2026-11-26 03:54:14.2941+00	2026-11-26 03:54:14.2941+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
6	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:54:14.430108+00	2026-11-26 03:54:14.294475+00	2026-11-26 03:54:14.294475+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
24	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.29517+00	2026-11-26 03:54:14.29517+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
25	0	\N	0	0	0	0	0	postgres	0	0	0	0	0	0	0	0	0	0	0	\N	f	f	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
26	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.295732+00	2026-11-26 03:54:14.295732+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
27	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	3	2	3	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.295778+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
28	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.295792+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
32	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.295826+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
33	0	\N	0	0	0	6	0	postgres	0	1	2	5	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.295833+00	2026-11-26 03:54:14.295833+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
34	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.29586+00	2026-11-26 03:54:14.29586+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
35	0	\N	0	0	0	0	0	postgres	0	0	0	0	0	0	0	0	0	0	0	\N	f	f	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
36	0	\N	0	0	0	0	0	postgres	0	0	0	0	0	0	0	0	0	0	0	\N	f	f	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
37	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	3	2	3	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.296245+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
38	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.296257+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
42	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.296285+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
43	0	\N	0	0	0	6	0	postgres	0	1	2	5	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.296293+00	2026-11-26 03:54:14.296293+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
44	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.296318+00	2026-11-26 03:54:14.296318+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
45	0	\N	0	0	0	0	0	postgres	0	0	0	0	0	0	0	0	0	0	0	\N	f	f	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
46	0	\N	0	0	0	0	0	postgres	0	0	0	0	0	0	0	0	0	0	0	\N	f	f	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
47	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	3	2	3	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.296612+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
48	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 03:54:14.296621+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
8	5	0	0	1	1	2	0	postgres	0	0	5	5	5	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.294642+00	2026-11-26 03:54:14.294642+00	\N	\N	{0}	\N	\N	\N	\N	\N	{"name": "1"}	\N	\N	\N	\N	\N
8	6	0	1	1	1	2	0	postgres	0	0	7	7	7	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.294643+00	2026-11-26 03:54:14.294643+00	\N	\N	{1}	\N	\N	\N	\N	\N	{"name": "1"}	\N	\N	\N	\N	\N
18	12	0	0	1	1	2	0	postgres	0	0	5	5	5	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.29508+00	2026-11-26 03:54:14.29508+00	\N	\N	{0}	\N	\N	\N	\N	\N	{"name": "2"}	\N	\N	\N	\N	\N
18	13	0	1	1	1	2	0	postgres	0	0	7	7	7	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.29508+00	2026-11-26 03:54:14.29508+00	\N	\N	{1}	\N	\N	\N	\N	\N	{"name": "2"}	\N	\N	\N	\N	\N
28	19	0	0	1	1	2	0	postgres	0	0	5	5	5	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.295794+00	2026-11-26 03:54:14.295794+00	\N	\N	{0}	\N	\N	\N	\N	\N	{"name": "3"}	\N	\N	\N	\N	\N
28	20	0	1	1	1	2	0	postgres	0	0	7	7	7	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.295795+00	2026-11-26 03:54:14.295795+00	\N	\N	{1}	\N	\N	\N	\N	\N	{"name": "3"}	\N	\N	\N	\N	\N
38	26	0	0	1	1	2	0	postgres	0	0	5	5	5	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.296258+00	2026-11-26 03:54:14.296258+00	\N	\N	{0}	\N	\N	\N	\N	\N	{"name": "4"}	\N	\N	\N	\N	\N
38	27	0	1	1	1	2	0	postgres	0	0	7	7	7	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.296259+00	2026-11-26 03:54:14.296259+00	\N	\N	{1}	\N	\N	\N	\N	\N	{"name": "4"}	\N	\N	\N	\N	\N
48	33	0	0	1	1	2	0	postgres	0	0	5	5	5	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.296623+00	2026-11-26 03:54:14.296623+00	\N	\N	{0}	\N	\N	\N	\N	\N	{"name": "5"}	\N	\N	\N	\N	\N
48	34	0	1	1	1	2	0	postgres	0	0	7	7	7	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.296623+00	2026-11-26 03:54:14.296623+00	\N	\N	{1}	\N	\N	\N	\N	\N	{"name": "5"}	\N	\N	\N	\N	\N
2	2	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.349843+00	2026-11-26 03:54:14.349843+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
7	4	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.34986+00	2026-11-26 03:54:14.34986+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
12	9	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.350056+00	2026-11-26 03:54:14.350056+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
17	11	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.350068+00	2026-11-26 03:54:14.350068+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
22	16	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.350131+00	2026-11-26 03:54:14.350131+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
27	18	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.35014+00	2026-11-26 03:54:14.35014+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
32	23	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.350195+00	2026-11-26 03:54:14.350195+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
37	25	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.350205+00	2026-11-26 03:54:14.350205+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
9	0	\N	0	0	0	3	0	postgres	0	0	2	4	1	2	2	2	0	0	1	7	f	f	f	\N	2026-11-26 03:54:14.294687+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
19	0	\N	0	0	0	3	0	postgres	0	0	2	4	1	2	2	2	0	0	1	14	f	f	f	\N	2026-11-26 03:54:14.295086+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
29	0	\N	0	0	0	3	0	postgres	0	0	2	4	1	2	2	2	0	0	1	21	f	f	f	\N	2026-11-26 03:54:14.295799+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
39	0	\N	0	0	0	3	0	postgres	0	0	2	4	1	2	2	2	0	0	1	28	f	f	f	\N	2026-11-26 03:54:14.296262+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
42	30	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.351187+00	2026-11-26 03:54:14.351187+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
47	32	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.351198+00	2026-11-26 03:54:14.351198+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
70	0	\N	0	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.351431+00	2026-11-26 03:54:14.351431+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "1"}	\N	\N	\N	\N	\N
71	0	\N	1	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.351493+00	2026-11-26 03:54:14.351493+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "1"}	\N	\N	\N	\N	\N
72	0	\N	0	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.351542+00	2026-11-26 03:54:14.351542+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "2"}	\N	\N	\N	\N	\N
73	0	\N	1	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.35159+00	2026-11-26 03:54:14.35159+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "2"}	\N	\N	\N	\N	\N
74	0	\N	0	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.351641+00	2026-11-26 03:54:14.351641+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "3"}	\N	\N	\N	\N	\N
75	0	\N	1	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.351696+00	2026-11-26 03:54:14.351696+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "3"}	\N	\N	\N	\N	\N
76	0	\N	0	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.351709+00	2026-11-26 03:54:14.351709+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "4"}	\N	\N	\N	\N	\N
77	0	\N	1	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.351723+00	2026-11-26 03:54:14.351723+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "4"}	\N	\N	\N	\N	\N
49	0	\N	0	0	0	3	0	postgres	0	0	2	4	1	2	2	2	0	0	1	35	f	f	f	\N	2026-11-26 03:54:14.296629+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
78	0	\N	0	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.351989+00	2026-11-26 03:54:14.351989+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "5"}	\N	\N	\N	\N	\N
79	0	\N	1	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 03:54:19.352002+00	2026-11-26 03:54:14.352002+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "5"}	\N	\N	\N	\N	\N
1	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.369367+00	2026-11-26 03:54:14.369367+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
5	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:15.369619+00	2026-11-26 03:54:14.369619+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
7	3	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.370274+00	2026-11-26 03:54:14.370274+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
65	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.374785+00	2026-11-26 03:54:14.374785+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "1"}	\N	\N	\N	\N	\N
66	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.374781+00	2026-11-26 03:54:14.374781+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "2"}	\N	\N	\N	\N	\N
67	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.374777+00	2026-11-26 03:54:14.374777+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "3"}	\N	\N	\N	\N	\N
68	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.374773+00	2026-11-26 03:54:14.374773+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "4"}	\N	\N	\N	\N	\N
69	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.374767+00	2026-11-26 03:54:14.374767+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "5"}	\N	\N	\N	\N	\N
2	1	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.37627+00	2026-11-26 03:54:14.37627+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
10	0	\N	0	0	1	8	0	postgres	0	1	7	11	1	0	0	0	0	0	2	\N	f	f	f	\N	2026-11-26 03:54:14.376242+00	2026-11-26 03:54:14.376242+00	\N	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
12	8	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.376224+00	2026-11-26 03:54:14.376224+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
17	10	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.37621+00	2026-11-26 03:54:14.37621+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
22	15	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.376176+00	2026-11-26 03:54:14.376176+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
27	17	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.376169+00	2026-11-26 03:54:14.376169+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
30	0	\N	0	0	1	8	0	postgres	0	1	7	11	1	0	0	0	0	0	2	\N	f	f	f	\N	2026-11-26 03:54:14.376146+00	2026-11-26 03:54:14.376146+00	\N	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
31	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.376142+00	2026-11-26 03:54:14.376142+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
32	22	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.376138+00	2026-11-26 03:54:14.376138+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
37	24	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.376133+00	2026-11-26 03:54:14.376133+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
40	0	\N	0	0	1	8	0	postgres	0	1	7	11	1	0	0	0	0	0	2	\N	f	f	f	\N	2026-11-26 03:54:14.376087+00	2026-11-26 03:54:14.376087+00	\N	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
41	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.376083+00	2026-11-26 03:54:14.376083+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
42	29	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.376079+00	2026-11-26 03:54:14.376079+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
47	31	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 03:54:19.376072+00	2026-11-26 03:54:14.376072+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
50	0	\N	0	0	1	8	0	postgres	0	2	7	11	1	0	0	0	0	0	2	\N	f	f	f	\N	2026-11-26 03:54:14.374789+00	2026-11-26 03:54:14.374789+00	\N	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
\.


--
-- Data for Name: calendar; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.calendar (name, owner, rule, days, changed_at, created_at) FROM stdin;
\.


--
-- Data for Name: deadline; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.deadline (target, schedule, machine_no, job, start_minute, end_minute, timezone, calendar, checked_until, next_at, walk_step, walk_now, walk_at, walk_late_no, walk_found, set_at, set_by) FROM stdin;
\.


--
-- Data for Name: dropped_machine; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.dropped_machine (machine_no, name, dropped_at, requested_at, passed_over) FROM stdin;
\.


--
-- Data for Name: execution; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.execution (execution_no, machine_no, version, redrive_count, start_requests, parent_execution_no, parent_branch_no, parent_generation, map_run_no, map_index, map_items, requested_at, requested_by, priority, qualifier, trace_header, execution_id, status, last_event_id, started_at, stopped_at, last_redriven_at, idle_us, output, error, cause, input) FROM stdin;
25	6	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283452+00	postgres	\N	\N	\N	turn:3	0	0	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
35	6	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283554+00	postgres	\N	\N	\N	turn:4	0	0	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
10	11	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283286+00	postgres	\N	\N	\N	failed:1	2	11	2026-11-26 03:54:14.294894+00	2026-11-26 03:54:14.37627+00	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	{"items": [{"name": "1"}, {"name": "1"}]}
3	4	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283005+00	postgres	\N	\N	\N	nested:1	0	5	2026-11-26 03:54:14.29386+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
4	5	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283034+00	postgres	\N	\N	\N	activity:1	0	3	2026-11-26 03:54:14.2941+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
6	7	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283119+00	postgres	\N	\N	\N	place:1	0	3	2026-11-26 03:54:14.294475+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
11	1	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283302+00	postgres	\N	\N	\N	task:2	0	7	2026-11-26 03:54:14.294904+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
8	9	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283215+00	postgres	\N	\N	\N	map:1	0	7	2026-11-26 03:54:14.294638+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
9	10	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283256+00	postgres	\N	\N	\N	distributed:1	0	4	2026-11-26 03:54:14.294687+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
13	4	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283323+00	postgres	\N	\N	\N	nested:2	0	5	2026-11-26 03:54:14.294921+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
14	5	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283333+00	postgres	\N	\N	\N	activity:2	0	3	2026-11-26 03:54:14.294965+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
36	7	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283567+00	postgres	\N	\N	\N	place:4	0	0	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
45	6	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284615+00	postgres	\N	\N	\N	turn:5	0	0	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
46	7	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284626+00	postgres	\N	\N	\N	place:5	0	0	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
16	7	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283356+00	postgres	\N	\N	\N	place:2	0	3	2026-11-26 03:54:14.295035+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
18	9	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283376+00	postgres	\N	\N	\N	map:2	0	7	2026-11-26 03:54:14.295076+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
19	10	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283391+00	postgres	\N	\N	\N	distributed:2	0	4	2026-11-26 03:54:14.295086+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
23	4	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283432+00	postgres	\N	\N	\N	nested:3	0	5	2026-11-26 03:54:14.295141+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
24	5	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283442+00	postgres	\N	\N	\N	activity:3	0	3	2026-11-26 03:54:14.29517+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
26	7	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283464+00	postgres	\N	\N	\N	place:3	0	3	2026-11-26 03:54:14.295732+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
28	9	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283484+00	postgres	\N	\N	\N	map:3	0	7	2026-11-26 03:54:14.295792+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
29	10	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283493+00	postgres	\N	\N	\N	distributed:3	0	4	2026-11-26 03:54:14.295799+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
38	9	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.28412+00	postgres	\N	\N	\N	map:4	0	7	2026-11-26 03:54:14.296257+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
39	10	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.28413+00	postgres	\N	\N	\N	distributed:4	0	4	2026-11-26 03:54:14.296262+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
65	3	1	0	1	3	0	1	\N	\N	\N	2026-11-26 03:54:14.293946+00	\N	\N	\N	\N	inner:01a215fd-5795-7ccb-b293-0d5e33f1d3b9	0	7	2026-11-26 03:54:14.349784+00	\N	\N	\N	\N	\N	\N	{"name": "1"}
43	4	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284593+00	postgres	\N	\N	\N	nested:5	0	5	2026-11-26 03:54:14.296293+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
44	5	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284603+00	postgres	\N	\N	\N	activity:5	0	3	2026-11-26 03:54:14.296318+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
66	3	1	0	1	13	0	1	\N	\N	\N	2026-11-26 03:54:14.294931+00	\N	\N	\N	\N	inner:01a215fd-5796-70ee-ab5f-a0607eef4068	0	7	2026-11-26 03:54:14.349812+00	\N	\N	\N	\N	\N	\N	{"name": "2"}
48	9	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284646+00	postgres	\N	\N	\N	map:5	0	7	2026-11-26 03:54:14.296621+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
49	10	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284656+00	postgres	\N	\N	\N	distributed:5	0	4	2026-11-26 03:54:14.296629+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
15	6	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283343+00	postgres	\N	\N	\N	turn:2	0	7	2026-11-26 03:54:14.295024+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
20	11	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283401+00	postgres	\N	\N	\N	failed:2	2	11	2026-11-26 03:54:14.29511+00	2026-11-26 03:54:14.37627+00	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	{"items": [{"name": "2"}, {"name": "2"}]}
21	1	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283413+00	postgres	\N	\N	\N	task:3	0	7	2026-11-26 03:54:14.295119+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
40	11	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284141+00	postgres	\N	\N	\N	failed:4	2	11	2026-11-26 03:54:14.296274+00	2026-11-26 03:54:14.37627+00	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	{"items": [{"name": "4"}, {"name": "4"}]}
41	1	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284155+00	postgres	\N	\N	\N	task:5	0	7	2026-11-26 03:54:14.29628+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
50	11	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284667+00	postgres	\N	\N	\N	failed:5	2	11	2026-11-26 03:54:14.296642+00	2026-11-26 03:54:14.37627+00	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	{"items": [{"name": "5"}, {"name": "5"}]}
33	4	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283535+00	postgres	\N	\N	\N	nested:4	0	5	2026-11-26 03:54:14.295833+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
34	5	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283545+00	postgres	\N	\N	\N	activity:4	0	3	2026-11-26 03:54:14.29586+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
70	10	1	0	1	9	0	\N	7	0	1	2026-11-26 03:54:14.350671+00	\N	\N	\N	\N	distributed/01a215fd-5796-7e6a-9fcc-7e4a58e87f4c:0	0	2	2026-11-26 03:54:14.351431+00	\N	\N	\N	\N	\N	\N	{"name": "1"}
71	10	1	0	1	9	0	\N	7	1	1	2026-11-26 03:54:14.350687+00	\N	\N	\N	\N	distributed/01a215fd-5796-7e6a-9fcc-7e4a58e87f4c:1	0	2	2026-11-26 03:54:14.351493+00	\N	\N	\N	\N	\N	\N	{"name": "1"}
72	10	1	0	1	19	0	\N	14	0	1	2026-11-26 03:54:14.350864+00	\N	\N	\N	\N	distributed/01a215fd-5797-7a86-bafd-d7770b6558cf:0	0	2	2026-11-26 03:54:14.351542+00	\N	\N	\N	\N	\N	\N	{"name": "2"}
73	10	1	0	1	19	0	\N	14	1	1	2026-11-26 03:54:14.350873+00	\N	\N	\N	\N	distributed/01a215fd-5797-7a86-bafd-d7770b6558cf:1	0	2	2026-11-26 03:54:14.35159+00	\N	\N	\N	\N	\N	\N	{"name": "2"}
74	10	1	0	1	29	0	\N	21	0	1	2026-11-26 03:54:14.351025+00	\N	\N	\N	\N	distributed/01a215fd-5797-77a2-902c-290858bef290:0	0	2	2026-11-26 03:54:14.351641+00	\N	\N	\N	\N	\N	\N	{"name": "3"}
75	10	1	0	1	29	0	\N	21	1	1	2026-11-26 03:54:14.351033+00	\N	\N	\N	\N	distributed/01a215fd-5797-77a2-902c-290858bef290:1	0	2	2026-11-26 03:54:14.351696+00	\N	\N	\N	\N	\N	\N	{"name": "3"}
76	10	1	0	1	39	0	\N	28	0	1	2026-11-26 03:54:14.351139+00	\N	\N	\N	\N	distributed/01a215fd-5798-77e7-917e-6eda23260657:0	0	2	2026-11-26 03:54:14.351709+00	\N	\N	\N	\N	\N	\N	{"name": "4"}
77	10	1	0	1	39	0	\N	28	1	1	2026-11-26 03:54:14.351146+00	\N	\N	\N	\N	distributed/01a215fd-5798-77e7-917e-6eda23260657:1	0	2	2026-11-26 03:54:14.351723+00	\N	\N	\N	\N	\N	\N	{"name": "4"}
7	8	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283175+00	postgres	\N	\N	\N	net:1	0	10	2026-11-26 03:54:14.294585+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
67	3	1	0	1	23	0	1	\N	\N	\N	2026-11-26 03:54:14.295147+00	\N	\N	\N	\N	inner:01a215fd-5797-7717-bf2f-d7d3311c9888	0	7	2026-11-26 03:54:14.349818+00	\N	\N	\N	\N	\N	\N	{"name": "3"}
68	3	1	0	1	33	0	1	\N	\N	\N	2026-11-26 03:54:14.295838+00	\N	\N	\N	\N	inner:01a215fd-5797-75c8-b786-5adb768196ce	0	7	2026-11-26 03:54:14.349822+00	\N	\N	\N	\N	\N	\N	{"name": "4"}
69	3	1	0	1	43	0	1	\N	\N	\N	2026-11-26 03:54:14.296297+00	\N	\N	\N	\N	inner:01a215fd-5798-7742-99ae-eb5bbad51ac4	0	7	2026-11-26 03:54:14.349826+00	\N	\N	\N	\N	\N	\N	{"name": "5"}
2	2	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.282963+00	postgres	\N	\N	\N	parallel:1	0	10	2026-11-26 03:54:14.293803+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
12	2	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283313+00	postgres	\N	\N	\N	parallel:2	0	10	2026-11-26 03:54:14.29491+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
17	8	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283366+00	postgres	\N	\N	\N	net:2	0	10	2026-11-26 03:54:14.295066+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
22	2	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283423+00	postgres	\N	\N	\N	parallel:3	0	10	2026-11-26 03:54:14.295129+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
27	8	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283474+00	postgres	\N	\N	\N	net:3	0	10	2026-11-26 03:54:14.295778+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
30	11	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283503+00	postgres	\N	\N	\N	failed:3	2	11	2026-11-26 03:54:14.295813+00	2026-11-26 03:54:14.37627+00	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	{"items": [{"name": "3"}, {"name": "3"}]}
31	1	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283515+00	postgres	\N	\N	\N	task:4	0	7	2026-11-26 03:54:14.29582+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
32	2	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283525+00	postgres	\N	\N	\N	parallel:4	0	10	2026-11-26 03:54:14.295826+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
37	8	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284109+00	postgres	\N	\N	\N	net:4	0	10	2026-11-26 03:54:14.296245+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
42	2	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284582+00	postgres	\N	\N	\N	parallel:5	0	10	2026-11-26 03:54:14.296285+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
47	8	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.284636+00	postgres	\N	\N	\N	net:5	0	10	2026-11-26 03:54:14.296612+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
78	10	1	0	1	49	0	\N	35	0	1	2026-11-26 03:54:14.351892+00	\N	\N	\N	\N	distributed/01a215fd-5798-735b-8326-0fb835fcd60c:0	0	2	2026-11-26 03:54:14.351989+00	\N	\N	\N	\N	\N	\N	{"name": "5"}
79	10	1	0	1	49	0	\N	35	1	1	2026-11-26 03:54:14.351923+00	\N	\N	\N	\N	distributed/01a215fd-5798-735b-8326-0fb835fcd60c:1	0	2	2026-11-26 03:54:14.352002+00	\N	\N	\N	\N	\N	\N	{"name": "5"}
1	1	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.282668+00	postgres	\N	\N	\N	task:1	0	7	2026-11-26 03:54:14.293633+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
5	6	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 03:54:14.283067+00	postgres	\N	\N	\N	turn:1	0	7	2026-11-26 03:54:14.294417+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
\.


--
-- Data for Name: failure; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.failure (execution_no, machine_no, times, failed_at, is_open) FROM stdin;
10	11	1	2026-11-26 03:54:14.37627+00	t
20	11	1	2026-11-26 03:54:14.37627+00	t
30	11	1	2026-11-26 03:54:14.37627+00	t
40	11	1	2026-11-26 03:54:14.37627+00	t
50	11	1	2026-11-26 03:54:14.37627+00	t
\.


--
-- Data for Name: held; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.held (execution_no, branch_no, feature, object_no, queue, rank, since) FROM stdin;
25	0	limit	1	-3750763034362895579	2026-11-26 03:54:14.283458+00	2026-11-26 03:54:14.283458+00
35	0	limit	1	-3750763034362895579	2026-11-26 03:54:14.283561+00	2026-11-26 03:54:14.283561+00
36	0	limit	2	-3750763034362895579	2026-11-26 03:54:14.284101+00	2026-11-26 03:54:14.284101+00
45	0	limit	1	-3750763034362895579	2026-11-26 03:54:14.28462+00	2026-11-26 03:54:14.28462+00
46	0	limit	2	-3750763034362895579	2026-11-26 03:54:14.284631+00	2026-11-26 03:54:14.284631+00
\.


--
-- Data for Name: history; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.history (execution_no, at, first_id, body, documents) FROM stdin;
1	2026-11-26 03:54:14.293633+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"kind\\": \\"task\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
2	2026-11-26 03:54:14.293803+00	1	\\x0101060018110d02021500080e2e0227182800	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"kind\\": \\"parallel\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
3	2026-11-26 03:54:14.29386+00	1	\\x0101050018080d020227182800291aa403	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"Input\\": {\\"name\\": \\"1\\"}, \\"StateMachineArn\\": \\"inner\\"}","{\\"StartDate\\": 1795665254293, \\"ExecutionArn\\": \\"arn:aws:states:us-east-1:000000000000:execution:inner:01a215fd-5795-7ccb-b293-0d5e33f1d3b9\\"}"}
4	2026-11-26 03:54:14.2941+00	1	\\x0101030018080d0202304aa604	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
5	2026-11-26 03:54:14.294417+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"kind\\": \\"turn\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
6	2026-11-26 03:54:14.294475+00	1	\\x0101030018080d0202304a46	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
7	2026-11-26 03:54:14.294585+00	1	\\x01010600183f0d02024100080e0e0227182800	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"kind\\": \\"net\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
8	2026-11-26 03:54:14.294638+00	1	\\x0101070018130d020219401d220801000c1c021d2703020101020c1c02	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"length\\": 2}","{\\"name\\": \\"1\\"}","{\\"name\\": \\"1\\"}"}
9	2026-11-26 03:54:14.294687+00	1	\\x0101040018130d020219402140	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"length\\": 2}","{\\"mapRunArn\\": \\"arn:aws:states:us-east-1:000000000000:mapRun:distributed/01a215fd-5796-7e6a-9fcc-7e4a58e87f4c:01a215fd-5796-7e6a-9fcc-7e4a58e87f4c\\"}"}
10	2026-11-26 03:54:14.294894+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"kind\\": \\"failed\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
11	2026-11-26 03:54:14.294904+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"kind\\": \\"task\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
12	2026-11-26 03:54:14.29491+00	1	\\x0101060018110d02021500080e040227182800	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"kind\\": \\"parallel\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
13	2026-11-26 03:54:14.294921+00	1	\\x0101050018080d020227182800291a4c	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"Input\\": {\\"name\\": \\"2\\"}, \\"StateMachineArn\\": \\"inner\\"}","{\\"StartDate\\": 1795665254294, \\"ExecutionArn\\": \\"arn:aws:states:us-east-1:000000000000:execution:inner:01a215fd-5796-70ee-ab5f-a0607eef4068\\"}"}
14	2026-11-26 03:54:14.294965+00	1	\\x0101030018080d0202304a68	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
15	2026-11-26 03:54:14.295024+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"kind\\": \\"turn\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
16	2026-11-26 03:54:14.295035+00	1	\\x0101030018080d0202304a32	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
17	2026-11-26 03:54:14.295066+00	1	\\x01010600183f0d02024100080e040227182800	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"kind\\": \\"net\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
18	2026-11-26 03:54:14.295076+00	1	\\x0101070018130d020219401d220801000c1c021d25030101020c1c02	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"length\\": 2}","{\\"name\\": \\"2\\"}","{\\"name\\": \\"2\\"}"}
19	2026-11-26 03:54:14.295086+00	1	\\x0101040018130d020219402140	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"length\\": 2}","{\\"mapRunArn\\": \\"arn:aws:states:us-east-1:000000000000:mapRun:distributed/01a215fd-5797-7a86-bafd-d7770b6558cf:01a215fd-5797-7a86-bafd-d7770b6558cf\\"}"}
20	2026-11-26 03:54:14.29511+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"kind\\": \\"failed\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
21	2026-11-26 03:54:14.295119+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"kind\\": \\"task\\", \\"name\\": \\"3\\", \\"step\\": \\"a\\"}"}
22	2026-11-26 03:54:14.295129+00	1	\\x0101060018110d02021500080c0227182800	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"kind\\": \\"parallel\\", \\"name\\": \\"3\\", \\"step\\": \\"a\\"}"}
23	2026-11-26 03:54:14.295141+00	1	\\x0101050018080d020227182800291a2e	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"Input\\": {\\"name\\": \\"3\\"}, \\"StateMachineArn\\": \\"inner\\"}","{\\"StartDate\\": 1795665254295, \\"ExecutionArn\\": \\"arn:aws:states:us-east-1:000000000000:execution:inner:01a215fd-5797-7717-bf2f-d7d3311c9888\\"}"}
24	2026-11-26 03:54:14.29517+00	1	\\x0101030018080d0202304a34	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
26	2026-11-26 03:54:14.295732+00	1	\\x0101030018080d0202304a4c	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
27	2026-11-26 03:54:14.295778+00	1	\\x01010600183f0d02024100080e080227182800	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"kind\\": \\"net\\", \\"name\\": \\"3\\", \\"step\\": \\"a\\"}"}
28	2026-11-26 03:54:14.295792+00	1	\\x0101070018130d020219401d220401000c1c021d2703020101020c1c02	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"length\\": 2}","{\\"name\\": \\"3\\"}","{\\"name\\": \\"3\\"}"}
29	2026-11-26 03:54:14.295799+00	1	\\x0101040018130d020219402140	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"length\\": 2}","{\\"mapRunArn\\": \\"arn:aws:states:us-east-1:000000000000:mapRun:distributed/01a215fd-5797-77a2-902c-290858bef290:01a215fd-5797-77a2-902c-290858bef290\\"}"}
30	2026-11-26 03:54:14.295813+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"kind\\": \\"failed\\", \\"name\\": \\"3\\", \\"step\\": \\"a\\"}"}
31	2026-11-26 03:54:14.29582+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"kind\\": \\"task\\", \\"name\\": \\"4\\", \\"step\\": \\"a\\"}"}
32	2026-11-26 03:54:14.295826+00	1	\\x0101060018110d02021500080e020227182800	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"kind\\": \\"parallel\\", \\"name\\": \\"4\\", \\"step\\": \\"a\\"}"}
17	2026-11-26 03:54:14.376209+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
33	2026-11-26 03:54:14.295833+00	1	\\x0101050018080d020227182800291a2e	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"Input\\": {\\"name\\": \\"4\\"}, \\"StateMachineArn\\": \\"inner\\"}","{\\"StartDate\\": 1795665254295, \\"ExecutionArn\\": \\"arn:aws:states:us-east-1:000000000000:execution:inner:01a215fd-5797-75c8-b786-5adb768196ce\\"}"}
34	2026-11-26 03:54:14.29586+00	1	\\x0101030018080d0202304a10	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
37	2026-11-26 03:54:14.296245+00	1	\\x01010600183f0d02024100080e060227182800	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"kind\\": \\"net\\", \\"name\\": \\"4\\", \\"step\\": \\"a\\"}"}
38	2026-11-26 03:54:14.296257+00	1	\\x0101070018130d020219401d220201000c1c021d2703020101020c1c02	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"length\\": 2}","{\\"name\\": \\"4\\"}","{\\"name\\": \\"4\\"}"}
39	2026-11-26 03:54:14.296262+00	1	\\x0101040018130d020219402140	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"length\\": 2}","{\\"mapRunArn\\": \\"arn:aws:states:us-east-1:000000000000:mapRun:distributed/01a215fd-5798-77e7-917e-6eda23260657:01a215fd-5798-77e7-917e-6eda23260657\\"}"}
40	2026-11-26 03:54:14.296274+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"kind\\": \\"failed\\", \\"name\\": \\"4\\", \\"step\\": \\"a\\"}"}
41	2026-11-26 03:54:14.29628+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"kind\\": \\"task\\", \\"name\\": \\"5\\", \\"step\\": \\"a\\"}"}
42	2026-11-26 03:54:14.296285+00	1	\\x0101060018110d02021500080e020227182800	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"kind\\": \\"parallel\\", \\"name\\": \\"5\\", \\"step\\": \\"a\\"}"}
43	2026-11-26 03:54:14.296293+00	1	\\x0101050018080d020227182800291a2c	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"Input\\": {\\"name\\": \\"5\\"}, \\"StateMachineArn\\": \\"inner\\"}","{\\"StartDate\\": 1795665254296, \\"ExecutionArn\\": \\"arn:aws:states:us-east-1:000000000000:execution:inner:01a215fd-5798-7742-99ae-eb5bbad51ac4\\"}"}
44	2026-11-26 03:54:14.296318+00	1	\\x0101030018080d0202304a16	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
47	2026-11-26 03:54:14.296612+00	1	\\x01010600183f0d02024100080e060227182800	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"kind\\": \\"net\\", \\"name\\": \\"5\\", \\"step\\": \\"a\\"}"}
48	2026-11-26 03:54:14.296621+00	1	\\x0101070018130d020219401d220401000c1c021d25030101020c1c02	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"length\\": 2}","{\\"name\\": \\"5\\"}","{\\"name\\": \\"5\\"}"}
49	2026-11-26 03:54:14.296629+00	1	\\x0101040018130d020219402140	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"length\\": 2}","{\\"mapRunArn\\": \\"arn:aws:states:us-east-1:000000000000:mapRun:distributed/01a215fd-5798-735b-8326-0fb835fcd60c:01a215fd-5798-735b-8326-0fb835fcd60c\\"}"}
50	2026-11-26 03:54:14.296642+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"kind\\": \\"failed\\", \\"name\\": \\"5\\", \\"step\\": \\"a\\"}"}
2	2026-11-26 03:54:14.349843+00	7	\\x0101010c15040a06	\N
7	2026-11-26 03:54:14.34986+00	7	\\x0101010c15040a06	\N
65	2026-11-26 03:54:14.349784+00	1	\\x0101040018080d020227182800	{"{\\"name\\": \\"1\\"}","{\\"kind\\": \\"nested\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
66	2026-11-26 03:54:14.349812+00	1	\\x0101040018080d020227182800	{"{\\"name\\": \\"2\\"}","{\\"kind\\": \\"nested\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
67	2026-11-26 03:54:14.349818+00	1	\\x0101040018080d020227182800	{"{\\"name\\": \\"3\\"}","{\\"kind\\": \\"nested\\", \\"name\\": \\"3\\", \\"step\\": \\"a\\"}"}
68	2026-11-26 03:54:14.349822+00	1	\\x0101040018080d020227182800	{"{\\"name\\": \\"4\\"}","{\\"kind\\": \\"nested\\", \\"name\\": \\"4\\", \\"step\\": \\"a\\"}"}
69	2026-11-26 03:54:14.349826+00	1	\\x0101040018080d020227182800	{"{\\"name\\": \\"5\\"}","{\\"kind\\": \\"nested\\", \\"name\\": \\"5\\", \\"step\\": \\"a\\"}"}
12	2026-11-26 03:54:14.350056+00	7	\\x0101010c15040a06	\N
17	2026-11-26 03:54:14.350068+00	7	\\x0101010c15040a06	\N
22	2026-11-26 03:54:14.350131+00	7	\\x0101010c15040a06	\N
27	2026-11-26 03:54:14.35014+00	7	\\x0101010c15040a06	\N
32	2026-11-26 03:54:14.350195+00	7	\\x0101010c15040a06	\N
37	2026-11-26 03:54:14.350205+00	7	\\x0101010c15040a06	\N
42	2026-11-26 03:54:14.351187+00	7	\\x0101010c15040a06	\N
47	2026-11-26 03:54:14.351198+00	7	\\x0101010c15040a06	\N
70	2026-11-26 03:54:14.351431+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"1\\"}"}
71	2026-11-26 03:54:14.351493+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"1\\"}"}
72	2026-11-26 03:54:14.351542+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"2\\"}"}
73	2026-11-26 03:54:14.35159+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"2\\"}"}
74	2026-11-26 03:54:14.351641+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"3\\"}"}
75	2026-11-26 03:54:14.351696+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"3\\"}"}
76	2026-11-26 03:54:14.351709+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"4\\"}"}
77	2026-11-26 03:54:14.351723+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"4\\"}"}
78	2026-11-26 03:54:14.351989+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"5\\"}"}
79	2026-11-26 03:54:14.352002+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"5\\"}"}
1	2026-11-26 03:54:14.369362+00	5	\\x0101032a1c020910050c0e0a02	{"\\"a\\""}
5	2026-11-26 03:54:14.369544+00	5	\\x0101032a1c020910050c0e960102	{"\\"a\\""}
7	2026-11-26 03:54:14.370272+00	8	\\x0101032a1d02040910080c0e0402	{"\\"a\\""}
50	2026-11-26 03:54:14.374788+00	5	\\x0101052a1c02091005080e020227182800	{"\\"a\\"","{\\"kind\\": \\"failed\\", \\"name\\": \\"5\\", \\"step\\": \\"b\\"}"}
65	2026-11-26 03:54:14.374784+00	5	\\x0101032a1c020910050c0e0202	{"\\"a\\""}
66	2026-11-26 03:54:14.374781+00	5	\\x0101032a1c020910050c0c02	{"\\"a\\""}
67	2026-11-26 03:54:14.374777+00	5	\\x0101032a1c020910050c0c02	{"\\"a\\""}
68	2026-11-26 03:54:14.374773+00	5	\\x0101032a1c020910050c0c02	{"\\"a\\""}
69	2026-11-26 03:54:14.374765+00	5	\\x0101032a1c020910050c0e0402	{"\\"a\\""}
2	2026-11-26 03:54:14.37627+00	8	\\x0101032a1d02040910080c0c02	{"\\"a\\""}
10	2026-11-26 03:54:14.37624+00	5	\\x0101072a1c02091005080e0402271828002b4222024403	{"\\"a\\"","{\\"kind\\": \\"failed\\", \\"name\\": \\"1\\", \\"step\\": \\"b\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}"}
11	2026-11-26 03:54:14.37623+00	5	\\x0101032a1c020910050c0e0202	{"\\"a\\""}
12	2026-11-26 03:54:14.376223+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
15	2026-11-26 03:54:14.376213+00	5	\\x0101032a1c020910050c0e0202	{"\\"a\\""}
20	2026-11-26 03:54:14.376185+00	5	\\x0101072a1c02091005080e0202271828002b4220024403	{"\\"a\\"","{\\"kind\\": \\"failed\\", \\"name\\": \\"2\\", \\"step\\": \\"b\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}"}
21	2026-11-26 03:54:14.376179+00	5	\\x0101032a1c020910050c0e0202	{"\\"a\\""}
22	2026-11-26 03:54:14.376175+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
27	2026-11-26 03:54:14.376168+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
30	2026-11-26 03:54:14.376145+00	5	\\x0101072a1c02091005080e0202271828002b4220024403	{"\\"a\\"","{\\"kind\\": \\"failed\\", \\"name\\": \\"3\\", \\"step\\": \\"b\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}"}
31	2026-11-26 03:54:14.376141+00	5	\\x0101032a1c020910050c0e0202	{"\\"a\\""}
32	2026-11-26 03:54:14.376137+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
37	2026-11-26 03:54:14.376132+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
40	2026-11-26 03:54:14.376087+00	5	\\x0101072a1c02091005080c02271828002b424e024403	{"\\"a\\"","{\\"kind\\": \\"failed\\", \\"name\\": \\"4\\", \\"step\\": \\"b\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}"}
41	2026-11-26 03:54:14.376083+00	5	\\x0101032a1c020910050c0c02	{"\\"a\\""}
42	2026-11-26 03:54:14.376079+00	8	\\x0101032a1d02040910080c0c02	{"\\"a\\""}
47	2026-11-26 03:54:14.376071+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
50	2026-11-26 03:54:14.376061+00	10	\\x0101022b4404024403	{"{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}"}
\.


--
-- Data for Name: hold; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.hold (hold_no, kind, name, state, machine_no, execution_no, owner, held_at, held_by, reason) FROM stdin;
\.


--
-- Data for Name: lateness; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.lateness (target, deadline_at, due_by, state, base_at, execution_no, expected_at, raised_at, cleared_at, acknowledged_at, acknowledged_by, comment) FROM stdin;
\.


--
-- Data for Name: limit_slot; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.limit_slot (limit_no, queue, slot, execution_no, branch_no) FROM stdin;
1	-3750763034362895579	2	5	-3
2	-3750763034362895579	1	6	0
1	-3750763034362895579	1	15	-3
2	-3750763034362895579	3	16	0
2	-3750763034362895579	2	26	0
\.


--
-- Data for Name: machine_alias; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.machine_alias (machine_no, alias, routes, set_at, created_at, description) FROM stdin;
\.


--
-- Data for Name: map_item; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.map_item (execution_no, map_run_no, item_index, item) FROM stdin;
\.


--
-- Data for Name: map_run; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.map_run (execution_no, map_run_no, branch_no, state, uuid, status, redrive_count, keyed, max_items, max_items_per_batch, max_bytes_per_batch, tolerated_count, tolerated_percentage, max_concurrency, total, children, succeeded, failed, timed_out, aborted, items_succeeded, items_failed, started_at, stopped_at, idle_us) FROM stdin;
9	7	0	0	01a215fd-5796-7e6a-9fcc-7e4a58e87f4c	0	0	f	0	0	0	0	0	0	2	2	0	0	0	0	0	0	2026-11-26 03:54:14.294687+00	\N	0
19	14	0	0	01a215fd-5797-7a86-bafd-d7770b6558cf	0	0	f	0	0	0	0	0	0	2	2	0	0	0	0	0	0	2026-11-26 03:54:14.295086+00	\N	0
29	21	0	0	01a215fd-5797-77a2-902c-290858bef290	0	0	f	0	0	0	0	0	0	2	2	0	0	0	0	0	0	2026-11-26 03:54:14.295799+00	\N	0
39	28	0	0	01a215fd-5798-77e7-917e-6eda23260657	0	0	f	0	0	0	0	0	0	2	2	0	0	0	0	0	0	2026-11-26 03:54:14.296262+00	\N	0
49	35	0	0	01a215fd-5798-735b-8326-0fb835fcd60c	0	0	f	0	0	0	0	0	0	2	2	0	0	0	0	0	0	2026-11-26 03:54:14.296629+00	\N	0
\.


--
-- Data for Name: mark; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.mark (execution_no, job_id, outcome, output, details) FROM stdin;
\.


--
-- Data for Name: metric_hour; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.metric_hour (machine_no, hour, started, succeeded, failed, aborted, timed_out, throttled, redriven, transitions, retries, time_us, time_histogram) FROM stdin;
2	2026-11-26 03:00:00+00	5	0	0	0	0	0	0	10	0	0	\\x
11	2026-11-26 03:00:00+00	5	0	0	0	0	0	0	5	0	0	\\x
1	2026-11-26 03:00:00+00	5	0	0	0	0	0	0	5	0	0	\\x
6	2026-11-26 03:00:00+00	2	0	0	0	0	0	0	2	0	0	\\x
7	2026-11-26 03:00:00+00	3	0	0	0	0	0	0	3	0	0	\\x
10	2026-11-26 03:00:00+00	5	0	0	0	0	0	0	5	0	0	\\x
5	2026-11-26 03:00:00+00	5	0	0	0	0	0	0	5	0	0	\\x
4	2026-11-26 03:00:00+00	5	0	0	0	0	0	0	5	0	0	\\x
9	2026-11-26 03:00:00+00	5	0	0	0	0	0	0	15	0	0	\\x
8	2026-11-26 03:00:00+00	5	0	0	0	0	0	0	10	0	0	\\x
\.


--
-- Data for Name: metric_increment; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.metric_increment (xid, at, machine_no, version, counts) FROM stdin;
755	2026-11-26 03:54:14.349866+00	2	1	\\x010201
755	2026-11-26 03:54:14.349866+00	8	1	\\x010201
755	2026-11-26 03:54:14.349866+00	3	1	\\x0100050205
756	2026-11-26 03:54:14.350072+00	2	1	\\x010201
756	2026-11-26 03:54:14.350072+00	8	1	\\x010201
757	2026-11-26 03:54:14.350144+00	2	1	\\x010201
757	2026-11-26 03:54:14.350144+00	8	1	\\x010201
758	2026-11-26 03:54:14.350209+00	2	1	\\x010201
758	2026-11-26 03:54:14.350209+00	8	1	\\x010201
763	2026-11-26 03:54:14.351203+00	2	1	\\x010201
763	2026-11-26 03:54:14.351203+00	8	1	\\x010201
764	2026-11-26 03:54:14.351728+00	10	1	\\x010208
766	2026-11-26 03:54:14.352002+00	10	1	\\x010202
774	2026-11-26 03:54:14.369376+00	1	1	\\x01020104d1cf04
778	2026-11-26 03:54:14.369659+00	6	1	\\x01020104f7ca04
786	2026-11-26 03:54:14.370276+00	8	1	\\x0102010ca0cf04
852	2026-11-26 03:54:14.374806+00	11	1	\\x01020104c2e204
852	2026-11-26 03:54:14.374806+00	3	1	\\x01020504a8c3010489c30104ffc20104f7c20104ebc201
854	2026-11-26 03:54:14.37627+00	2	1	\\x0102050c8c84050c9ffb040c96f9040cb6f3040cb1ef04
854	2026-11-26 03:54:14.37627+00	11	1	\\x01020404c2fb040d0013e0fb0404b3f9040d001388fa0404ccf3040d0013c9f40404c5ef040d0013fcf0040d00138cee04
854	2026-11-26 03:54:14.37627+00	1	1	\\x01020404aefb0404a4f90404c1f30404bbef04
854	2026-11-26 03:54:14.37627+00	6	1	\\x01020104a5fa04
854	2026-11-26 03:54:14.37627+00	8	1	\\x0102040cf5f9040c82f4040c8cf0040ce0ec04
\.


--
-- Data for Name: metric_job; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.metric_job (machine_no, job, runs, failures, time_us, time_histogram, recent_us, last_at) FROM stdin;
\.


--
-- Data for Name: metric_job_day; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.metric_job_day (machine_no, day, job, runs, failures, time_us, time_histogram) FROM stdin;
\.


--
-- Data for Name: metric_retry; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.metric_retry (machine_no, state, error, retries) FROM stdin;
\.


--
-- Data for Name: metric_total; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.metric_total (machine_no, started, succeeded, failed, aborted, timed_out, throttled, redriven, transitions, retries, time_us, time_histogram) FROM stdin;
2	5	0	0	0	0	0	0	10	0	0	\\x
11	5	0	0	0	0	0	0	5	0	0	\\x
1	5	0	0	0	0	0	0	5	0	0	\\x
6	2	0	0	0	0	0	0	2	0	0	\\x
7	3	0	0	0	0	0	0	3	0	0	\\x
10	5	0	0	0	0	0	0	5	0	0	\\x
5	5	0	0	0	0	0	0	5	0	0	\\x
4	5	0	0	0	0	0	0	5	0	0	\\x
9	5	0	0	0	0	0	0	15	0	0	\\x
8	5	0	0	0	0	0	0	10	0	0	\\x
\.


--
-- Data for Name: open_execution; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.open_execution (machine_no, status, requested_at, execution_no, error) FROM stdin;
1	RUNNING	2026-11-26 03:54:14.282668+00	1	\N
2	RUNNING	2026-11-26 03:54:14.282963+00	2	\N
4	RUNNING	2026-11-26 03:54:14.283005+00	3	\N
5	RUNNING	2026-11-26 03:54:14.283034+00	4	\N
6	RUNNING	2026-11-26 03:54:14.283067+00	5	\N
7	RUNNING	2026-11-26 03:54:14.283119+00	6	\N
8	RUNNING	2026-11-26 03:54:14.283175+00	7	\N
9	RUNNING	2026-11-26 03:54:14.283215+00	8	\N
10	RUNNING	2026-11-26 03:54:14.283256+00	9	\N
1	RUNNING	2026-11-26 03:54:14.283302+00	11	\N
2	RUNNING	2026-11-26 03:54:14.283313+00	12	\N
4	RUNNING	2026-11-26 03:54:14.283323+00	13	\N
5	RUNNING	2026-11-26 03:54:14.283333+00	14	\N
6	RUNNING	2026-11-26 03:54:14.283343+00	15	\N
7	RUNNING	2026-11-26 03:54:14.283356+00	16	\N
8	RUNNING	2026-11-26 03:54:14.283366+00	17	\N
9	RUNNING	2026-11-26 03:54:14.283376+00	18	\N
10	RUNNING	2026-11-26 03:54:14.283391+00	19	\N
1	RUNNING	2026-11-26 03:54:14.283413+00	21	\N
2	RUNNING	2026-11-26 03:54:14.283423+00	22	\N
4	RUNNING	2026-11-26 03:54:14.283432+00	23	\N
5	RUNNING	2026-11-26 03:54:14.283442+00	24	\N
7	RUNNING	2026-11-26 03:54:14.283464+00	26	\N
8	RUNNING	2026-11-26 03:54:14.283474+00	27	\N
9	RUNNING	2026-11-26 03:54:14.283484+00	28	\N
10	RUNNING	2026-11-26 03:54:14.283493+00	29	\N
1	RUNNING	2026-11-26 03:54:14.283515+00	31	\N
2	RUNNING	2026-11-26 03:54:14.283525+00	32	\N
4	RUNNING	2026-11-26 03:54:14.283535+00	33	\N
5	RUNNING	2026-11-26 03:54:14.283545+00	34	\N
8	RUNNING	2026-11-26 03:54:14.284109+00	37	\N
9	RUNNING	2026-11-26 03:54:14.28412+00	38	\N
10	RUNNING	2026-11-26 03:54:14.28413+00	39	\N
1	RUNNING	2026-11-26 03:54:14.284155+00	41	\N
2	RUNNING	2026-11-26 03:54:14.284582+00	42	\N
4	RUNNING	2026-11-26 03:54:14.284593+00	43	\N
5	RUNNING	2026-11-26 03:54:14.284603+00	44	\N
8	RUNNING	2026-11-26 03:54:14.284636+00	47	\N
9	RUNNING	2026-11-26 03:54:14.284646+00	48	\N
10	RUNNING	2026-11-26 03:54:14.284656+00	49	\N
3	RUNNING	2026-11-26 03:54:14.293946+00	65	\N
3	RUNNING	2026-11-26 03:54:14.294931+00	66	\N
3	RUNNING	2026-11-26 03:54:14.295147+00	67	\N
3	RUNNING	2026-11-26 03:54:14.295838+00	68	\N
3	RUNNING	2026-11-26 03:54:14.296297+00	69	\N
10	RUNNING	2026-11-26 03:54:14.350671+00	70	\N
10	RUNNING	2026-11-26 03:54:14.350687+00	71	\N
10	RUNNING	2026-11-26 03:54:14.350864+00	72	\N
10	RUNNING	2026-11-26 03:54:14.350873+00	73	\N
10	RUNNING	2026-11-26 03:54:14.351025+00	74	\N
10	RUNNING	2026-11-26 03:54:14.351033+00	75	\N
10	RUNNING	2026-11-26 03:54:14.351139+00	76	\N
10	RUNNING	2026-11-26 03:54:14.351146+00	77	\N
10	RUNNING	2026-11-26 03:54:14.351892+00	78	\N
10	RUNNING	2026-11-26 03:54:14.351923+00	79	\N
11	FAILED	2026-11-26 03:54:14.283286+00	10	raise_exception
11	FAILED	2026-11-26 03:54:14.283401+00	20	raise_exception
11	FAILED	2026-11-26 03:54:14.283503+00	30	raise_exception
11	FAILED	2026-11-26 03:54:14.284141+00	40	raise_exception
11	FAILED	2026-11-26 03:54:14.284667+00	50	raise_exception
\.


--
-- Data for Name: privilege; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.privilege (object_kind, object_name, role, privilege) FROM stdin;
\.


--
-- Data for Name: purge_position; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.purge_position (machine_no, status, requested_at, began_at, looked_at) FROM stdin;
\.


--
-- Data for Name: resource_map; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.resource_map (owner, pattern, resource) FROM stdin;
\.


--
-- Data for Name: rule; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.rule (rule_no, name, owner, target, created_at, bytes, wants_alerts, pattern, input) FROM stdin;
\.


--
-- Data for Name: rule_chain; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.rule_chain (execution_no, depth) FROM stdin;
\.


--
-- Data for Name: rule_delivery; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.rule_delivery (rule_no, event_id, owner, attempt, depth, due_at, created_at, failed_at, error, cause, event) FROM stdin;
\.


--
-- Data for Name: rule_owner; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.rule_owner (owner, version) FROM stdin;
\.


--
-- Data for Name: rule_total; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.rule_total (rule_no, delivered) FROM stdin;
\.


--
-- Data for Name: run_limit; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.run_limit (limit_no, kind, name, state, key, in_definition, machine_no, owner, max_running, highest, rate, per, fails, set_at, set_by, counted, horizon, covers, uncounted_at) FROM stdin;
1	machine	turn			f	6	\N	2	2	\N	1000000	f	2026-11-26 03:54:14.249282+00	postgres	t	\N	\N	\N
2	machine	place	o		t	7	\N	3	3	\N	1000000	f	2026-11-26 03:54:14.253684+00	postgres	t	\N	\N	\N
\.


--
-- Data for Name: schedule; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.schedule (name, owner, schedule, state_machine, input, timezone, calendar, on_closed, starts, ends, missed, overlap, job_id, last_execution_id, handled_until, missed_at, changed_at, created_at) FROM stdin;
\.


--
-- Data for Name: schedule_run; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.schedule_run (schedule, run_at, pid, scheduled_for, execution_id, outcome, message) FROM stdin;
\.


--
-- Data for Name: schedule_wait; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.schedule_wait (schedule, scheduled_for, max_running, execution_id) FROM stdin;
\.


--
-- Data for Name: schema_of_rows; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.schema_of_rows (number) FROM stdin;
1
\.


--
-- Data for Name: start_request; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.start_request (execution_no, request_no, requested_at, requested_by, outcome, input_differs) FROM stdin;
\.


--
-- Data for Name: state_machine; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.state_machine (machine_no, name, owner, current_version, created_at) FROM stdin;
1	task	postgres	1	2026-11-26 03:54:14.236207+00
2	parallel	postgres	1	2026-11-26 03:54:14.245614+00
3	inner	postgres	1	2026-11-26 03:54:14.247538+00
4	nested	postgres	1	2026-11-26 03:54:14.247835+00
5	activity	postgres	1	2026-11-26 03:54:14.248096+00
6	turn	postgres	1	2026-11-26 03:54:14.248492+00
7	place	postgres	1	2026-11-26 03:54:14.253445+00
8	net	postgres	1	2026-11-26 03:54:14.265749+00
9	map	postgres	1	2026-11-26 03:54:14.266141+00
10	distributed	postgres	1	2026-11-26 03:54:14.266367+00
11	failed	postgres	1	2026-11-26 03:54:14.266553+00
\.


--
-- Data for Name: state_machine_version; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.state_machine_version (machine_no, version, definition, execution_id_path, options, created_at) FROM stdin;
1	1	{"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "task", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "Next": "w"}, "w": {"Type": "Wait", "Seconds": 5, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "task", "name.$": "$$.Execution.Name", "step": "b"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.236345+00
2	1	{"StartAt": "p", "States": {"p": {"Type": "Parallel", "Next": "e", "Branches": [\n\t{"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "parallel", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "Next": "w"}, "w": {"Type": "Wait", "Seconds": 5, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "parallel", "name.$": "$$.Execution.Name", "step": "b"}, "ResultPath": null, "End": true}}}, {"StartAt": "v", "States": {"v": {"Type": "Wait", "Seconds": 5, "Next": "c"}, "c": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "parallel", "name.$": "$$.Execution.Name", "step": "c"}, "ResultPath": null, "End": true}}}]}, "e": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "parallel", "name.$": "$$.Execution.Name", "step": "e"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.24566+00
3	1	{"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "nested", "name.$": "$.name", "step": "a"}, "ResultPath": null, "Next": "w"}, "w": {"Type": "Wait", "Seconds": 5, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "nested", "name.$": "$.name", "step": "b"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.247579+00
4	1	{"StartAt": "s", "States": {"s": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2",\n\t"Parameters": {"StateMachineArn": "inner", "Input": {"name.$": "$$.Execution.Name"}}, "Next": "c"}, "c": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "nested", "name.$": "$$.Execution.Name", "step": "c"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.247864+00
5	1	{"StartAt": "o", "States": {"o": {"Type": "Task", "Resource": "activity:outside", "Next": "a"}, "a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "activity", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.248122+00
6	1	{"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "turn", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "Next": "w"}, "w": {"Type": "Wait", "Seconds": 1, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "turn", "name.$": "$$.Execution.Name", "step": "b"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.248523+00
7	1	{"StartAt": "o", "States": {"o": {"Type": "Task", "Resource": "activity:outside", "MaxConcurrency": 3, "Next": "a"}, "a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "place", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.253475+00
8	1	{"StartAt": "n", "States": {"n": {"Type": "JobNet", "Next": "d", "Jobs": {\n\t"ja": {"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "net", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "Next": "w"}, "w": {"Type": "Wait", "Seconds": 5, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "net", "name.$": "$$.Execution.Name", "step": "b"}, "ResultPath": null, "End": true}}}, "jv": {"Type": "Wait", "Seconds": 5},\n\t"jc": {"StartAt": "c", "States": {"c": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "net", "name.$": "$$.Execution.Name", "step": "c"}, "ResultPath": null, "End": true}}, "After": ["ja", "jv"]}}}, "d": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "net", "name.$": "$$.Execution.Name", "step": "d"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.26579+00
9	1	{"StartAt": "m", "States": {"m": {"Type": "Map", "ItemsPath": "$.items", "Next": "e", "ItemProcessor": {"StartAt": "w", "States": {"w": {"Type": "Wait", "Seconds": 5, "Next": "i"}, "i": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "map", "name.$": "$$.Execution.Name", "step": "i"}, "ResultPath": null, "End": true}}}}, "e": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "map", "name.$": "$$.Execution.Name", "step": "e"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.266166+00
10	1	{"StartAt": "m", "States": {"m": {"Type": "Map", "ItemsPath": "$.items", "Next": "e", "ItemProcessor": {\n\t"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "w", "States": {"w": {"Type": "Wait", "Seconds": 5, "Next": "i"}, "i": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "distributed", "name.$": "$.name", "step": "i"}, "ResultPath": null, "End": true}}}}, "e": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "distributed", "name.$": "$$.Execution.Name", "step": "e"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.266388+00
11	1	{"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "failed", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.fail_until_repaired", "Parameters": {"kind": "failed", "name.$": "$$.Execution.Name", "step": "b"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 03:54:14.266572+00
\.


--
-- Data for Name: task; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.task (execution_no, branch_no, activity_no, status, generation, state, attempt, receives, scheduled_at, started_at, heartbeat_at, lease_until, timeout_ms, heartbeat_ms, secret, worker, resource, input, submitted) FROM stdin;
14	0	1	0	1	0	0	0	2026-11-26 03:54:14.321621+00	\N	\N	\N	\N	\N	\\x7dd7f3ccfbb7f4486129b7676665231dcb9321cf1a5fecd3	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N
16	0	1	0	1	0	0	0	2026-11-26 03:54:14.321639+00	\N	\N	\N	\N	\N	\\x8dffd7793b2e84e59593c791c7bb263554857c6e8e9023c4	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N
24	0	1	0	1	0	0	0	2026-11-26 03:54:14.321652+00	\N	\N	\N	\N	\N	\\x7aea33e4c172897435bb629acf2076560eb1e35ac83671bd	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N
26	0	1	0	1	0	0	0	2026-11-26 03:54:14.321664+00	\N	\N	\N	\N	\N	\\x98f5763faedc048a0397ad84e31c2707a974ca9d8c1b82c8	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N
34	0	1	0	1	0	0	0	2026-11-26 03:54:14.321683+00	\N	\N	\N	\N	\N	\\xa3b5f17d2c40507af728c57e0e31a2ac1e860488b359687b	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N
44	0	1	0	1	0	0	0	2026-11-26 03:54:14.321689+00	\N	\N	\N	\N	\N	\\x000f1c5475c8a6747a4146ddd63de6fc1342fd85a5bb5957	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N
4	0	1	1	1	0	0	1	2026-11-26 03:54:14.2971+00	2026-11-26 03:54:14.430002+00	2026-11-26 03:54:14.430002+00	2026-11-26 04:54:14.430002+00	\N	\N	\\x7c8ef853d713e737f3970bec551d3955cbd1234dce80e822	early	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N
6	0	1	1	1	0	0	1	2026-11-26 03:54:14.321554+00	2026-11-26 03:54:14.430108+00	2026-11-26 03:54:14.430108+00	2026-11-26 04:54:14.430108+00	\N	\N	\\xb53dc5e191f2bd9f8e9e948fce50c58021244736604a9725	early	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N
\.


--
-- Data for Name: told_alert; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.told_alert (kind, object, since, execution_no, machine_no, owner) FROM stdin;
\.


--
-- Data for Name: version_publication; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.version_publication (machine_no, version, published, published_at, description, number) FROM stdin;
\.


--
-- Data for Name: ledger; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.ledger (kind, name, step) FROM stdin;
task	1	a
parallel	1	a
turn	1	a
net	1	a
failed	1	a
task	2	a
parallel	2	a
turn	2	a
net	2	a
failed	2	a
task	3	a
parallel	3	a
net	3	a
failed	3	a
task	4	a
parallel	4	a
net	4	a
failed	4	a
task	5	a
parallel	5	a
net	5	a
failed	5	a
nested	1	a
nested	2	a
nested	3	a
nested	4	a
nested	5	a
\.


--
-- Data for Name: repaired; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.repaired  FROM stdin;
\.


--
-- Data for Name: size; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.size (n) FROM stdin;
5
\.


--
-- Data for Name: token; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.token (token) FROM stdin;
AAAAAAAAAAQAAAAAAAAAAAAAAAF8jvhT1xPnN/OXC+xVHTlVy9EjTc6A6CI=
AAAAAAAAAAYAAAAAAAAAAAAAAAG1PcXhkfK9n46elI/OUMWAISRHNmBKlyU=
\.


--
-- Name: activity_no; Type: SEQUENCE SET; Schema: _sfflow; Owner: -
--

SELECT pg_catalog.setval('_sfflow.activity_no', 1, true);


--
-- Name: branch_no; Type: SEQUENCE SET; Schema: _sfflow; Owner: -
--

SELECT pg_catalog.setval('_sfflow.branch_no', 256, true);


--
-- Name: execution_no; Type: SEQUENCE SET; Schema: _sfflow; Owner: -
--

SELECT pg_catalog.setval('_sfflow.execution_no', 96, true);


--
-- Name: hold_no; Type: SEQUENCE SET; Schema: _sfflow; Owner: -
--

SELECT pg_catalog.setval('_sfflow.hold_no', 1, false);


--
-- Name: limit_no; Type: SEQUENCE SET; Schema: _sfflow; Owner: -
--

SELECT pg_catalog.setval('_sfflow.limit_no', 2, true);


--
-- Name: machine_no; Type: SEQUENCE SET; Schema: _sfflow; Owner: -
--

SELECT pg_catalog.setval('_sfflow.machine_no', 11, true);


--
-- Name: rule_no; Type: SEQUENCE SET; Schema: _sfflow; Owner: -
--

SELECT pg_catalog.setval('_sfflow.rule_no', 1, false);


--
-- Name: rule_version; Type: SEQUENCE SET; Schema: _sfflow; Owner: -
--

SELECT pg_catalog.setval('_sfflow.rule_version', 1, false);


--
-- PostgreSQL database dump complete
--


