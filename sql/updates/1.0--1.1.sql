SET LOCAL lock_timeout = '10s';                 -- a long task holds locks on the tables: fail, and try again
SET LOCAL search_path TO pg_catalog, pg_temp;
DROP FUNCTION _sfflow.schema_1();

-- Names that said something else.
ALTER TABLE _sfflow.schedule_wait RENAME TO pending_run;
ALTER INDEX _sfflow.schedule_wait_pkey RENAME TO pending_run_pkey;
ALTER TABLE _sfflow.held RENAME TO parked;
ALTER INDEX _sfflow.held_pkey RENAME TO parked_pkey;
ALTER INDEX _sfflow.held_queue RENAME TO parked_queue;
ALTER INDEX _sfflow.held_object RENAME TO parked_object;
ALTER INDEX _sfflow.limit_slot_holder RENAME TO limit_slot_occupant;
ALTER VIEW _sfflow.held_branch RENAME TO parked_branch;
ALTER TABLE _sfflow.lateness RENAME COLUMN state TO finding;
ALTER VIEW _sfflow.raised_lateness RENAME COLUMN state TO finding;
ALTER TABLE _sfflow.lateness RENAME COLUMN acknowledged_by TO acknowledged_by_name;
ALTER VIEW _sfflow.raised_lateness RENAME COLUMN acknowledged_by TO acknowledged_by_name;
ALTER TABLE _sfflow.run_limit RENAME COLUMN covers TO roles_hash;
ALTER TABLE _sfflow.run_limit RENAME COLUMN owner TO for_owner;
ALTER TABLE _sfflow.hold RENAME COLUMN owner TO for_owner;
ALTER SEQUENCE _sfflow.rule_version RENAME TO rule_revision;
ALTER TABLE _sfflow.rule_owner RENAME COLUMN version TO revision;
ALTER TABLE _sfflow.schedule RENAME COLUMN job_id TO cron_job_id;
ALTER TABLE _sfflow.schedule RENAME COLUMN schedule TO cron;
ALTER VIEW _sfflow.readable_schedule RENAME COLUMN schedule TO cron;
DO $$
DECLARE
	c record;
BEGIN
	-- PostgreSQL 18 has a constraint for each column that may not be null
	FOR c IN
		SELECT r.relname, n.conname, a.attname FROM pg_constraint n
		JOIN pg_class r ON r.oid = n.conrelid
		JOIN pg_attribute a ON a.attrelid = n.conrelid AND a.attnum = n.conkey[1]
		WHERE n.contype = 'n' AND n.conrelid IN ('_sfflow.pending_run'::regclass, '_sfflow.parked'::regclass, '_sfflow.lateness'::regclass,
			'_sfflow.schedule'::regclass, '_sfflow.rule_owner'::regclass)
			AND n.conname <> r.relname || '_' || a.attname || '_not_null'
	LOOP
		EXECUTE format('ALTER TABLE _sfflow.%I RENAME CONSTRAINT %I TO %I', c.relname, c.conname,
			c.relname || '_' || c.attname || '_not_null');
	END LOOP;
END $$;
ALTER FUNCTION _sfflow.job_label(bigint, text, integer[]) RENAME TO job_name;
DROP FUNCTION _sfflow.is_kept_by(integer, bigint, bigint, text, bigint, bigint);
ALTER FUNCTION _sfflow.events(bigint, integer, timestamptz, bytea, jsonb[], smallint[]) RENAME TO history_events;
ALTER FUNCTION _sfflow.event_payload(bigint, integer, bytea, jsonb[], integer) RENAME TO history_event_payload;
ALTER FUNCTION _sfflow.event_page(text, integer, integer, integer, integer[], text, integer, integer)
	RENAME TO history_event_page;
ALTER FUNCTION _sfflow.event_types(text[]) RENAME TO history_event_types;
ALTER VIEW _sfflow.event RENAME TO history_event;
ALTER FUNCTION _sfflow.branch_place(bigint, integer, integer, integer[]) RENAME TO branch_names;
ALTER FUNCTION _sfflow.is_place(integer, integer, integer, integer) RENAME TO has_state;
DROP FUNCTION _sfflow.decide_copy(boolean, text, boolean, boolean, boolean, boolean, boolean);

-- What tasks occupy was called held. Until the view is replaced below it shows what needs no such column.
CREATE OR REPLACE VIEW @extschema@.sf_health WITH (security_barrier) AS
SELECT h.item, h.ok, h.detail COLLATE "C" AS detail FROM _sfflow.health() h;
DROP FUNCTION _sfflow.task_slots();

-- A result that said state where it is a status. Until they are replaced below the views that use it show nothing.
DO $$
DECLARE
	v record;
BEGIN
	FOR v IN
		SELECT a.attrelid::regclass AS name, string_agg(format('NULL::%s%s AS %I', format_type(a.atttypid, a.atttypmod),
			' COLLATE ' || nullif(a.attcollation, 0)::regcollation, a.attname), ', ' ORDER BY a.attnum) AS columns
		FROM pg_attribute a
		WHERE a.attrelid IN ('@extschema@.sf_schedules'::regclass, '_sfflow.open_alert'::regclass) AND a.attnum > 0
		GROUP BY a.attrelid
	LOOP
		EXECUTE format('CREATE OR REPLACE VIEW %s AS SELECT %s WHERE false', v.name, v.columns);
	END LOOP;
END $$;
DROP FUNCTION _sfflow.schedule_status(text);
DROP FUNCTION _sfflow.schedule_next(text, text, timestamptz);
DROP FUNCTION _sfflow.schedule_latest(text, text, timestamptz);

-- A slot of an execution as a whole is no branch's; it had a number that no branch has.
ALTER TABLE _sfflow.limit_slot ALTER COLUMN branch_no DROP NOT NULL;
UPDATE _sfflow.limit_slot SET branch_no = NULL WHERE branch_no = -3;

-- Branches: facts that other columns had in some phases; how the jobs of a net have ended, which was in the column of
-- those that share a row; that a Distributed Map has not read its items, whose number was -1, and what it is at, which
-- its run told; and that a branch is parked, which was what is not due in some phases. The rows are those of all
-- executions that have not succeeded: they are written once, and read once for the constraints.
ALTER TABLE _sfflow.branch
	ADD COLUMN last_inner_event integer NOT NULL DEFAULT 0,
	ADD COLUMN outcome_failed boolean NOT NULL DEFAULT false,
	ADD COLUMN unmet boolean NOT NULL DEFAULT false,
	ADD COLUMN job_ends integer[],
	ADD COLUMN items_unread boolean NOT NULL DEFAULT false;
