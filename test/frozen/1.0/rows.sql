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
1	outside	postgres	100 years	\N	2026-11-26 04:57:05.018089+00	2026-11-26 04:57:05.15031+00	early
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.audit (at, action, object_kind, object_name, execution_no, target, role, session_role, reason, details) FROM stdin;
2026-11-26 04:57:05.019919+00	create	m	task	\N	task	postgres	postgres	\N	{"version": 1}
2026-11-26 04:57:05.037762+00	create	m	parallel	\N	parallel	postgres	postgres	\N	{"version": 1}
2026-11-26 04:57:05.038198+00	create	m	inner	\N	inner	postgres	postgres	\N	{"version": 1}
2026-11-26 04:57:05.038571+00	create	m	nested	\N	nested	postgres	postgres	\N	{"version": 1}
2026-11-26 04:57:05.0391+00	create	m	activity	\N	activity	postgres	postgres	\N	{"version": 1}
2026-11-26 04:57:05.039461+00	create	m	turn	\N	turn	postgres	postgres	\N	{"version": 1}
2026-11-26 04:57:05.040888+00	set limit	m	turn	\N	turn	postgres	postgres	\N	{"on_limit": "queue", "max_running": 2}
2026-11-26 04:57:05.04357+00	create	m	place	\N	place	postgres	postgres	\N	{"version": 1}
2026-11-26 04:57:05.049742+00	create	m	net	\N	net	postgres	postgres	\N	{"version": 1}
2026-11-26 04:57:05.057606+00	create	m	map	\N	map	postgres	postgres	\N	{"version": 1}
2026-11-26 04:57:05.057944+00	create	m	distributed	\N	distributed	postgres	postgres	\N	{"version": 1}
2026-11-26 04:57:05.058282+00	create	m	failed	\N	failed	postgres	postgres	\N	{"version": 1}
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
2	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.065649+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
3	0	\N	0	0	0	6	0	postgres	0	1	2	5	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.065701+00	2026-11-26 04:57:05.065701+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
7	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	3	2	3	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.066383+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
8	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.067398+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
12	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.067697+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
13	0	\N	0	0	0	6	0	postgres	0	1	2	5	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.067714+00	2026-11-26 04:57:05.067714+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
14	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.067755+00	2026-11-26 04:57:05.067755+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
16	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.067844+00	2026-11-26 04:57:05.067844+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
17	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	3	2	3	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.06788+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
18	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.067891+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
22	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.067941+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
23	0	\N	0	0	0	6	0	postgres	0	1	2	5	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.067951+00	2026-11-26 04:57:05.067951+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
9	0	\N	0	0	0	3	0	postgres	0	0	2	4	1	2	2	2	0	0	1	7	f	f	f	\N	2026-11-26 04:57:05.067451+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
19	0	\N	0	0	0	3	0	postgres	0	0	2	4	1	2	2	2	0	0	1	14	f	f	f	\N	2026-11-26 04:57:05.067898+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
4	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	2126-11-27 04:57:05.150616+00	2026-11-26 04:57:05.065921+00	2026-11-26 04:57:05.065921+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
6	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	2126-11-27 04:57:05.150732+00	2026-11-26 04:57:05.066285+00	2026-11-26 04:57:05.066285+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
24	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.067984+00	2026-11-26 04:57:05.067984+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
25	0	\N	0	0	0	0	0	postgres	0	0	0	0	0	0	0	0	0	0	0	\N	f	f	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
26	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.068553+00	2026-11-26 04:57:05.068553+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
27	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	3	2	3	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.0686+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
28	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.068614+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
32	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.068651+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
33	0	\N	0	0	0	6	0	postgres	0	1	2	5	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.068659+00	2026-11-26 04:57:05.068659+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
34	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.068685+00	2026-11-26 04:57:05.068685+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
35	0	\N	0	0	0	0	0	postgres	0	0	0	0	0	0	0	0	0	0	0	\N	f	f	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
36	0	\N	0	0	0	0	0	postgres	0	0	0	0	0	0	0	0	0	0	0	\N	f	f	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
37	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	3	2	3	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.073643+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
38	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.073661+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
42	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.073695+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
43	0	\N	0	0	0	6	0	postgres	0	1	2	5	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.073704+00	2026-11-26 04:57:05.073704+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
44	0	\N	0	0	0	6	0	postgres	0	1	2	3	1	0	0	0	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.073741+00	2026-11-26 04:57:05.073741+00	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
45	0	\N	0	0	0	0	0	postgres	0	0	0	0	0	0	0	0	0	0	0	\N	f	f	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
46	0	\N	0	0	0	0	0	postgres	0	0	0	0	0	0	0	0	0	0	0	\N	f	f	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
47	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	3	2	3	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.074052+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
48	0	\N	0	0	0	3	0	postgres	0	0	2	3	1	2	2	2	0	0	1	\N	f	f	f	\N	2026-11-26 04:57:05.074064+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
8	5	0	0	1	1	2	0	postgres	0	0	5	5	5	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.067407+00	2026-11-26 04:57:05.067407+00	\N	\N	{0}	\N	\N	\N	\N	\N	{"name": "1"}	\N	\N	\N	\N	\N
8	6	0	1	1	1	2	0	postgres	0	0	7	7	7	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.067409+00	2026-11-26 04:57:05.067409+00	\N	\N	{1}	\N	\N	\N	\N	\N	{"name": "1"}	\N	\N	\N	\N	\N
18	12	0	0	1	1	2	0	postgres	0	0	5	5	5	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.067894+00	2026-11-26 04:57:05.067894+00	\N	\N	{0}	\N	\N	\N	\N	\N	{"name": "2"}	\N	\N	\N	\N	\N
18	13	0	1	1	1	2	0	postgres	0	0	7	7	7	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.067895+00	2026-11-26 04:57:05.067895+00	\N	\N	{1}	\N	\N	\N	\N	\N	{"name": "2"}	\N	\N	\N	\N	\N
28	19	0	0	1	1	2	0	postgres	0	0	5	5	5	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.068617+00	2026-11-26 04:57:05.068617+00	\N	\N	{0}	\N	\N	\N	\N	\N	{"name": "3"}	\N	\N	\N	\N	\N
28	20	0	1	1	1	2	0	postgres	0	0	7	7	7	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.068618+00	2026-11-26 04:57:05.068618+00	\N	\N	{1}	\N	\N	\N	\N	\N	{"name": "3"}	\N	\N	\N	\N	\N
38	26	0	0	1	1	2	0	postgres	0	0	5	5	5	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.073663+00	2026-11-26 04:57:05.073663+00	\N	\N	{0}	\N	\N	\N	\N	\N	{"name": "4"}	\N	\N	\N	\N	\N
38	27	0	1	1	1	2	0	postgres	0	0	7	7	7	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.073664+00	2026-11-26 04:57:05.073664+00	\N	\N	{1}	\N	\N	\N	\N	\N	{"name": "4"}	\N	\N	\N	\N	\N
48	33	0	0	1	1	2	0	postgres	0	0	5	5	5	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.074065+00	2026-11-26 04:57:05.074065+00	\N	\N	{0}	\N	\N	\N	\N	\N	{"name": "5"}	\N	\N	\N	\N	\N
48	34	0	1	1	1	2	0	postgres	0	0	7	7	7	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.074066+00	2026-11-26 04:57:05.074066+00	\N	\N	{1}	\N	\N	\N	\N	\N	{"name": "5"}	\N	\N	\N	\N	\N
2	2	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.08029+00	2026-11-26 04:57:05.08029+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
7	4	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.080305+00	2026-11-26 04:57:05.080305+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
12	9	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.08046+00	2026-11-26 04:57:05.08046+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
17	11	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.080472+00	2026-11-26 04:57:05.080472+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
22	16	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.080529+00	2026-11-26 04:57:05.080529+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
27	18	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.080538+00	2026-11-26 04:57:05.080538+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
32	23	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.080588+00	2026-11-26 04:57:05.080588+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
37	25	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.080598+00	2026-11-26 04:57:05.080598+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
42	30	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.080642+00	2026-11-26 04:57:05.080642+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
47	32	0	1	2	4	2	0	postgres	0	0	7	7	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.080651+00	2026-11-26 04:57:05.080651+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
29	0	\N	0	0	0	3	0	postgres	0	0	2	4	1	2	2	2	0	0	1	21	f	f	f	\N	2026-11-26 04:57:05.068621+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
39	0	\N	0	0	0	3	0	postgres	0	0	2	4	1	2	2	2	0	0	1	28	f	f	f	\N	2026-11-26 04:57:05.073667+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
49	0	\N	0	0	0	3	0	postgres	0	0	2	4	1	2	2	2	0	0	1	35	f	f	f	\N	2026-11-26 04:57:05.074069+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
70	0	\N	0	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.089877+00	2026-11-26 04:57:05.089877+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "1"}	\N	\N	\N	\N	\N
71	0	\N	1	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.089941+00	2026-11-26 04:57:05.089941+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "1"}	\N	\N	\N	\N	\N
72	0	\N	0	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.089998+00	2026-11-26 04:57:05.089998+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "2"}	\N	\N	\N	\N	\N
73	0	\N	1	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.090047+00	2026-11-26 04:57:05.090047+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "2"}	\N	\N	\N	\N	\N
74	0	\N	0	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.090096+00	2026-11-26 04:57:05.090096+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "3"}	\N	\N	\N	\N	\N
75	0	\N	1	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.090156+00	2026-11-26 04:57:05.090156+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "3"}	\N	\N	\N	\N	\N
76	0	\N	0	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.09017+00	2026-11-26 04:57:05.09017+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "4"}	\N	\N	\N	\N	\N
77	0	\N	1	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.090183+00	2026-11-26 04:57:05.090183+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "4"}	\N	\N	\N	\N	\N
78	0	\N	0	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.090195+00	2026-11-26 04:57:05.090195+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "5"}	\N	\N	\N	\N	\N
79	0	\N	1	1	1	2	0	postgres	0	0	2	2	1	0	0	0	0	0	1	\N	f	f	f	2026-11-26 04:57:10.090207+00	2026-11-26 04:57:05.090207+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "5"}	\N	\N	\N	\N	\N
65	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100214+00	2026-11-26 04:57:05.100214+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "1"}	\N	\N	\N	\N	\N
66	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.10021+00	2026-11-26 04:57:05.10021+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "2"}	\N	\N	\N	\N	\N
67	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100205+00	2026-11-26 04:57:05.100205+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "3"}	\N	\N	\N	\N	\N
68	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100201+00	2026-11-26 04:57:05.100201+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "4"}	\N	\N	\N	\N	\N
69	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100195+00	2026-11-26 04:57:05.100195+00	\N	\N	\N	\N	\N	\N	\N	\N	{"name": "5"}	\N	\N	\N	\N	\N
2	1	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.101002+00	2026-11-26 04:57:05.101002+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
5	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:06.100995+00	2026-11-26 04:57:05.100995+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
7	3	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100992+00	2026-11-26 04:57:05.100992+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
11	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.10098+00	2026-11-26 04:57:05.10098+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
12	8	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100974+00	2026-11-26 04:57:05.100974+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
15	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:06.100942+00	2026-11-26 04:57:05.100942+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
17	10	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100916+00	2026-11-26 04:57:05.100916+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
21	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.1009+00	2026-11-26 04:57:05.1009+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
22	15	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100895+00	2026-11-26 04:57:05.100895+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
27	17	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100888+00	2026-11-26 04:57:05.100888+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
31	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100868+00	2026-11-26 04:57:05.100868+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
32	22	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100864+00	2026-11-26 04:57:05.100864+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
37	24	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100859+00	2026-11-26 04:57:05.100859+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
41	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100811+00	2026-11-26 04:57:05.100811+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
42	29	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100784+00	2026-11-26 04:57:05.100784+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
47	31	0	0	1	2	2	0	postgres	0	1	10	10	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.100675+00	2026-11-26 04:57:05.100675+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
1	0	\N	0	0	1	2	0	postgres	0	1	7	7	1	0	0	0	0	0	2	\N	f	f	f	2026-11-26 04:57:10.102305+00	2026-11-26 04:57:05.102305+00	\N	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
10	0	\N	0	0	1	8	0	postgres	0	2	7	11	1	0	0	0	0	0	2	\N	f	f	f	\N	2026-11-26 04:57:05.100983+00	2026-11-26 04:57:05.100983+00	\N	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N	\N	\N	\N	\N
20	0	\N	0	0	1	8	0	postgres	0	2	7	11	1	0	0	0	0	0	2	\N	f	f	f	\N	2026-11-26 04:57:05.100909+00	2026-11-26 04:57:05.100909+00	\N	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N	\N	\N	\N	\N
30	0	\N	0	0	1	8	0	postgres	0	2	7	11	1	0	0	0	0	0	2	\N	f	f	f	\N	2026-11-26 04:57:05.100872+00	2026-11-26 04:57:05.100872+00	\N	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N	\N	\N	\N	\N
40	0	\N	0	0	1	8	0	postgres	0	2	7	11	1	0	0	0	0	0	2	\N	f	f	f	\N	2026-11-26 04:57:05.100835+00	2026-11-26 04:57:05.100835+00	\N	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N	\N	\N	\N	\N
50	0	\N	0	0	1	8	0	postgres	0	2	7	11	1	0	0	0	0	0	2	\N	f	f	f	\N	2026-11-26 04:57:05.100219+00	2026-11-26 04:57:05.100219+00	\N	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N	\N	\N	\N	\N
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
25	6	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062149+00	postgres	\N	\N	\N	turn:3	0	0	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
35	6	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062248+00	postgres	\N	\N	\N	turn:4	0	0	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
3	4	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.061718+00	postgres	\N	\N	\N	nested:1	0	5	2026-11-26 04:57:05.065701+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
4	5	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.061747+00	postgres	\N	\N	\N	activity:1	0	3	2026-11-26 04:57:05.065921+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
6	7	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.061827+00	postgres	\N	\N	\N	place:1	0	3	2026-11-26 04:57:05.066285+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
8	9	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.061925+00	postgres	\N	\N	\N	map:1	0	7	2026-11-26 04:57:05.067398+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
9	10	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.061964+00	postgres	\N	\N	\N	distributed:1	0	4	2026-11-26 04:57:05.067451+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
13	4	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062029+00	postgres	\N	\N	\N	nested:2	0	5	2026-11-26 04:57:05.067714+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
14	5	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062039+00	postgres	\N	\N	\N	activity:2	0	3	2026-11-26 04:57:05.067755+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
2	2	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.061677+00	postgres	\N	\N	\N	parallel:1	0	10	2026-11-26 04:57:05.065649+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
5	6	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.061778+00	postgres	\N	\N	\N	turn:1	0	7	2026-11-26 04:57:05.066242+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
7	8	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.061885+00	postgres	\N	\N	\N	net:1	0	10	2026-11-26 04:57:05.066383+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
11	1	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062008+00	postgres	\N	\N	\N	task:2	0	7	2026-11-26 04:57:05.067688+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
12	2	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062019+00	postgres	\N	\N	\N	parallel:2	0	10	2026-11-26 04:57:05.067697+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
10	11	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.061993+00	postgres	\N	\N	\N	failed:1	2	11	2026-11-26 04:57:05.067673+00	2026-11-26 04:57:05.107765+00	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	{"items": [{"name": "1"}, {"name": "1"}]}
1	1	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.061396+00	postgres	\N	\N	\N	task:1	0	7	2026-11-26 04:57:05.065485+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "1"}, {"name": "1"}]}
36	7	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062258+00	postgres	\N	\N	\N	place:4	0	0	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
45	6	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062955+00	postgres	\N	\N	\N	turn:5	0	0	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
46	7	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062965+00	postgres	\N	\N	\N	place:5	0	0	\N	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
16	7	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.06206+00	postgres	\N	\N	\N	place:2	0	3	2026-11-26 04:57:05.067844+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
18	9	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062081+00	postgres	\N	\N	\N	map:2	0	7	2026-11-26 04:57:05.067891+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
19	10	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.06209+00	postgres	\N	\N	\N	distributed:2	0	4	2026-11-26 04:57:05.067898+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
23	4	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.06213+00	postgres	\N	\N	\N	nested:3	0	5	2026-11-26 04:57:05.067951+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
24	5	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.06214+00	postgres	\N	\N	\N	activity:3	0	3	2026-11-26 04:57:05.067984+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
26	7	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.06216+00	postgres	\N	\N	\N	place:3	0	3	2026-11-26 04:57:05.068553+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
28	9	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062179+00	postgres	\N	\N	\N	map:3	0	7	2026-11-26 04:57:05.068614+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
29	10	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062189+00	postgres	\N	\N	\N	distributed:3	0	4	2026-11-26 04:57:05.068621+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
38	9	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062613+00	postgres	\N	\N	\N	map:4	0	7	2026-11-26 04:57:05.073661+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
39	10	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062622+00	postgres	\N	\N	\N	distributed:4	0	4	2026-11-26 04:57:05.073667+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
43	4	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062935+00	postgres	\N	\N	\N	nested:5	0	5	2026-11-26 04:57:05.073704+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
44	5	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062945+00	postgres	\N	\N	\N	activity:5	0	3	2026-11-26 04:57:05.073741+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
48	9	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062985+00	postgres	\N	\N	\N	map:5	0	7	2026-11-26 04:57:05.074064+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
49	10	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062994+00	postgres	\N	\N	\N	distributed:5	0	4	2026-11-26 04:57:05.074069+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
65	3	1	0	1	3	0	1	\N	\N	\N	2026-11-26 04:57:05.065789+00	\N	\N	\N	\N	inner:01a21636-e129-71eb-bc2c-7e4d1801ef04	0	7	2026-11-26 04:57:05.080248+00	\N	\N	\N	\N	\N	\N	{"name": "1"}
33	4	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062228+00	postgres	\N	\N	\N	nested:4	0	5	2026-11-26 04:57:05.068659+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
34	5	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062238+00	postgres	\N	\N	\N	activity:4	0	3	2026-11-26 04:57:05.068685+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
70	10	1	0	1	9	0	\N	7	0	1	2026-11-26 04:57:05.0809+00	\N	\N	\N	\N	distributed/01a21636-e12b-7e6c-948e-b778d7463a59:0	0	2	2026-11-26 04:57:05.089877+00	\N	\N	\N	\N	\N	\N	{"name": "1"}
71	10	1	0	1	9	0	\N	7	1	1	2026-11-26 04:57:05.080915+00	\N	\N	\N	\N	distributed/01a21636-e12b-7e6c-948e-b778d7463a59:1	0	2	2026-11-26 04:57:05.089941+00	\N	\N	\N	\N	\N	\N	{"name": "1"}
72	10	1	0	1	19	0	\N	14	0	1	2026-11-26 04:57:05.081089+00	\N	\N	\N	\N	distributed/01a21636-e12b-79c3-8bda-37b10c18983a:0	0	2	2026-11-26 04:57:05.089998+00	\N	\N	\N	\N	\N	\N	{"name": "2"}
73	10	1	0	1	19	0	\N	14	1	1	2026-11-26 04:57:05.081098+00	\N	\N	\N	\N	distributed/01a21636-e12b-79c3-8bda-37b10c18983a:1	0	2	2026-11-26 04:57:05.090047+00	\N	\N	\N	\N	\N	\N	{"name": "2"}
74	10	1	0	1	29	0	\N	21	0	1	2026-11-26 04:57:05.081199+00	\N	\N	\N	\N	distributed/01a21636-e12c-756e-a8f8-66f720aca42f:0	0	2	2026-11-26 04:57:05.090096+00	\N	\N	\N	\N	\N	\N	{"name": "3"}
75	10	1	0	1	29	0	\N	21	1	1	2026-11-26 04:57:05.081206+00	\N	\N	\N	\N	distributed/01a21636-e12c-756e-a8f8-66f720aca42f:1	0	2	2026-11-26 04:57:05.090156+00	\N	\N	\N	\N	\N	\N	{"name": "3"}
76	10	1	0	1	39	0	\N	28	0	1	2026-11-26 04:57:05.089496+00	\N	\N	\N	\N	distributed/01a21636-e131-7522-a1c3-9f1faa2ed37c:0	0	2	2026-11-26 04:57:05.09017+00	\N	\N	\N	\N	\N	\N	{"name": "4"}
77	10	1	0	1	39	0	\N	28	1	1	2026-11-26 04:57:05.089513+00	\N	\N	\N	\N	distributed/01a21636-e131-7522-a1c3-9f1faa2ed37c:1	0	2	2026-11-26 04:57:05.090183+00	\N	\N	\N	\N	\N	\N	{"name": "4"}
78	10	1	0	1	49	0	\N	35	0	1	2026-11-26 04:57:05.089668+00	\N	\N	\N	\N	distributed/01a21636-e132-73e9-a05f-72a1bc788a0e:0	0	2	2026-11-26 04:57:05.090195+00	\N	\N	\N	\N	\N	\N	{"name": "5"}
79	10	1	0	1	49	0	\N	35	1	1	2026-11-26 04:57:05.089678+00	\N	\N	\N	\N	distributed/01a21636-e132-73e9-a05f-72a1bc788a0e:1	0	2	2026-11-26 04:57:05.090207+00	\N	\N	\N	\N	\N	\N	{"name": "5"}
66	3	1	0	1	13	0	1	\N	\N	\N	2026-11-26 04:57:05.067721+00	\N	\N	\N	\N	inner:01a21636-e12b-7109-bf4a-6e5e1985f292	0	7	2026-11-26 04:57:05.080261+00	\N	\N	\N	\N	\N	\N	{"name": "2"}
67	3	1	0	1	23	0	1	\N	\N	\N	2026-11-26 04:57:05.067958+00	\N	\N	\N	\N	inner:01a21636-e12b-79bf-ac0f-53f1c7fc862d	0	7	2026-11-26 04:57:05.080266+00	\N	\N	\N	\N	\N	\N	{"name": "3"}
68	3	1	0	1	33	0	1	\N	\N	\N	2026-11-26 04:57:05.068664+00	\N	\N	\N	\N	inner:01a21636-e12c-7616-9fd1-e99d6e235d48	0	7	2026-11-26 04:57:05.080269+00	\N	\N	\N	\N	\N	\N	{"name": "4"}
69	3	1	0	1	43	0	1	\N	\N	\N	2026-11-26 04:57:05.07371+00	\N	\N	\N	\N	inner:01a21636-e131-7f7c-bec4-db84394ff19d	0	7	2026-11-26 04:57:05.080273+00	\N	\N	\N	\N	\N	\N	{"name": "5"}
15	6	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.06205+00	postgres	\N	\N	\N	turn:2	0	7	2026-11-26 04:57:05.067828+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
31	1	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062208+00	postgres	\N	\N	\N	task:4	0	7	2026-11-26 04:57:05.068646+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
32	2	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062218+00	postgres	\N	\N	\N	parallel:4	0	10	2026-11-26 04:57:05.068651+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
30	11	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062199+00	postgres	\N	\N	\N	failed:3	2	11	2026-11-26 04:57:05.06864+00	2026-11-26 04:57:05.107765+00	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	{"items": [{"name": "3"}, {"name": "3"}]}
17	8	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062071+00	postgres	\N	\N	\N	net:2	0	10	2026-11-26 04:57:05.06788+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}
21	1	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062111+00	postgres	\N	\N	\N	task:3	0	7	2026-11-26 04:57:05.067931+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
22	2	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.06212+00	postgres	\N	\N	\N	parallel:3	0	10	2026-11-26 04:57:05.067941+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
27	8	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062169+00	postgres	\N	\N	\N	net:3	0	10	2026-11-26 04:57:05.0686+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}
37	8	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062602+00	postgres	\N	\N	\N	net:4	0	10	2026-11-26 04:57:05.073643+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}
41	1	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062646+00	postgres	\N	\N	\N	task:5	0	7	2026-11-26 04:57:05.07369+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
42	2	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062924+00	postgres	\N	\N	\N	parallel:5	0	10	2026-11-26 04:57:05.073695+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
47	8	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062975+00	postgres	\N	\N	\N	net:5	0	10	2026-11-26 04:57:05.074052+00	\N	\N	\N	\N	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}
20	11	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.0621+00	postgres	\N	\N	\N	failed:2	2	11	2026-11-26 04:57:05.067921+00	2026-11-26 04:57:05.107765+00	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	{"items": [{"name": "2"}, {"name": "2"}]}
40	11	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.062632+00	postgres	\N	\N	\N	failed:4	2	11	2026-11-26 04:57:05.073683+00	2026-11-26 04:57:05.107765+00	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	{"items": [{"name": "4"}, {"name": "4"}]}
50	11	1	0	1	\N	\N	\N	\N	\N	\N	2026-11-26 04:57:05.063004+00	postgres	\N	\N	\N	failed:5	2	11	2026-11-26 04:57:05.074085+00	2026-11-26 04:57:05.109714+00	\N	\N	\N	raise_exception	{"context":"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE","message":"not yet","sqlstate":"P0001"}	{"items": [{"name": "5"}, {"name": "5"}]}
\.