UPDATE _sfflow.branch b SET
	last_inner_event = CASE phase WHEN @PHASE_DONE@ THEN entered_event ELSE 0 END,
	outcome_failed = failing AND phase = @PHASE_ANSWERED@,
	unmet = failing AND phase IN (@PHASE_ENTER@, @PHASE_ABORTED@) AND entered_at IS NULL,
	-- flags of a join, which had other meanings in other phases, or were left over; one that aborts does no more
	failing = failing AND NOT aborting AND phase IN (@PHASES_WITH_CHILDREN@),
	aborting = aborting AND phase IN (@PHASES_WITH_CHILDREN@),
	uncatchable = false,
	job_ends = CASE WHEN place <> @BRANCH_PLACE_SHARED@ THEN jobs END,
	jobs = CASE place WHEN @BRANCH_PLACE_SHARED@ THEN jobs END,
	items_unread = total = -1 AND map_run_no IS NOT NULL AND phase NOT IN (@PHASE_ENTER@, @PHASE_RUN@),
	total = greatest(total, 0),
	place = CASE WHEN place = @BRANCH_PLACE_SHARED@ THEN place
		WHEN phase NOT IN (@PHASES_BEFORE_GATE@) OR due_at IS NOT NULL THEN @BRANCH_PLACE_NONE@
		WHEN phase = @PHASE_ENTER@ AND place <> @BRANCH_PLACE_NONE@ THEN place
		WHEN EXISTS (SELECT FROM _sfflow.parked w WHERE w.execution_no = b.execution_no AND w.branch_no = b.branch_no)
		THEN @BRANCH_PLACE_PARKED@ ELSE @BRANCH_PLACE_NONE@ END,
	-- one that a redrive has begin anew had the run that could not read its items
	map_run_no = CASE WHEN phase <> @PHASE_ENTER@ THEN map_run_no END,
	phase = CASE
		-- one that had ended and kept the outcome of its task was due never
		WHEN phase = @PHASE_ANSWERED@ AND due_at IS NULL THEN @PHASE_KEPT@
		WHEN phase = @PHASE_ANSWERED@ AND map_run_no IS NOT NULL THEN @PHASE_MAP_ANSWERED@
		WHEN phase = @PHASE_RUN@ AND map_run_no IS NOT NULL THEN @PHASE_MAP_WRITE@ ELSE phase END,
	-- what it has in some phases alone it kept in those that followed; a heartbeat could leave an announced task due never
	due_at = CASE WHEN phase IN (@PHASES_ENDED@) THEN NULL
		WHEN due_at IS NULL AND place = @BRANCH_PLACE_NONE@ AND phase IN (@PHASES_BEFORE_GATE@) AND NOT EXISTS (
			SELECT FROM _sfflow.parked w WHERE w.execution_no = b.execution_no AND w.branch_no = b.branch_no)
		THEN now() ELSE due_at END,
	task_payload = CASE phase WHEN @PHASE_ANNOUNCED@ THEN task_payload END,
	outcome = CASE WHEN phase = @PHASE_ANSWERED@ AND NOT failing THEN outcome END,
	sqlstate = CASE phase WHEN @PHASE_ANSWERED@ THEN sqlstate END
WHERE phase IN (@PHASE_DONE@, @PHASE_ANSWERED@)
	OR (failing OR aborting) AND phase NOT IN (@PHASES_WITH_CHILDREN@) OR failing AND aborting OR uncatchable
	OR jobs IS NOT NULL AND place <> @BRANCH_PLACE_SHARED@ OR total < 0
	OR map_run_no IS NOT NULL AND phase IN (@PHASE_ENTER@, @PHASE_RUN@)
	OR due_at IS NULL AND place = @BRANCH_PLACE_NONE@ AND phase IN (@PHASES_BEFORE_GATE@)
	OR place IN (@BRANCH_PLACE_WAITS@, @BRANCH_PLACE_READY@) AND (phase <> @PHASE_ENTER@ OR due_at IS NOT NULL)
	OR phase IN (@PHASES_ENDED@) AND due_at IS NOT NULL
	OR task_payload IS NOT NULL AND phase <> @PHASE_ANNOUNCED@ OR num_nonnulls(outcome, sqlstate) > 0;
-- Which numbers are of no branches, but of an execution as a whole, is told by the phase.
ALTER TABLE _sfflow.branch
	ADD CONSTRAINT branch_number CHECK (CASE branch_no
		WHEN @BRANCH_TIMEOUT@ THEN phase = @PHASE_TIMEOUT@
		WHEN @BRANCH_STOP@ THEN phase = @PHASE_STOP@
		ELSE branch_no >= @BRANCH_ROOT@ AND phase NOT IN (@PHASES_OF_EXECUTION@) END),
	ADD CONSTRAINT branch_phase CHECK ((due_at IS NULL OR phase NOT IN (@PHASES_ENDED@))
		AND (task_payload IS NULL OR phase = @PHASE_ANNOUNCED@)
		AND (outcome IS NULL AND sqlstate IS NULL AND NOT outcome_failed OR phase IN (@PHASES_WITH_OUTCOME@))
		AND (outcome IS NULL OR NOT outcome_failed)
		AND (NOT failing AND NOT aborting OR phase IN (@PHASES_WITH_CHILDREN@))
		AND NOT (failing AND aborting) AND NOT uncatchable
		AND (last_inner_event = 0 OR phase = @PHASE_DONE@)
		AND phase <= @PHASE_LAST@),
	ADD CONSTRAINT branch_place CHECK (CASE place
		WHEN @BRANCH_PLACE_NONE@ THEN due_at IS NOT NULL OR phase IN (@PHASES_ENDED@, @PHASES_WAITING@)
		WHEN @BRANCH_PLACE_PARKED@ THEN due_at IS NULL AND phase IN (@PHASES_BEFORE_GATE@)
		WHEN @BRANCH_PLACE_SHARED@ THEN phase = @PHASE_DONE@
		ELSE place IN (@BRANCH_PLACE_WAITS@, @BRANCH_PLACE_READY@) AND due_at IS NULL AND phase = @PHASE_ENTER@ END
		AND (place = @BRANCH_PLACE_SHARED@) = (jobs IS NOT NULL)),
	ADD CONSTRAINT branch_map_run CHECK (CASE
		WHEN map_run_no IS NULL THEN NOT items_unread AND phase NOT IN (@PHASES_OF_MAP@)
		WHEN items_unread THEN phase IN (@PHASES_READING@)
		ELSE phase IN (@PHASES_WITH_ITEMS@) END);