--
-- Data for Name: failure; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.failure (execution_no, machine_no, times, failed_at, is_open) FROM stdin;
10	11	1	2026-11-26 04:57:05.107765+00	t
20	11	1	2026-11-26 04:57:05.107765+00	t
30	11	1	2026-11-26 04:57:05.107765+00	t
40	11	1	2026-11-26 04:57:05.107765+00	t
50	11	1	2026-11-26 04:57:05.109714+00	t
\.


--
-- Data for Name: held; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.held (execution_no, branch_no, feature, object_no, queue, rank, since) FROM stdin;
25	0	limit	1	-3750763034362895579	2026-11-26 04:57:05.062154+00	2026-11-26 04:57:05.062154+00
35	0	limit	1	-3750763034362895579	2026-11-26 04:57:05.062253+00	2026-11-26 04:57:05.062253+00
36	0	limit	2	-3750763034362895579	2026-11-26 04:57:05.062595+00	2026-11-26 04:57:05.062595+00
45	0	limit	1	-3750763034362895579	2026-11-26 04:57:05.062959+00	2026-11-26 04:57:05.062959+00
46	0	limit	2	-3750763034362895579	2026-11-26 04:57:05.06297+00	2026-11-26 04:57:05.06297+00
\.


--
-- Data for Name: history; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.history (execution_no, at, first_id, body, documents) FROM stdin;
1	2026-11-26 04:57:05.065485+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"kind\\": \\"task\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
2	2026-11-26 04:57:05.065649+00	1	\\x0101060018110d02021500080e240227182800	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"kind\\": \\"parallel\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
3	2026-11-26 04:57:05.065701+00	1	\\x0101050018080d020227182800291a8403	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"Input\\": {\\"name\\": \\"1\\"}, \\"StateMachineArn\\": \\"inner\\"}","{\\"StartDate\\": 1795669025065, \\"ExecutionArn\\": \\"arn:aws:states:us-east-1:000000000000:execution:inner:01a21636-e129-71eb-bc2c-7e4d1801ef04\\"}"}
4	2026-11-26 04:57:05.065921+00	1	\\x0101030018080d0202304abe04	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
5	2026-11-26 04:57:05.066242+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"kind\\": \\"turn\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
6	2026-11-26 04:57:05.066285+00	1	\\x0101030018080d0202304a46	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
7	2026-11-26 04:57:05.066383+00	1	\\x01010600183f0d02024100080e0c0227182800	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"kind\\": \\"net\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
8	2026-11-26 04:57:05.067398+00	1	\\x0101070018130d020219401d221201000c1c021d2703040101020c1c02	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"length\\": 2}","{\\"name\\": \\"1\\"}","{\\"name\\": \\"1\\"}"}
9	2026-11-26 04:57:05.067451+00	1	\\x0101040018130d020219402140	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"length\\": 2}","{\\"mapRunArn\\": \\"arn:aws:states:us-east-1:000000000000:mapRun:distributed/01a21636-e12b-7e6c-948e-b778d7463a59:01a21636-e12b-7e6c-948e-b778d7463a59\\"}"}
10	2026-11-26 04:57:05.067673+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"1\\"}, {\\"name\\": \\"1\\"}]}","{\\"kind\\": \\"failed\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
11	2026-11-26 04:57:05.067688+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"kind\\": \\"task\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
12	2026-11-26 04:57:05.067697+00	1	\\x0101060018110d02021500080e040227182800	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"kind\\": \\"parallel\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
13	2026-11-26 04:57:05.067714+00	1	\\x0101050018080d020227182800291a4c	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"Input\\": {\\"name\\": \\"2\\"}, \\"StateMachineArn\\": \\"inner\\"}","{\\"StartDate\\": 1795669025067, \\"ExecutionArn\\": \\"arn:aws:states:us-east-1:000000000000:execution:inner:01a21636-e12b-7109-bf4a-6e5e1985f292\\"}"}
14	2026-11-26 04:57:05.067755+00	1	\\x0101030018080d0202304a8801	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
15	2026-11-26 04:57:05.067828+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"kind\\": \\"turn\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
16	2026-11-26 04:57:05.067844+00	1	\\x0101030018080d0202304a38	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
17	2026-11-26 04:57:05.06788+00	1	\\x01010600183f0d02024100080e060227182800	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"kind\\": \\"net\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
18	2026-11-26 04:57:05.067891+00	1	\\x0101070018130d020219401d220601000c1c021d2703020101020c1c02	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"length\\": 2}","{\\"name\\": \\"2\\"}","{\\"name\\": \\"2\\"}"}
19	2026-11-26 04:57:05.067898+00	1	\\x0101040018130d020219402140	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"length\\": 2}","{\\"mapRunArn\\": \\"arn:aws:states:us-east-1:000000000000:mapRun:distributed/01a21636-e12b-79c3-8bda-37b10c18983a:01a21636-e12b-79c3-8bda-37b10c18983a\\"}"}
20	2026-11-26 04:57:05.067921+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"2\\"}, {\\"name\\": \\"2\\"}]}","{\\"kind\\": \\"failed\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
21	2026-11-26 04:57:05.067931+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"kind\\": \\"task\\", \\"name\\": \\"3\\", \\"step\\": \\"a\\"}"}
22	2026-11-26 04:57:05.067941+00	1	\\x0101060018110d02021500080e020227182800	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"kind\\": \\"parallel\\", \\"name\\": \\"3\\", \\"step\\": \\"a\\"}"}
23	2026-11-26 04:57:05.067951+00	1	\\x0101050018080d020227182800291a32	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"Input\\": {\\"name\\": \\"3\\"}, \\"StateMachineArn\\": \\"inner\\"}","{\\"StartDate\\": 1795669025067, \\"ExecutionArn\\": \\"arn:aws:states:us-east-1:000000000000:execution:inner:01a21636-e12b-79bf-ac0f-53f1c7fc862d\\"}"}
24	2026-11-26 04:57:05.067984+00	1	\\x0101030018080d0202304a32	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
26	2026-11-26 04:57:05.068553+00	1	\\x0101030018080d0202304a52	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
27	2026-11-26 04:57:05.0686+00	1	\\x01010600183f0d02024100080e080227182800	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"kind\\": \\"net\\", \\"name\\": \\"3\\", \\"step\\": \\"a\\"}"}
28	2026-11-26 04:57:05.068614+00	1	\\x0101070018130d020219401d220601000c1c021d2703020101020c1c02	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"length\\": 2}","{\\"name\\": \\"3\\"}","{\\"name\\": \\"3\\"}"}
29	2026-11-26 04:57:05.068621+00	1	\\x0101040018130d020219402140	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"length\\": 2}","{\\"mapRunArn\\": \\"arn:aws:states:us-east-1:000000000000:mapRun:distributed/01a21636-e12c-756e-a8f8-66f720aca42f:01a21636-e12c-756e-a8f8-66f720aca42f\\"}"}
30	2026-11-26 04:57:05.06864+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"3\\"}, {\\"name\\": \\"3\\"}]}","{\\"kind\\": \\"failed\\", \\"name\\": \\"3\\", \\"step\\": \\"a\\"}"}
31	2026-11-26 04:57:05.068646+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"kind\\": \\"task\\", \\"name\\": \\"4\\", \\"step\\": \\"a\\"}"}
32	2026-11-26 04:57:05.068651+00	1	\\x0101060018110d02021500080e020227182800	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"kind\\": \\"parallel\\", \\"name\\": \\"4\\", \\"step\\": \\"a\\"}"}
27	2026-11-26 04:57:05.100886+00	8	\\x0101032a1d02040910080c0e0402	{"\\"a\\""}
30	2026-11-26 04:57:05.100871+00	5	\\x0101052a1c02091005080e020227182800	{"\\"a\\"","{\\"kind\\": \\"failed\\", \\"name\\": \\"3\\", \\"step\\": \\"b\\"}"}
31	2026-11-26 04:57:05.100868+00	5	\\x0101032a1c020910050c0c02	{"\\"a\\""}
33	2026-11-26 04:57:05.068659+00	1	\\x0101050018080d020227182800291a2e	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"Input\\": {\\"name\\": \\"4\\"}, \\"StateMachineArn\\": \\"inner\\"}","{\\"StartDate\\": 1795669025068, \\"ExecutionArn\\": \\"arn:aws:states:us-east-1:000000000000:execution:inner:01a21636-e12c-7616-9fd1-e99d6e235d48\\"}"}
34	2026-11-26 04:57:05.068685+00	1	\\x0101030018080d0202304a12	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
37	2026-11-26 04:57:05.073643+00	1	\\x01010600183f0d02024100080e0a0227182800	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"kind\\": \\"net\\", \\"name\\": \\"4\\", \\"step\\": \\"a\\"}"}
38	2026-11-26 04:57:05.073661+00	1	\\x0101070018130d020219401d220401000c1c021d2703020101020c1c02	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"length\\": 2}","{\\"name\\": \\"4\\"}","{\\"name\\": \\"4\\"}"}
39	2026-11-26 04:57:05.073667+00	1	\\x0101040018130d020219402140	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"length\\": 2}","{\\"mapRunArn\\": \\"arn:aws:states:us-east-1:000000000000:mapRun:distributed/01a21636-e131-7522-a1c3-9f1faa2ed37c:01a21636-e131-7522-a1c3-9f1faa2ed37c\\"}"}
40	2026-11-26 04:57:05.073683+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"4\\"}, {\\"name\\": \\"4\\"}]}","{\\"kind\\": \\"failed\\", \\"name\\": \\"4\\", \\"step\\": \\"a\\"}"}
41	2026-11-26 04:57:05.07369+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"kind\\": \\"task\\", \\"name\\": \\"5\\", \\"step\\": \\"a\\"}"}
42	2026-11-26 04:57:05.073695+00	1	\\x0101060018110d02021500080e020227182800	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"kind\\": \\"parallel\\", \\"name\\": \\"5\\", \\"step\\": \\"a\\"}"}
43	2026-11-26 04:57:05.073704+00	1	\\x0101050018080d020227182800291a3e	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"Input\\": {\\"name\\": \\"5\\"}, \\"StateMachineArn\\": \\"inner\\"}","{\\"StartDate\\": 1795669025073, \\"ExecutionArn\\": \\"arn:aws:states:us-east-1:000000000000:execution:inner:01a21636-e131-7f7c-bec4-db84394ff19d\\"}"}
44	2026-11-26 04:57:05.073741+00	1	\\x0101030018080d0202304a24	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"resource\\": \\"activity:outside\\"}"}
47	2026-11-26 04:57:05.074052+00	1	\\x01010600183f0d02024100080e040227182800	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"kind\\": \\"net\\", \\"name\\": \\"5\\", \\"step\\": \\"a\\"}"}
48	2026-11-26 04:57:05.074064+00	1	\\x0101070018130d020219401d220201000c1c021d2703020101020c1c02	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"length\\": 2}","{\\"name\\": \\"5\\"}","{\\"name\\": \\"5\\"}"}
49	2026-11-26 04:57:05.074069+00	1	\\x0101040018130d020219402140	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"length\\": 2}","{\\"mapRunArn\\": \\"arn:aws:states:us-east-1:000000000000:mapRun:distributed/01a21636-e132-73e9-a05f-72a1bc788a0e:01a21636-e132-73e9-a05f-72a1bc788a0e\\"}"}
50	2026-11-26 04:57:05.074085+00	1	\\x0101040018080d020227182800	{"{\\"items\\": [{\\"name\\": \\"5\\"}, {\\"name\\": \\"5\\"}]}","{\\"kind\\": \\"failed\\", \\"name\\": \\"5\\", \\"step\\": \\"a\\"}"}
2	2026-11-26 04:57:05.08029+00	7	\\x0101010c15040a06	\N
7	2026-11-26 04:57:05.080305+00	7	\\x0101010c15040a06	\N
65	2026-11-26 04:57:05.080248+00	1	\\x0101040018080d020227182800	{"{\\"name\\": \\"1\\"}","{\\"kind\\": \\"nested\\", \\"name\\": \\"1\\", \\"step\\": \\"a\\"}"}
66	2026-11-26 04:57:05.080261+00	1	\\x0101040018080d020227182800	{"{\\"name\\": \\"2\\"}","{\\"kind\\": \\"nested\\", \\"name\\": \\"2\\", \\"step\\": \\"a\\"}"}
67	2026-11-26 04:57:05.080266+00	1	\\x0101040018080d020227182800	{"{\\"name\\": \\"3\\"}","{\\"kind\\": \\"nested\\", \\"name\\": \\"3\\", \\"step\\": \\"a\\"}"}
68	2026-11-26 04:57:05.080269+00	1	\\x0101040018080d020227182800	{"{\\"name\\": \\"4\\"}","{\\"kind\\": \\"nested\\", \\"name\\": \\"4\\", \\"step\\": \\"a\\"}"}
69	2026-11-26 04:57:05.080273+00	1	\\x0101040018080d020227182800	{"{\\"name\\": \\"5\\"}","{\\"kind\\": \\"nested\\", \\"name\\": \\"5\\", \\"step\\": \\"a\\"}"}
12	2026-11-26 04:57:05.08046+00	7	\\x0101010c15040a06	\N
17	2026-11-26 04:57:05.080472+00	7	\\x0101010c15040a06	\N
22	2026-11-26 04:57:05.080529+00	7	\\x0101010c15040a06	\N
27	2026-11-26 04:57:05.080538+00	7	\\x0101010c15040a06	\N
32	2026-11-26 04:57:05.080588+00	7	\\x0101010c15040a06	\N
37	2026-11-26 04:57:05.080598+00	7	\\x0101010c15040a06	\N
42	2026-11-26 04:57:05.080642+00	7	\\x0101010c15040a06	\N
47	2026-11-26 04:57:05.080651+00	7	\\x0101010c15040a06	\N
70	2026-11-26 04:57:05.089877+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"1\\"}"}
71	2026-11-26 04:57:05.089941+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"1\\"}"}
72	2026-11-26 04:57:05.089998+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"2\\"}"}
73	2026-11-26 04:57:05.090047+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"2\\"}"}
74	2026-11-26 04:57:05.090096+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"3\\"}"}
75	2026-11-26 04:57:05.090156+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"3\\"}"}
76	2026-11-26 04:57:05.09017+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"4\\"}"}
77	2026-11-26 04:57:05.090183+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"4\\"}"}
78	2026-11-26 04:57:05.090195+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"5\\"}"}
79	2026-11-26 04:57:05.090207+00	1	\\x01010200180c0d0204	{"{\\"name\\": \\"5\\"}"}
50	2026-11-26 04:57:05.100218+00	5	\\x0101052a1c02091005080e020227182800	{"\\"a\\"","{\\"kind\\": \\"failed\\", \\"name\\": \\"5\\", \\"step\\": \\"b\\"}"}
65	2026-11-26 04:57:05.100213+00	5	\\x0101032a1c020910050c0e0202	{"\\"a\\""}
66	2026-11-26 04:57:05.100209+00	5	\\x0101032a1c020910050c0e0202	{"\\"a\\""}
67	2026-11-26 04:57:05.100205+00	5	\\x0101032a1c020910050c0c02	{"\\"a\\""}
68	2026-11-26 04:57:05.1002+00	5	\\x0101032a1c020910050c0e0202	{"\\"a\\""}
69	2026-11-26 04:57:05.100192+00	5	\\x0101032a1c020910050c0e0602	{"\\"a\\""}
2	2026-11-26 04:57:05.101001+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
5	2026-11-26 04:57:05.100995+00	5	\\x0101032a1c020910050c0c02	{"\\"a\\""}
7	2026-11-26 04:57:05.10099+00	8	\\x0101032a1d02040910080c0e0402	{"\\"a\\""}
10	2026-11-26 04:57:05.100983+00	5	\\x0101052a1c02091005080c0227182800	{"\\"a\\"","{\\"kind\\": \\"failed\\", \\"name\\": \\"1\\", \\"step\\": \\"b\\"}"}
11	2026-11-26 04:57:05.100979+00	5	\\x0101032a1c020910050c0e0202	{"\\"a\\""}
12	2026-11-26 04:57:05.100973+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
15	2026-11-26 04:57:05.10094+00	5	\\x0101032a1c020910050c0e0402	{"\\"a\\""}
17	2026-11-26 04:57:05.100915+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
20	2026-11-26 04:57:05.100908+00	5	\\x0101052a1c02091005080e020227182800	{"\\"a\\"","{\\"kind\\": \\"failed\\", \\"name\\": \\"2\\", \\"step\\": \\"b\\"}"}
21	2026-11-26 04:57:05.1009+00	5	\\x0101032a1c020910050c0c02	{"\\"a\\""}
22	2026-11-26 04:57:05.100893+00	8	\\x0101032a1d02040910080c0e0402	{"\\"a\\""}
32	2026-11-26 04:57:05.100864+00	8	\\x0101032a1d02040910080c0c02	{"\\"a\\""}
37	2026-11-26 04:57:05.100858+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
40	2026-11-26 04:57:05.100835+00	5	\\x0101052a1c02091005080c0227182800	{"\\"a\\"","{\\"kind\\": \\"failed\\", \\"name\\": \\"4\\", \\"step\\": \\"b\\"}"}
41	2026-11-26 04:57:05.10081+00	5	\\x0101032a1c020910050c0e0202	{"\\"a\\""}
42	2026-11-26 04:57:05.100783+00	8	\\x0101032a1d02040910080c0e0202	{"\\"a\\""}
47	2026-11-26 04:57:05.100626+00	8	\\x0101032a1d02040910080c0e6202	{"\\"a\\""}
10	2026-11-26 04:57:05.107747+00	10	\\x0101022b4404024403	{"{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}"}
20	2026-11-26 04:57:05.107755+00	10	\\x0101022b4404024403	{"{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}"}
30	2026-11-26 04:57:05.10776+00	10	\\x0101022b4404024403	{"{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}"}
40	2026-11-26 04:57:05.107764+00	10	\\x0101022b4404024403	{"{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}"}
1	2026-11-26 04:57:05.102264+00	5	\\x0101032a1c020910050c0e5202	{"\\"a\\""}
50	2026-11-26 04:57:05.10971+00	10	\\x0101022b4404024403	{"{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}","{\\"cause\\": \\"{\\\\\\"context\\\\\\":\\\\\\"PL/pgSQL function fail_until_repaired(text,text,text) line 4 at RAISE\\\\\\",\\\\\\"message\\\\\\":\\\\\\"not yet\\\\\\",\\\\\\"sqlstate\\\\\\":\\\\\\"P0001\\\\\\"}\\", \\"error\\": \\"raise_exception\\"}"}
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
1	-3750763034362895579	1	5	-3
2	-3750763034362895579	1	6	0
1	-3750763034362895579	2	15	-3
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
9	7	0	0	01a21636-e12b-7e6c-948e-b778d7463a59	0	0	f	0	0	0	0	0	0	2	2	0	0	0	0	0	0	2026-11-26 04:57:05.067451+00	\N	0
19	14	0	0	01a21636-e12b-79c3-8bda-37b10c18983a	0	0	f	0	0	0	0	0	0	2	2	0	0	0	0	0	0	2026-11-26 04:57:05.067898+00	\N	0
29	21	0	0	01a21636-e12c-756e-a8f8-66f720aca42f	0	0	f	0	0	0	0	0	0	2	2	0	0	0	0	0	0	2026-11-26 04:57:05.068621+00	\N	0
39	28	0	0	01a21636-e131-7522-a1c3-9f1faa2ed37c	0	0	f	0	0	0	0	0	0	2	2	0	0	0	0	0	0	2026-11-26 04:57:05.073667+00	\N	0
49	35	0	0	01a21636-e132-73e9-a05f-72a1bc788a0e	0	0	f	0	0	0	0	0	0	2	2	0	0	0	0	0	0	2026-11-26 04:57:05.074069+00	\N	0
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
\.