-- What has kept an outcome has ended, so it has no slots of limits.
DELETE FROM _sfflow.limit_slot s USING _sfflow.branch b
WHERE b.execution_no = s.execution_no AND b.branch_no = s.branch_no AND b.phase = @PHASE_KEPT@;

-- Whether there was a queue told how a branch is parked; and what has a slot was first in its queue by a time of a
-- hundred years before.
ALTER TABLE _sfflow.parked RENAME COLUMN rank TO as_if_since;
ALTER TABLE _sfflow.parked ADD COLUMN kind smallint NOT NULL DEFAULT @PARKED_FOR_OBJECT@;
UPDATE _sfflow.parked SET kind = CASE WHEN queue IS NULL THEN @PARKED_FOR_OBJECT@
		WHEN as_if_since < now() - interval '50 years' THEN @PARKED_AHEAD@ ELSE @PARKED_QUEUED@ END,
	as_if_since = CASE WHEN queue IS NOT NULL THEN as_if_since
		+ CASE WHEN as_if_since < now() - interval '50 years' THEN interval '876000 hours' ELSE interval '0' END END,
	since = CASE WHEN queue IS NOT NULL THEN coalesce(since, now()) END;
ALTER TABLE _sfflow.parked ALTER COLUMN object_no DROP NOT NULL,
	ADD CONSTRAINT parked_kind CHECK (CASE kind
		WHEN @PARKED_FOR_OBJECT@ THEN object_no IS NOT NULL AND num_nonnulls(queue, as_if_since, since) = 0
		WHEN @PARKED_IN_LINE@ THEN num_nonnulls(object_no, queue, as_if_since, since) = 0
		ELSE kind IN (@PARKED_AHEAD@, @PARKED_QUEUED@) AND num_nulls(object_no, queue, as_if_since, since) = 0 END);
DROP INDEX _sfflow.parked_queue;
CREATE INDEX parked_queue ON _sfflow.parked (object_no, queue, kind, as_if_since, execution_no, branch_no)
	WHERE queue IS NOT NULL;

-- Which columns were null told what a run that waits is of.
ALTER TABLE _sfflow.pending_run ADD COLUMN kind smallint NOT NULL DEFAULT @PENDING_RUN_QUEUED@;
UPDATE _sfflow.pending_run SET kind = CASE WHEN execution_id IS NULL THEN @PENDING_RUN_BACKFILL@
	ELSE @PENDING_RUN_RUNNING@ END
WHERE max_running IS NOT NULL;
ALTER TABLE _sfflow.pending_run ADD CONSTRAINT pending_run_kind CHECK (CASE kind
	WHEN @PENDING_RUN_QUEUED@ THEN max_running IS NULL AND execution_id IS NULL
	WHEN @PENDING_RUN_BACKFILL@ THEN max_running IS NOT NULL AND execution_id IS NULL
	ELSE kind = @PENDING_RUN_RUNNING@ AND max_running IS NOT NULL AND execution_id IS NOT NULL END);

-- ... and what a deadline is of. A look that was over left all but the step of where it had gone on.
ALTER TABLE _sfflow.deadline ADD COLUMN kind smallint NOT NULL DEFAULT @DEADLINE_KIND_MACHINE@;
UPDATE _sfflow.deadline SET kind = CASE WHEN schedule IS NOT NULL THEN @DEADLINE_KIND_SCHEDULE@
		WHEN job IS NOT NULL THEN @DEADLINE_KIND_JOB@ ELSE @DEADLINE_KIND_MACHINE@ END,
	walk_now = CASE WHEN walk_step IS NOT NULL THEN walk_now END,
	walk_at = CASE WHEN walk_step IS NOT NULL THEN walk_at END,
	walk_late_no = CASE WHEN walk_step IS NOT NULL THEN walk_late_no END,
	walk_found = CASE WHEN walk_step IS NOT NULL THEN walk_found END;
ALTER TABLE _sfflow.deadline
	ADD CONSTRAINT deadline_kind CHECK (CASE kind
		WHEN @DEADLINE_KIND_SCHEDULE@ THEN schedule IS NOT NULL AND machine_no IS NULL AND job IS NULL
		WHEN @DEADLINE_KIND_MACHINE@ THEN schedule IS NULL AND machine_no IS NOT NULL AND job IS NULL
		ELSE kind = @DEADLINE_KIND_JOB@ AND schedule IS NULL AND machine_no IS NOT NULL AND job IS NOT NULL END),
	ADD CONSTRAINT deadline_walk CHECK (CASE WHEN walk_step IS NULL
		THEN num_nonnulls(walk_now, walk_at, walk_late_no, walk_found) = 0
		ELSE num_nulls(walk_now, walk_at, walk_found) = 0 END),
	ADD CONSTRAINT deadline_minutes CHECK (start_minute IS NOT NULL OR end_minute IS NOT NULL);

-- A machine that was dropped while a task ran could leave the slot of a limit that went with it.
DELETE FROM _sfflow.limit_slot s WHERE NOT EXISTS (SELECT FROM _sfflow.run_limit l WHERE l.limit_no = s.limit_no);

-- A limit without a rate had a time of one, and the time when its count began only if that was later than set_at. That
-- it is of no state, or has no key, was an empty text.
DROP INDEX _sfflow.run_limit_target;
ALTER TABLE _sfflow.run_limit ALTER COLUMN per DROP NOT NULL, ALTER COLUMN state DROP NOT NULL,
	ALTER COLUMN key DROP NOT NULL;
UPDATE _sfflow.run_limit SET per = CASE WHEN rate IS NOT NULL THEN per END, state = nullif(state, ''),
	key = nullif(key, ''),
	horizon = CASE WHEN NOT counted THEN horizon END, uncounted_at = greatest(set_at, uncounted_at);
ALTER TABLE _sfflow.run_limit
	ADD CONSTRAINT run_limit_per CHECK ((rate IS NULL) = (per IS NULL)),
	ADD CONSTRAINT run_limit_horizon CHECK (horizon IS NULL OR NOT counted),
	ADD CONSTRAINT run_limit_kind CHECK (kind IN (@OBJECTS_LIMITED_WORDS@)
		AND (kind = 'machine') = (machine_no IS NOT NULL)),
	ADD CONSTRAINT run_limit_state CHECK (state IS NULL OR kind = 'machine' AND state <> ''),
	ADD CONSTRAINT run_limit_key CHECK (key <> ''),
	ADD CONSTRAINT run_limit_owner CHECK (for_owner IS NULL OR kind = 'resource'),
	ADD CONSTRAINT run_limit_limits CHECK (max_running IS NOT NULL OR rate IS NOT NULL);
CREATE UNIQUE INDEX run_limit_target ON _sfflow.run_limit (kind, name, state, key, in_definition, for_owner)
	NULLS NOT DISTINCT;

-- A percentage of an alias could be kept as it was written, such as 100.0, which sf_aliases did not read.
UPDATE _sfflow.machine_alias a SET routes = (
	SELECT jsonb_object_agg(r.key, r.value::numeric::integer) FROM jsonb_each_text(a.routes) r)
WHERE EXISTS (SELECT FROM jsonb_each_text(a.routes) r WHERE r.value ~ '[^0-9]');

-- What keeps branches parked had the name of a process.
ALTER VIEW _sfflow.keeper RENAME TO parking_object;

-- A right that public has lost had its letter in lower case.
ALTER TABLE _sfflow.privilege ADD COLUMN is_revoked boolean NOT NULL DEFAULT false;
UPDATE _sfflow.privilege SET privilege = upper(privilege::text)::"char", is_revoked = true
WHERE privilege::text = lower(privilege::text);
-- One that was given while its object was being dropped stayed, for the next object of that name.
DELETE FROM _sfflow.privilege p WHERE p.object_kind = @OBJECT_STATE_MACHINE@
	AND NOT EXISTS (SELECT FROM _sfflow.state_machine m WHERE m.name = p.object_name);
DELETE FROM _sfflow.privilege p WHERE p.object_kind = @OBJECT_ACTIVITY@
	AND NOT EXISTS (SELECT FROM _sfflow.activity a WHERE a.name = p.object_name);
ALTER TABLE _sfflow.privilege
	ADD CONSTRAINT privilege_letters CHECK (object_kind IN (@OBJECT_LETTERS@) AND privilege IN (@PRIVILEGE_LETTERS@)),
	ADD CONSTRAINT privilege_is_revoked CHECK (role::oid = 0 OR NOT is_revoked);

-- What was done with a delivery was told by the number of its attempt, 0 or -1, and by whether it was due. One that is
-- claimed and has failed before stands for one that has failed: they become due alike.
ALTER TABLE _sfflow.rule_delivery ADD COLUMN status smallint NOT NULL DEFAULT @DELIVERY_NEW@,
	ADD COLUMN unmatched boolean NOT NULL DEFAULT false;
UPDATE _sfflow.rule_delivery SET status = CASE WHEN due_at IS NULL THEN @DELIVERY_DEAD@
	WHEN attempt = -1 THEN @DELIVERY_CLAIMED_WITH_OTHERS@ WHEN failed_at IS NULL THEN @DELIVERY_CLAIMED@
	ELSE @DELIVERY_RETRY@ END, attempt = greatest(attempt, 0)
WHERE attempt <> 0 OR due_at IS NULL;
ALTER TABLE _sfflow.rule_delivery
	ADD CONSTRAINT rule_delivery_status CHECK (CASE
		WHEN status IN (@DELIVERY_NEW@, @DELIVERY_CLAIMED_WITH_OTHERS@) THEN attempt = 0 AND due_at IS NOT NULL
		WHEN status = @DELIVERY_CLAIMED@ THEN attempt > 0 AND due_at IS NOT NULL
		WHEN status = @DELIVERY_RETRY@ THEN attempt > 0 AND due_at IS NOT NULL AND failed_at IS NOT NULL
		ELSE status = @DELIVERY_DEAD@ AND due_at IS NULL AND failed_at IS NOT NULL END),
	ADD CONSTRAINT rule_delivery_failed CHECK (failed_at IS NOT NULL OR num_nonnulls(error, cause) = 0);
DROP INDEX _sfflow.rule_delivery_new, _sfflow.rule_delivery_again;
CREATE INDEX rule_delivery_new ON _sfflow.rule_delivery (owner, due_at) WHERE status = @DELIVERY_NEW@;
CREATE INDEX rule_delivery_again ON _sfflow.rule_delivery (due_at) WHERE status IN (@DELIVERIES_AGAIN@);

-- The kind of an alert told what its object is, which its target tells.
ALTER TABLE _sfflow.told_alert ADD COLUMN target text;
UPDATE _sfflow.told_alert SET target = CASE kind WHEN 'no_poller' THEN 'activity:' || object
	WHEN 'missed_run' THEN 'schedule:' || object ELSE object END
WHERE execution_no IS NULL;

-- Two tables had the names of statuses, where all others have their numbers. Until the view is replaced below it shows
-- what has succeeded alone, for it may not read a column that gets another type.
CREATE OR REPLACE VIEW @extschema@.sf_executions WITH (security_barrier) AS
SELECT l.execution_id, l.state_machine, l.version, substr(l.execution_id, length(l.state_machine) + 2) AS name,
	'SUCCEEDED'::text AS status, l.input, l.output, NULL::text AS error, l.cause, l.requested_at, l.started_at,
	l.stopped_at, l.redrive_count, l.last_redriven_at, l.start_requests, l.parent_execution_id, NULL::text AS waiting_on
FROM _sfflow.listed_execution l WHERE l.status = @STATUS_SUCCEEDED@;
ALTER TABLE _sfflow.open_execution ALTER COLUMN status TYPE smallint
	USING array_position(ARRAY[@STATUS_NAMES@], status) - 1,
	ADD CONSTRAINT open_execution_status CHECK (status IN (@STATUSES_OPEN@));
ALTER TABLE _sfflow.purge_position ALTER COLUMN status TYPE smallint
	USING array_position(ARRAY[@STATUS_NAMES@], status) - 1,
	ADD CONSTRAINT purge_position_status CHECK (status IN (@STATUSES_ENDED@));

-- What a rule names that it starts.
ALTER TABLE _sfflow.rule ADD COLUMN execution_name text;
ALTER TABLE _sfflow.rule ADD COLUMN if_exists text COLLATE "C";