--
-- Data for Name: metric_increment; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.metric_increment (xid, at, machine_no, version, counts) FROM stdin;
752	2026-11-26 04:57:05.074221+00	1	1	\\x0100050205
752	2026-11-26 04:57:05.074221+00	2	1	\\x010005020a
752	2026-11-26 04:57:05.074221+00	4	1	\\x0100050205
752	2026-11-26 04:57:05.074221+00	5	1	\\x0100050205
752	2026-11-26 04:57:05.074221+00	6	1	\\x0100020202
752	2026-11-26 04:57:05.074221+00	7	1	\\x0100030203
752	2026-11-26 04:57:05.074221+00	8	1	\\x010005020a
752	2026-11-26 04:57:05.074221+00	9	1	\\x010005020f
752	2026-11-26 04:57:05.074221+00	10	1	\\x0100050205
752	2026-11-26 04:57:05.074221+00	11	1	\\x0100050205
753	2026-11-26 04:57:05.080309+00	2	1	\\x010201
753	2026-11-26 04:57:05.080309+00	8	1	\\x010201
753	2026-11-26 04:57:05.080309+00	3	1	\\x0100050205
754	2026-11-26 04:57:05.080476+00	2	1	\\x010201
754	2026-11-26 04:57:05.080476+00	8	1	\\x010201
755	2026-11-26 04:57:05.080542+00	2	1	\\x010201
755	2026-11-26 04:57:05.080542+00	8	1	\\x010201
756	2026-11-26 04:57:05.080602+00	2	1	\\x010201
756	2026-11-26 04:57:05.080602+00	8	1	\\x010201
757	2026-11-26 04:57:05.080655+00	2	1	\\x010201
757	2026-11-26 04:57:05.080655+00	8	1	\\x010201
763	2026-11-26 04:57:05.090208+00	10	1	\\x01020a
845	2026-11-26 04:57:05.100236+00	11	1	\\x0102010495cc01
845	2026-11-26 04:57:05.100236+00	3	1	\\x01020504fd9b0104ec9b0104e39b0104db9b0104cf9b01
847	2026-11-26 04:57:05.101003+00	2	1	\\x0102050c8694020cfa83020cb781020cd4fb010ccfd301
847	2026-11-26 04:57:05.101003+00	6	1	\\x01020204c18f0204d88202
847	2026-11-26 04:57:05.101003+00	8	1	\\x0102050ca98e020c8882020c9afc010ccad4010ccccf01
847	2026-11-26 04:57:05.101003+00	11	1	\\x010204049e840204db810204e7fb010490d401
847	2026-11-26 04:57:05.101003+00	1	1	\\x010204048b840204c9810204defb0104f0d301
857	2026-11-26 04:57:05.107765+00	11	1	\\x010d00139cb9020d0013a4b7020d0013d5b1020d0013a28a02
848	2026-11-26 04:57:05.102331+00	1	1	\\x01020104ab9f02
858	2026-11-26 04:57:05.109714+00	11	1	\\x010d0013ad9602
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
\.