-- Columns that have values together, or never. What was not altered above is locked before it is put in order.
LOCK TABLE _sfflow.instance, _sfflow.metric_fold, _sfflow.schedule_run IN ACCESS EXCLUSIVE MODE;
UPDATE _sfflow.lateness SET expected_at = NULL WHERE finding <> 'will_be_late' AND expected_at IS NOT NULL;
UPDATE _sfflow.instance SET stopped_because = NULL WHERE enabled AND stopped_because IS NOT NULL;
UPDATE _sfflow.metric_fold SET database_oid = NULL, from_xid = NULL, open_xids = NULL WHERE system_identifier IS NULL;
UPDATE _sfflow.schedule_run SET message = 'missing error text' WHERE outcome = 'failed' AND message IS NULL;
ALTER TABLE _sfflow.acknowledgement
	ADD CONSTRAINT acknowledgement_kind CHECK (kind IN (@EXECUTION_ALERT_WORDS@)),
	ADD CONSTRAINT acknowledgement_slow_since
		CHECK ((kind = @EXECUTION_ALERT_SLOW_TASK@) = (slow_since IS NOT NULL));
-- A purge of 1.0 left those that were not committed yet.
DELETE FROM _sfflow.acknowledgement k
WHERE NOT EXISTS (SELECT FROM _sfflow.execution e WHERE e.execution_no = k.execution_no);
ALTER TABLE _sfflow.audit ADD CONSTRAINT audit_object_kind CHECK (object_kind IN (@OBJECT_LETTERS@));
ALTER TABLE _sfflow.aws_resource
	ADD CONSTRAINT aws_resource_kind CHECK (object_kind IN (@OBJECTS_TAGGED@)),
	ADD CONSTRAINT aws_resource_encryption CHECK (encryption IS NULL OR object_kind = @OBJECT_ACTIVITY@);
ALTER TABLE _sfflow.version_publication
	ADD CONSTRAINT version_publication_number CHECK (number IS NOT NULL OR NOT published);
ALTER TABLE _sfflow.instance ADD CONSTRAINT instance_stopped CHECK (stopped_because IS NULL OR NOT enabled);
ALTER TABLE _sfflow.task ADD CONSTRAINT task_status CHECK (CASE
	WHEN status = @TASK_STATUS_QUEUED@ THEN activity_no IS NOT NULL
		AND num_nonnulls(started_at, heartbeat_at, lease_until) = 0
	WHEN status IN (@TASK_STATUS_TAKEN@, @TASK_STATUS_DEAD@) THEN activity_no IS NOT NULL AND started_at IS NOT NULL
	WHEN status = @TASK_STATUS_TOKEN@ THEN activity_no IS NULL AND lease_until IS NULL
	ELSE status = @TASK_STATUS_ANSWERED@ END);
ALTER TABLE _sfflow.lateness
	ADD CONSTRAINT lateness_due_by CHECK (due_by IN (@DUE_BY_WORDS@)),
	ADD CONSTRAINT lateness_finding CHECK (CASE finding
		WHEN @FINDING_LATE@ THEN execution_no IS NOT NULL AND expected_at IS NULL
		WHEN @FINDING_WILL_BE_LATE@ THEN expected_at IS NOT NULL
		ELSE finding = @FINDING_NEVER_STARTED@ AND execution_no IS NULL AND expected_at IS NULL END),
	ADD CONSTRAINT lateness_acknowledged CHECK (CASE WHEN acknowledged_at IS NULL
		THEN num_nonnulls(acknowledged_by_name, comment) = 0 ELSE acknowledged_by_name IS NOT NULL END);
-- That a hold is of no state was an empty text.
DROP INDEX _sfflow.hold_target;
ALTER TABLE _sfflow.hold ALTER COLUMN state DROP NOT NULL;
UPDATE _sfflow.hold SET state = NULL WHERE state = '';
ALTER TABLE _sfflow.hold
	ADD CONSTRAINT hold_kind CHECK (CASE kind
		WHEN 'machine' THEN machine_no IS NOT NULL AND execution_no IS NULL
		WHEN 'execution' THEN machine_no IS NOT NULL AND execution_no IS NOT NULL
		ELSE kind IN (@OBJECTS_NAMED_WORDS@) AND machine_no IS NULL AND execution_no IS NULL END),
	ADD CONSTRAINT hold_state CHECK (state IS NULL OR kind IN ('machine', 'execution') AND state <> ''),
	ADD CONSTRAINT hold_owner CHECK (for_owner IS NULL OR kind = 'resource');
CREATE UNIQUE INDEX hold_target ON _sfflow.hold (kind, name, state, for_owner) NULLS NOT DISTINCT;
-- Tags, holds and limits that were given while their objects were being dropped stayed, as rights did. One for which something is parked, or that has slots, stays: sf_check() tells of it.
DELETE FROM _sfflow.aws_resource r WHERE r.object_kind = @OBJECT_STATE_MACHINE@
	AND NOT EXISTS (SELECT FROM _sfflow.state_machine m WHERE m.name = r.object_name);
DELETE FROM _sfflow.aws_resource r WHERE r.object_kind = @OBJECT_ACTIVITY@
	AND NOT EXISTS (SELECT FROM _sfflow.activity a WHERE a.name = r.object_name);
DELETE FROM _sfflow.hold h
WHERE CASE h.kind WHEN 'activity' THEN NOT EXISTS (SELECT FROM _sfflow.activity a WHERE a.name = h.name)
	WHEN 'schedule' THEN NOT EXISTS (SELECT FROM _sfflow.schedule s WHERE s.name = h.name)
	WHEN 'resource' THEN false
	ELSE NOT EXISTS (SELECT FROM _sfflow.state_machine m WHERE m.machine_no = h.machine_no) END
	AND NOT EXISTS (SELECT FROM _sfflow.parked w WHERE w.feature = 'hold' AND w.object_no = h.hold_no);
DELETE FROM _sfflow.run_limit l
WHERE CASE l.kind WHEN 'activity' THEN NOT EXISTS (SELECT FROM _sfflow.activity a WHERE a.name = l.name)
	WHEN 'resource' THEN false
	ELSE NOT EXISTS (SELECT FROM _sfflow.state_machine m WHERE m.machine_no = l.machine_no) END
	AND NOT EXISTS (SELECT FROM _sfflow.parked w WHERE w.feature = 'limit' AND w.object_no = l.limit_no)
	AND NOT EXISTS (SELECT FROM _sfflow.limit_slot s WHERE s.limit_no = l.limit_no);