--
-- Data for Name: open_execution; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.open_execution (machine_no, status, requested_at, execution_no, error) FROM stdin;
1	RUNNING	2026-11-26 04:57:05.061396+00	1	\N
2	RUNNING	2026-11-26 04:57:05.061677+00	2	\N
4	RUNNING	2026-11-26 04:57:05.061718+00	3	\N
5	RUNNING	2026-11-26 04:57:05.061747+00	4	\N
6	RUNNING	2026-11-26 04:57:05.061778+00	5	\N
7	RUNNING	2026-11-26 04:57:05.061827+00	6	\N
8	RUNNING	2026-11-26 04:57:05.061885+00	7	\N
9	RUNNING	2026-11-26 04:57:05.061925+00	8	\N
10	RUNNING	2026-11-26 04:57:05.061964+00	9	\N
1	RUNNING	2026-11-26 04:57:05.062008+00	11	\N
2	RUNNING	2026-11-26 04:57:05.062019+00	12	\N
4	RUNNING	2026-11-26 04:57:05.062029+00	13	\N
5	RUNNING	2026-11-26 04:57:05.062039+00	14	\N
6	RUNNING	2026-11-26 04:57:05.06205+00	15	\N
7	RUNNING	2026-11-26 04:57:05.06206+00	16	\N
8	RUNNING	2026-11-26 04:57:05.062071+00	17	\N
9	RUNNING	2026-11-26 04:57:05.062081+00	18	\N
10	RUNNING	2026-11-26 04:57:05.06209+00	19	\N
1	RUNNING	2026-11-26 04:57:05.062111+00	21	\N
2	RUNNING	2026-11-26 04:57:05.06212+00	22	\N
4	RUNNING	2026-11-26 04:57:05.06213+00	23	\N
5	RUNNING	2026-11-26 04:57:05.06214+00	24	\N
7	RUNNING	2026-11-26 04:57:05.06216+00	26	\N
8	RUNNING	2026-11-26 04:57:05.062169+00	27	\N
9	RUNNING	2026-11-26 04:57:05.062179+00	28	\N
10	RUNNING	2026-11-26 04:57:05.062189+00	29	\N
1	RUNNING	2026-11-26 04:57:05.062208+00	31	\N
2	RUNNING	2026-11-26 04:57:05.062218+00	32	\N
4	RUNNING	2026-11-26 04:57:05.062228+00	33	\N
5	RUNNING	2026-11-26 04:57:05.062238+00	34	\N
8	RUNNING	2026-11-26 04:57:05.062602+00	37	\N
9	RUNNING	2026-11-26 04:57:05.062613+00	38	\N
10	RUNNING	2026-11-26 04:57:05.062622+00	39	\N
1	RUNNING	2026-11-26 04:57:05.062646+00	41	\N
2	RUNNING	2026-11-26 04:57:05.062924+00	42	\N
4	RUNNING	2026-11-26 04:57:05.062935+00	43	\N
5	RUNNING	2026-11-26 04:57:05.062945+00	44	\N
8	RUNNING	2026-11-26 04:57:05.062975+00	47	\N
9	RUNNING	2026-11-26 04:57:05.062985+00	48	\N
10	RUNNING	2026-11-26 04:57:05.062994+00	49	\N
3	RUNNING	2026-11-26 04:57:05.065789+00	65	\N
3	RUNNING	2026-11-26 04:57:05.067721+00	66	\N
3	RUNNING	2026-11-26 04:57:05.067958+00	67	\N
3	RUNNING	2026-11-26 04:57:05.068664+00	68	\N
3	RUNNING	2026-11-26 04:57:05.07371+00	69	\N
10	RUNNING	2026-11-26 04:57:05.0809+00	70	\N
10	RUNNING	2026-11-26 04:57:05.080915+00	71	\N
10	RUNNING	2026-11-26 04:57:05.081089+00	72	\N
10	RUNNING	2026-11-26 04:57:05.081098+00	73	\N
10	RUNNING	2026-11-26 04:57:05.081199+00	74	\N
10	RUNNING	2026-11-26 04:57:05.081206+00	75	\N
10	RUNNING	2026-11-26 04:57:05.089496+00	76	\N
10	RUNNING	2026-11-26 04:57:05.089513+00	77	\N
10	RUNNING	2026-11-26 04:57:05.089668+00	78	\N
10	RUNNING	2026-11-26 04:57:05.089678+00	79	\N
11	FAILED	2026-11-26 04:57:05.061993+00	10	raise_exception
11	FAILED	2026-11-26 04:57:05.0621+00	20	raise_exception
11	FAILED	2026-11-26 04:57:05.062199+00	30	raise_exception
11	FAILED	2026-11-26 04:57:05.062632+00	40	raise_exception
11	FAILED	2026-11-26 04:57:05.063004+00	50	raise_exception
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
1	machine	turn			f	6	\N	2	2	\N	1000000	f	2026-11-26 04:57:05.040202+00	postgres	f	744	\N	\N
2	machine	place	o		t	7	\N	3	3	\N	1000000	f	2026-11-26 04:57:05.043112+00	postgres	f	745	\N	\N
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
1	task	postgres	1	2026-11-26 04:57:05.019354+00
2	parallel	postgres	1	2026-11-26 04:57:05.03764+00
3	inner	postgres	1	2026-11-26 04:57:05.038111+00
4	nested	postgres	1	2026-11-26 04:57:05.038491+00
5	activity	postgres	1	2026-11-26 04:57:05.039022+00
6	turn	postgres	1	2026-11-26 04:57:05.039384+00
7	place	postgres	1	2026-11-26 04:57:05.042875+00
8	net	postgres	1	2026-11-26 04:57:05.049635+00
9	map	postgres	1	2026-11-26 04:57:05.05755+00
10	distributed	postgres	1	2026-11-26 04:57:05.057902+00
11	failed	postgres	1	2026-11-26 04:57:05.058242+00
\.