ALTER TABLE _sfflow.metric_fold ADD CONSTRAINT metric_fold_horizon
	CHECK (num_nulls(system_identifier, database_oid, from_xid, open_xids) IN (0, 4));
-- That a run has no limit was a 0, and a run had the negative number of items for which it failed.
ALTER TABLE _sfflow.map_run ALTER COLUMN max_items DROP NOT NULL, ALTER COLUMN max_items_per_batch DROP NOT NULL,
	ALTER COLUMN max_bytes_per_batch DROP NOT NULL, ALTER COLUMN max_concurrency DROP NOT NULL;
UPDATE _sfflow.map_run SET max_items = CASE WHEN max_items > 0 THEN max_items END,
	max_items_per_batch = CASE WHEN max_items_per_batch > 0 THEN max_items_per_batch END,
	max_bytes_per_batch = CASE WHEN max_bytes_per_batch > 0 THEN max_bytes_per_batch END,
	max_concurrency = CASE WHEN max_concurrency > 0 THEN max_concurrency END;
ALTER TABLE _sfflow.map_run
	ADD CONSTRAINT map_run_status CHECK (CASE WHEN stopped_at IS NULL
		THEN status = @STATUS_RUNNING@ ELSE status IN (@STATUSES_ENDED@) END),
	ADD CONSTRAINT map_run_limits CHECK (max_items > 0 AND max_items_per_batch > 0 AND max_bytes_per_batch > 0
		AND max_concurrency > 0);
ALTER TABLE _sfflow.mark ADD CONSTRAINT mark_outcome
	CHECK (outcome IN (@MARK_OUTCOME_WORDS@) AND (output IS NULL OR outcome = @MARK_OUTCOME_SUCCESS@));
ALTER TABLE _sfflow.rule ADD CONSTRAINT rule_if_exists
	CHECK (if_exists IN (@IF_EXISTS_WORDS@) AND (execution_name IS NULL) = (if_exists IS NULL));
ALTER TABLE _sfflow.start_request ADD CONSTRAINT start_request_outcome
	CHECK (outcome IN (@START_OUTCOME_WORDS@) AND outcome <> @START_OUTCOME_STARTED@);
ALTER TABLE _sfflow.told_alert ADD CONSTRAINT told_alert_target CHECK ((target IS NULL) = (execution_no IS NOT NULL));
ALTER TABLE _sfflow.schedule ADD CONSTRAINT schedule_words CHECK (on_closed IN (@ON_CLOSED_WORDS@)
	AND missed IN (@MISSED_WORDS@) AND overlap IN (@OVERLAP_WORDS@));
ALTER TABLE _sfflow.schedule_run ADD CONSTRAINT schedule_run_outcome CHECK (outcome IN (@RUN_OUTCOME_WORDS@)
	AND (outcome = @RUN_OUTCOME_SUCCEEDED@) = (execution_id IS NOT NULL)
	AND (outcome = @RUN_OUTCOME_FAILED@) = (message IS NOT NULL));

--@with event
-- Events by key.
CREATE SEQUENCE _sfflow.event_type_no AS integer;

CREATE TABLE _sfflow.event_type (
	event_type_no integer NOT NULL DEFAULT nextval('_sfflow.event_type_no') PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	owner regrole NOT NULL,
	ttl interval NOT NULL,
	remember_ids interval NOT NULL,
	deliver text COLLATE "C" NOT NULL,
	created_at timestamptz NOT NULL,
	alert_unreceived boolean NOT NULL,
	CONSTRAINT event_type_deliver CHECK (deliver IN (@RECEIVERS_WORDS@))
);
CREATE INDEX event_type_owner ON _sfflow.event_type (owner);

CREATE SEQUENCE _sfflow.event_no;

CREATE TABLE _sfflow.emission (
	event_no bigint NOT NULL PRIMARY KEY,
	event_type_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	id text COLLATE "C",
	deliver text COLLATE "C" NOT NULL,
	receipt_noted boolean NOT NULL DEFAULT false,
	horizon xid8 NOT NULL,
	ttl interval NOT NULL,
	expires_at timestamptz,
	forget_at timestamptz,
	depth integer NOT NULL,
	status smallint NOT NULL,
	alert smallint NOT NULL DEFAULT @EVENT_ALERT_NONE@,
	emitted_at timestamptz NOT NULL,
	payload jsonb
) WITH (fillfactor = 85);
CREATE INDEX emission_live ON _sfflow.emission (event_type_no, key, event_no)
	WHERE status IN (@EMISSIONS_LIVE@);
CREATE INDEX emission_fresh ON _sfflow.emission (event_type_no, key, event_no) WHERE status IN (@EMISSIONS_FRESH@);
CREATE UNIQUE INDEX emission_id ON _sfflow.emission (event_type_no, key, id) WHERE id IS NOT NULL;
CREATE INDEX emission_expires ON _sfflow.emission (expires_at) WHERE status = @EMISSION_SWEPT@;
CREATE INDEX emission_forget ON _sfflow.emission (forget_at) WHERE status IN (@EMISSIONS_ENDED@);
CREATE INDEX emission_unreceived ON _sfflow.emission (event_type_no) WHERE alert = @EVENT_ALERT_OPEN@;

CREATE TABLE _sfflow.awaited_event (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	event_type_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	generation integer NOT NULL,
	ripe boolean NOT NULL,
	since timestamptz NOT NULL,
	max_events integer NOT NULL,
	gives_array boolean NOT NULL,
	filter jsonb,
	PRIMARY KEY (execution_no, branch_no, event_type_no)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX awaited_event_key ON _sfflow.awaited_event (event_type_no, key, since, execution_no, branch_no);
CREATE INDEX awaited_event_ripe ON _sfflow.awaited_event (event_type_no, key, since, execution_no, branch_no)
	WHERE ripe;

CREATE TABLE _sfflow.event_receipt (
	execution_no bigint NOT NULL,
	event_no bigint NOT NULL,
	depth integer NOT NULL DEFAULT 0,
	by_start boolean NOT NULL DEFAULT false,
	PRIMARY KEY (execution_no, event_no)
);
CREATE INDEX event_receipt_start ON _sfflow.event_receipt (event_no) WHERE by_start;

CREATE TABLE _sfflow.event_floor (
	execution_no bigint NOT NULL,
	event_type_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	floor bigint NOT NULL,
	depth integer NOT NULL,
	PRIMARY KEY (execution_no, event_type_no, key)
);

CREATE TABLE _sfflow.event_floor_of_node (
	execution_no bigint NOT NULL,
	event_type_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	node integer NOT NULL,
	floor bigint NOT NULL,
	depth integer NOT NULL,
	PRIMARY KEY (execution_no, event_type_no, key, node)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_type_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_type', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.emission', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.awaited_event', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_receipt', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_floor', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_floor_of_node', '');
--@end

--@with human
-- Tasks of people.
CREATE SEQUENCE _sfflow.worklist_no AS integer;

CREATE TABLE _sfflow.worklist (
	worklist_no integer NOT NULL DEFAULT nextval('_sfflow.worklist_no') PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	owner regrole NOT NULL,
	description text,
	form jsonb,
	created_at timestamptz NOT NULL
);
CREATE INDEX worklist_owner ON _sfflow.worklist (owner);

CREATE SEQUENCE _sfflow.human_task_no;

CREATE TABLE _sfflow.human_task (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	task_no bigint NOT NULL UNIQUE,
	generation integer NOT NULL,
	worklist_no integer NOT NULL,
	priority integer NOT NULL,
	created_at timestamptz NOT NULL,
	due_at timestamptz,
	sweep_at timestamptz,
	due_told boolean NOT NULL,
	roles_told_at timestamptz NOT NULL,
	claimed_at timestamptz,
	claimed_by text,
	state text NOT NULL,
	title text NOT NULL,
	not_starter boolean NOT NULL,
	not_states text[] NOT NULL,
	data jsonb,
	form jsonb,
	for_all boolean NOT NULL,
	PRIMARY KEY (execution_no, branch_no),
	CONSTRAINT human_task_claimed CHECK ((claimed_at IS NULL) = (claimed_by IS NULL)),
	CONSTRAINT human_task_due_told CHECK (due_at IS NOT NULL OR NOT due_told)
) WITH (fillfactor = 85);
CREATE INDEX human_task_order ON _sfflow.human_task (worklist_no, for_all, (-priority), (coalesce(due_at, 'infinity')),
	task_no);
CREATE INDEX human_task_claimed ON _sfflow.human_task (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX human_task_sweep ON _sfflow.human_task (sweep_at) WHERE sweep_at IS NOT NULL;

CREATE TABLE _sfflow.human_task_role (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	role regrole NOT NULL,
	from_at timestamptz,
	PRIMARY KEY (execution_no, branch_no, role)
);
CREATE INDEX human_task_role_role ON _sfflow.human_task_role (role);

CREATE TABLE _sfflow.human_task_event (
	execution_no bigint NOT NULL,
	task_no bigint NOT NULL,
	at timestamptz NOT NULL,
	action text COLLATE "C" NOT NULL,
	worklist text COLLATE "C" NOT NULL,
	state text NOT NULL,
	state_now text NOT NULL,
	role text,
	login text,
	is_relayed boolean NOT NULL,
	actor text,
	comment text,
	details jsonb,
	PRIMARY KEY (execution_no, task_no, at, action),
	CONSTRAINT human_task_event_action CHECK (action IN (@HUMAN_ACTION_NAMES@))
);
CREATE INDEX human_task_event_worklist ON _sfflow.human_task_event (worklist, at);

CREATE TABLE _sfflow.human_starter (
	execution_no bigint NOT NULL PRIMARY KEY,
	login regrole NOT NULL,
	is_relayed boolean NOT NULL
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.worklist_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.worklist', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.human_task_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.human_task', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.human_task_role', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.human_task_event', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.human_starter', '');
--@end

-- Starts in the future.
CREATE TABLE _sfflow.delayed_start (
	execution_no bigint NOT NULL PRIMARY KEY,
	start_at timestamptz NOT NULL
);
CREATE INDEX delayed_start_time ON _sfflow.delayed_start (start_at);
SELECT pg_catalog.pg_extension_config_dump('_sfflow.delayed_start', '');

--@with archive
-- Archives.
CREATE SEQUENCE _sfflow.archive_batch_no;
CREATE TABLE _sfflow.archive_batch (
	batch_no bigint NOT NULL PRIMARY KEY,
	activity_no integer NOT NULL,
	name text COLLATE "C" NOT NULL,
	executions integer NOT NULL,
	taken_at timestamptz NOT NULL,
	worker text,
	confirmed_at timestamptz,
	file text,
	bytes bigint,
	sha256 text COLLATE "C",
	CONSTRAINT archive_batch_confirmed CHECK (num_nulls(confirmed_at, file, bytes, sha256) IN (0, 4))
);
CREATE INDEX archive_batch_open ON _sfflow.archive_batch (activity_no, batch_no) WHERE confirmed_at IS NULL;
CREATE TABLE _sfflow.archive_member (
	execution_no bigint NOT NULL PRIMARY KEY,
	batch_no bigint NOT NULL
);
CREATE INDEX archive_member_batch ON _sfflow.archive_member (batch_no, execution_no);
CREATE TABLE _sfflow.archive_progress (
	activity_no integer NOT NULL PRIMARY KEY,
	caught_up_at timestamptz NOT NULL
) WITH (fillfactor = 50);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.archive_batch_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.archive_batch', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.archive_member', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.archive_progress', '');
--@end

-- Labels of executions.
ALTER TABLE _sfflow.execution ADD COLUMN labels jsonb;

--@with start_key
-- A row per key of a machine's starts, which a start locks; deleted when nothing needs it (src/feature/start_key).
CREATE TABLE _sfflow.start_key (
	machine_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	last_entered_at timestamptz NOT NULL,
	PRIMARY KEY (machine_no, key)
);

-- The executions that were started with a key: in the order of entered_at, a line.
CREATE TABLE _sfflow.keyed_start (
	execution_no bigint NOT NULL PRIMARY KEY,
	machine_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	entered_at timestamptz NOT NULL,
	place smallint NOT NULL,			-- SfLinePlace
	CONSTRAINT keyed_start_place CHECK (place IN (@LINE_PLACE_NUMBERS@))
);

CREATE INDEX keyed_start_waits ON _sfflow.keyed_start (machine_no, key, entered_at) WHERE place IN (@LINE_PLACES_WAITING@);
CREATE INDEX keyed_start_begun ON _sfflow.keyed_start (machine_no, key, place) WHERE place IN (@LINE_PLACES_BEGUN@);
CREATE INDEX keyed_start_ended ON _sfflow.keyed_start (execution_no) WHERE place = @LINE_PLACE_ENDED@;
CREATE INDEX keyed_start_machine ON _sfflow.keyed_start (machine_no);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.start_key', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.keyed_start', '');
--@end

--@with label
CREATE TABLE _sfflow.label (
	requested_at timestamptz NOT NULL,
	execution_no bigint NOT NULL,
	machine_no integer NOT NULL,
	name text COLLATE "C" NOT NULL,
	value text COLLATE "C" NOT NULL,
	PRIMARY KEY (name, value, machine_no, requested_at, execution_no)
);
CREATE INDEX label_newest ON _sfflow.label (name, value, requested_at, machine_no, execution_no)
	WHERE execution_no > 0;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.label', '');
--@end

-- Traces.
ALTER TABLE _sfflow.execution ADD COLUMN trace text COLLATE "C";

--@with trace
CREATE SEQUENCE _sfflow.trace_export_no;

CREATE TABLE _sfflow.trace_export (
	export_no bigint NOT NULL PRIMARY KEY,
	execution_no bigint NOT NULL,
	version integer NOT NULL,
	redrive_count integer NOT NULL,
	last_event_id integer NOT NULL,
	leg_status smallint NOT NULL,
	started_at timestamptz,
	redriven_at timestamptz,
	ended_at timestamptz NOT NULL,
	trace text COLLATE "C" NOT NULL,
	error text,
	receives integer NOT NULL,
	lease_until timestamptz,
	rejected_at timestamptz,
	reason text,
	status smallint NOT NULL,
	CONSTRAINT trace_export_status CHECK (CASE status
		WHEN @TRACE_EXPORT_DUE@ THEN lease_until IS NULL AND rejected_at IS NULL
		WHEN @TRACE_EXPORT_TAKEN@ THEN lease_until IS NOT NULL AND rejected_at IS NULL
		ELSE status = @TRACE_EXPORT_REJECTED@ AND lease_until IS NULL AND rejected_at IS NOT NULL END),
	CONSTRAINT trace_export_leg_status CHECK (leg_status IN (@STATUSES_ENDED@)),
	CONSTRAINT trace_export_reason CHECK (reason IS NULL OR rejected_at IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX trace_export_waiting ON _sfflow.trace_export (export_no)
	WHERE status IN (@TRACE_EXPORT_DUE@, @TRACE_EXPORT_TAKEN@);
CREATE INDEX trace_export_execution ON _sfflow.trace_export (execution_no);
CREATE INDEX trace_export_rejected ON _sfflow.trace_export (rejected_at) WHERE status = @TRACE_EXPORT_REJECTED@;
SELECT pg_catalog.pg_extension_config_dump('_sfflow.trace_export_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.trace_export', '');
--@end

-- Documents of definitions.
CREATE TABLE _sfflow.applied_definitions (
	role text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	revision bigint NOT NULL,
	digest text NOT NULL,
	applied_at timestamptz NOT NULL,
	PRIMARY KEY (role, name)
);
SELECT pg_catalog.pg_extension_config_dump('_sfflow.applied_definitions', '');

--@with home
CREATE TABLE _sfflow.execution_key (
	execution_no bigint NOT NULL PRIMARY KEY,
	key text COLLATE "C" NOT NULL
);
CREATE INDEX execution_key_key ON _sfflow.execution_key (key, execution_no);
SELECT pg_catalog.pg_extension_config_dump('_sfflow.execution_key', '');
--@end

--@with move
-- Executions that have left this node and are not known to have arrived, with their rows as text.
CREATE TABLE _sfflow.key_departure (
	departure uuid NOT NULL PRIMARY KEY,
	key text COLLATE "C" NOT NULL,
	to_node integer NOT NULL,
	executions integer NOT NULL,
	document jsonb NOT NULL,
	departed_at timestamptz NOT NULL
);
CREATE TABLE _sfflow.departing_row (
	departure uuid NOT NULL,
	relation text COLLATE "C" NOT NULL,
	row_no integer NOT NULL,
	body text NOT NULL,
	PRIMARY KEY (departure, relation, row_no)
);

-- Departures that have arrived here, until the other node has forgotten them.
CREATE TABLE _sfflow.key_arrival (
	departure uuid NOT NULL PRIMARY KEY,
	key text COLLATE "C" NOT NULL,
	from_node integer NOT NULL,
	executions integer NOT NULL,
	arrived_at timestamptz NOT NULL
);

-- Where executions have gone that were here.
CREATE TABLE _sfflow.moved_execution (
	execution_no bigint NOT NULL PRIMARY KEY,
	node integer NOT NULL,
	moved_at timestamptz NOT NULL
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.key_departure', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.departing_row', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.key_arrival', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.moved_execution', '');
--@end

-- Numbers of the nodes of a cluster.
ALTER TABLE _sfflow.instance ADD COLUMN node integer;

--@with node
-- Nodes: other databases with sfflow, which are asked together with this one.
CREATE TABLE _sfflow.node (
	node integer NOT NULL PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	dsn text,
	added_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX node_here ON _sfflow.node ((dsn IS NULL)) WHERE dsn IS NULL;
SELECT pg_catalog.pg_extension_config_dump('_sfflow.node', '');
CREATE TABLE _sfflow.node_document (
	role text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	revision bigint NOT NULL,
	digest text NOT NULL,
	removes boolean NOT NULL,
	document jsonb NOT NULL,
	stored_at timestamptz NOT NULL,
	PRIMARY KEY (role, name)
);
CREATE TABLE _sfflow.node_applied (
	role text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	node integer NOT NULL,
	revision bigint,
	digest text,
	tried_at timestamptz NOT NULL,
	error text,
	PRIMARY KEY (role, name, node),
	CONSTRAINT node_applied_revision CHECK ((revision IS NULL) = (digest IS NULL)),
	CONSTRAINT node_applied_tried CHECK (revision IS NOT NULL OR error IS NOT NULL)
);
SELECT pg_catalog.pg_extension_config_dump('_sfflow.node_document', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.node_applied', '');
--@end

UPDATE _sfflow.schema_of_rows SET number = 2;