--
-- Data for Name: state_machine_version; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.state_machine_version (machine_no, version, definition, execution_id_path, options, created_at) FROM stdin;
1	1	{"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "task", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "Next": "w"}, "w": {"Type": "Wait", "Seconds": 5, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "task", "name.$": "$$.Execution.Name", "step": "b"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.01949+00
2	1	{"StartAt": "p", "States": {"p": {"Type": "Parallel", "Next": "e", "Branches": [\n\t{"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "parallel", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "Next": "w"}, "w": {"Type": "Wait", "Seconds": 5, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "parallel", "name.$": "$$.Execution.Name", "step": "b"}, "ResultPath": null, "End": true}}}, {"StartAt": "v", "States": {"v": {"Type": "Wait", "Seconds": 5, "Next": "c"}, "c": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "parallel", "name.$": "$$.Execution.Name", "step": "c"}, "ResultPath": null, "End": true}}}]}, "e": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "parallel", "name.$": "$$.Execution.Name", "step": "e"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.037692+00
3	1	{"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "nested", "name.$": "$.name", "step": "a"}, "ResultPath": null, "Next": "w"}, "w": {"Type": "Wait", "Seconds": 5, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "nested", "name.$": "$.name", "step": "b"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.038148+00
4	1	{"StartAt": "s", "States": {"s": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2",\n\t"Parameters": {"StateMachineArn": "inner", "Input": {"name.$": "$$.Execution.Name"}}, "Next": "c"}, "c": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "nested", "name.$": "$$.Execution.Name", "step": "c"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.038525+00
5	1	{"StartAt": "o", "States": {"o": {"Type": "Task", "Resource": "activity:outside", "Next": "a"}, "a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "activity", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.039054+00
6	1	{"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "turn", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "Next": "w"}, "w": {"Type": "Wait", "Seconds": 1, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "turn", "name.$": "$$.Execution.Name", "step": "b"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.039416+00
7	1	{"StartAt": "o", "States": {"o": {"Type": "Task", "Resource": "activity:outside", "MaxConcurrency": 3, "Next": "a"}, "a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "place", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.042906+00
8	1	{"StartAt": "n", "States": {"n": {"Type": "JobNet", "Next": "d", "Jobs": {\n\t"ja": {"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "net", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "Next": "w"}, "w": {"Type": "Wait", "Seconds": 5, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "net", "name.$": "$$.Execution.Name", "step": "b"}, "ResultPath": null, "End": true}}}, "jv": {"Type": "Wait", "Seconds": 5},\n\t"jc": {"StartAt": "c", "States": {"c": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "net", "name.$": "$$.Execution.Name", "step": "c"}, "ResultPath": null, "End": true}}, "After": ["ja", "jv"]}}}, "d": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "net", "name.$": "$$.Execution.Name", "step": "d"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.049669+00
9	1	{"StartAt": "m", "States": {"m": {"Type": "Map", "ItemsPath": "$.items", "Next": "e", "ItemProcessor": {"StartAt": "w", "States": {"w": {"Type": "Wait", "Seconds": 5, "Next": "i"}, "i": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "map", "name.$": "$$.Execution.Name", "step": "i"}, "ResultPath": null, "End": true}}}}, "e": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "map", "name.$": "$$.Execution.Name", "step": "e"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.057586+00
10	1	{"StartAt": "m", "States": {"m": {"Type": "Map", "ItemsPath": "$.items", "Next": "e", "ItemProcessor": {\n\t"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "w", "States": {"w": {"Type": "Wait", "Seconds": 5, "Next": "i"}, "i": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "distributed", "name.$": "$.name", "step": "i"}, "ResultPath": null, "End": true}}}}, "e": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "distributed", "name.$": "$$.Execution.Name", "step": "e"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.05793+00
11	1	{"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"kind": "failed", "name.$": "$$.Execution.Name", "step": "a"}, "ResultPath": null, "Next": "b"}, "b": {"Type": "Task", "Resource": "sql:public.fail_until_repaired", "Parameters": {"kind": "failed", "name.$": "$$.Execution.Name", "step": "b"}, "ResultPath": null, "End": true}}}	\N	{}	2026-11-26 04:57:05.058267+00
\.


--
-- Data for Name: task; Type: TABLE DATA; Schema: _sfflow; Owner: -
--

COPY _sfflow.task (execution_no, branch_no, activity_no, status, generation, state, attempt, receives, scheduled_at, started_at, heartbeat_at, lease_until, timeout_ms, heartbeat_ms, secret, worker, resource, input, submitted) FROM stdin;
14	0	1	0	1	0	0	0	2026-11-26 04:57:05.074829+00	\N	\N	\N	\N	\N	\\xf0bfa09d63ab8aebbcab69d5abce3d15688a902f4f558927	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N
16	0	1	0	1	0	0	0	2026-11-26 04:57:05.074844+00	\N	\N	\N	\N	\N	\\xfddf7b16618b76845443f63028946bd9a5ac3d488c80f0ee	\N	\N	{"items": [{"name": "2"}, {"name": "2"}]}	\N
24	0	1	0	1	0	0	0	2026-11-26 04:57:05.074856+00	\N	\N	\N	\N	\N	\\xd42aae4bbe75823357c5b0e4e5e7bbdf5df7db388dda3dbb	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N
26	0	1	0	1	0	0	0	2026-11-26 04:57:05.074869+00	\N	\N	\N	\N	\N	\\x7df202a852e5cd58d1d60198142d072f8aadaec6ad79afcc	\N	\N	{"items": [{"name": "3"}, {"name": "3"}]}	\N
34	0	1	0	1	0	0	0	2026-11-26 04:57:05.074883+00	\N	\N	\N	\N	\N	\\x9cc84be7551122adddcb884c840e63025cbc7eb197164d90	\N	\N	{"items": [{"name": "4"}, {"name": "4"}]}	\N
44	0	1	0	1	0	0	0	2026-11-26 04:57:05.074888+00	\N	\N	\N	\N	\N	\\x27e64d169490d81b44322a66368decebf2e28af71f3d465a	\N	\N	{"items": [{"name": "5"}, {"name": "5"}]}	\N
4	0	1	1	1	0	0	1	2026-11-26 04:57:05.074565+00	2026-11-26 04:57:05.150616+00	2026-11-26 04:57:05.150616+00	2126-11-27 04:57:05.150616+00	\N	\N	\\x2938bf0d83b9c79822ae2f59af546900ce84ac4141174493	early	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N
6	0	1	1	1	0	0	1	2026-11-26 04:57:05.074808+00	2026-11-26 04:57:05.150732+00	2026-11-26 04:57:05.150732+00	2126-11-27 04:57:05.150732+00	\N	\N	\\x46605d22552d53a72700708ecd427ddead4cbe18363f1565	early	\N	{"items": [{"name": "1"}, {"name": "1"}]}	\N
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
AAAAAAAAAAQAAAAAAAAAAAAAAAEpOL8Ng7nHmCKuL1mvVGkAzoSsQUEXRJM=
AAAAAAAAAAYAAAAAAAAAAAAAAAFGYF0iVS1TpycAcI7NQn3erUy+GDY/FWU=
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


