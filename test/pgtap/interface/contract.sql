-- The SQL contract: names of functions, arguments and columns, as callers rely on them.
-- needs: archive hold deadline limit event human label trace start_key node home rule mcp
BEGIN;
SELECT plan(268);

-- Functions: name, arguments, result.
-- The forms of a function follow each other in the order in which the install script makes them.
CREATE TEMP TABLE contract (name text, arguments text, result text, n integer GENERATED ALWAYS AS IDENTITY);
INSERT INTO contract (name, arguments, result) VALUES
	('sf_create_state_machine', 'name text, definition json, execution_id_path text DEFAULT NULL::text, or_replace '
		'boolean DEFAULT false, options jsonb DEFAULT ''{}''::jsonb', 'integer'),
	('sf_drop_state_machine', 'name text, force boolean DEFAULT false', 'void'),
	('sf_import_jobs', 'relations text, defaults jsonb DEFAULT ''{}''::jsonb, net text DEFAULT ''Net''::text, activity '
		'text DEFAULT ''shell''::text', 'json'),
	('sf_import', 'definition text, substitutions jsonb DEFAULT ''{}''::jsonb, name text DEFAULT NULL::text',
		'integer'),
	('sf_missing_resources', 'definition text, substitutions jsonb DEFAULT ''{}''::jsonb',
		'TABLE(resource text, uses bigint, locations text[], proposal text)'),
	('sf_from_yaml', 'yaml text', 'json'),
	('sf_validate', 'definition text, options jsonb DEFAULT ''{}''::jsonb',
		'TABLE(severity text, code text, location text, message text)'),
	('sf_start', 'state_machine text, input jsonb DEFAULT ''{}''::jsonb, name text DEFAULT NULL::text, if_exists text '
		'DEFAULT ''resume''::text, version integer DEFAULT NULL::integer, priority integer DEFAULT NULL::integer',
		'text'),
	('sf_start', 'state_machine text, input jsonb, options jsonb', 'text'),
	('sf_take_archive_batch', 'activity text, worker_name text DEFAULT NULL::text, max_executions integer DEFAULT '
		'NULL::integer', 'TABLE(batch bigint, name text, executions integer, all_taken boolean)'),
	('sf_read_archive_batch', 'batch bigint, after bigint DEFAULT NULL::bigint, max_executions integer DEFAULT '
		'NULL::integer', 'TABLE(execution bigint, event_id integer, line text)'),
	('sf_confirm_archive_batch', 'batch bigint, file text, bytes bigint, sha256 text', 'bigint'),
	('sf_create_event', 'name text, ttl interval DEFAULT ''1 day''::interval, remember_ids interval DEFAULT ''7 '
		'days''::interval, deliver text DEFAULT ''all''::text, alert_unreceived boolean DEFAULT false', 'void'),
	('sf_drop_event', 'name text', 'void'),
	('sf_emit', 'name text, key text, payload jsonb DEFAULT NULL::jsonb, id text DEFAULT NULL::text, ttl interval '
		'DEFAULT NULL::interval, deliver text DEFAULT NULL::text', 'text'),
	('sf_emit_many', 'name text, events jsonb[]', 'bigint'),
	('sf_withdraw_event', 'name text, key text, id text', 'boolean'),
	('sf_create_worklist', 'name text, form jsonb DEFAULT NULL::jsonb, options jsonb DEFAULT ''{}''::jsonb', 'void'),
	('sf_drop_worklist', 'name text', 'void'),
	('sf_claim_task', 'task bigint, actor text DEFAULT NULL::text', 'void'),
	('sf_release_task', 'task bigint, actor text DEFAULT NULL::text', 'void'),
	('sf_complete_task', 'task bigint, output jsonb DEFAULT ''{}''::jsonb, comment text DEFAULT NULL::text, actor text '
		'DEFAULT NULL::text', 'void'),
	('sf_fail_task', 'task bigint, error text DEFAULT NULL::text, cause text DEFAULT NULL::text, actor text DEFAULT '
		'NULL::text', 'void'),
	('sf_assign_task', 'task bigint, role text', 'void'),
	('sf_change_task', 'task bigint, roles text[] DEFAULT NULL::text[], due timestamp with time zone DEFAULT '
		'NULL::timestamp with time zone, priority integer DEFAULT NULL::integer', 'void'),
	('sf_list_human_tasks', 'worklist text DEFAULT NULL::text, which text DEFAULT NULL::text, page_size integer '
		'DEFAULT NULL::integer, after_key text DEFAULT NULL::text, actor text DEFAULT NULL::text',
		'TABLE(task bigint, worklist text, execution_id text, state text, title text, priority integer, created_at '
		'timestamp with time zone, due_at timestamp with time zone, claimed_by text, claimed_at timestamp with time '
		'zone, roles text[], not_by text[], page_key text)'),
	('sf_count_human_tasks', 'actor text DEFAULT NULL::text',
		'TABLE(worklist text, tasks bigint, mine bigint, open bigint, overdue bigint)'),
	('sf_find_home', 'key text', 'TABLE(node integer, host text, port integer, here boolean)'),
	('sf_leave_start_key', 'execution_id text', 'boolean'),
	('sf_set_labels', 'execution_id text, labels jsonb', 'void'),
	('sf_step', 'execution_id text', 'TABLE(branch text, state text, outcome text, next_state text, status text)'),
	('sf_run', 'execution_id text, skip_waits boolean DEFAULT false, max_steps integer DEFAULT NULL::integer', 'text'),
	('sf_run_due', 'IN max_steps integer DEFAULT 1000', NULL),
	('sf_await', 'execution_id text, timeout interval DEFAULT ''00:00:10''::interval', 'text'),
	('sf_stop', 'execution_id text, error text DEFAULT NULL::text, cause text DEFAULT NULL::text', 'text'),
	('sf_redrive', 'execution_id text, from_state text DEFAULT NULL::text, input jsonb DEFAULT NULL::jsonb, version '
		'integer DEFAULT NULL::integer', 'integer'),
	('sf_migrate', 'execution_id text, version integer, state_map jsonb DEFAULT NULL::jsonb', 'void'),
	('sf_aws_api', 'action text, request jsonb DEFAULT ''{}''::jsonb', 'jsonb'),
	('sf_aws_api_as', 'role name, action text, request jsonb DEFAULT ''{}''::jsonb', 'jsonb'),
	('sf_aws_list_as', 'role name, request jsonb', 'jsonb'),
	('sf_mcp_as', 'role name, method text, params jsonb, writing text[] DEFAULT ''{}''::text[]', 'jsonb'),
	('sf_create_access_key', 'role name', 'TABLE(access_key_id text, secret_access_key text)'),
	('sf_drop_access_key', 'access_key_id text', 'void'),
	('sf_access_key', 'access_key_id text', 'TABLE(role name, secret_access_key text)'),
	('sf_take_spans', 'max_executions integer DEFAULT 100, lease interval DEFAULT ''00:01:00''::interval',
		'TABLE(export_no bigint, spans jsonb)'),
	('sf_confirm_spans', 'export_nos bigint[]', 'bigint'),
	('sf_reject_spans', 'export_nos bigint[], reason text', 'bigint'),
	('sf_set_alias', 'state_machine text, alias text, versions jsonb', 'void'),
	('sf_export_definitions', '', 'jsonb'),
	('sf_apply', 'definitions jsonb, dry_run boolean DEFAULT false, remove boolean DEFAULT false',
		'TABLE(object text, name text, outcome text, changes text)'),
	('sf_drop_alias', 'state_machine text, alias text', 'void'),
	('sf_diff_versions', 'state_machine text, a integer, b integer',
		'TABLE(pointer text, change text, before jsonb, after jsonb)'),
	('sf_redrive_many', 'state_machine text DEFAULT NULL::text, status text DEFAULT NULL::text, error text DEFAULT '
		'NULL::text, since timestamp with time zone DEFAULT NULL::timestamp with time zone, max integer DEFAULT '
		'NULL::integer, comment text DEFAULT NULL::text, map_run text DEFAULT NULL::text',
		'TABLE(execution_id text, outcome text, reason text)'),
	('sf_redrive_many', 'labels jsonb, state_machine text DEFAULT NULL::text, status text DEFAULT NULL::text, error '
		'text DEFAULT NULL::text, since timestamp with time zone DEFAULT NULL::timestamp with time zone, max integer '
		'DEFAULT NULL::integer, comment text DEFAULT NULL::text, map_run text DEFAULT NULL::text',
		'TABLE(execution_id text, outcome text, reason text)'),
	('sf_stop_many', 'state_machine text DEFAULT NULL::text, status text DEFAULT NULL::text, error text DEFAULT '
		'NULL::text, since timestamp with time zone DEFAULT NULL::timestamp with time zone, max integer DEFAULT '
		'NULL::integer, cause text DEFAULT NULL::text', 'TABLE(execution_id text, outcome text, reason text)'),
	('sf_stop_many', 'labels jsonb, state_machine text DEFAULT NULL::text, status text DEFAULT NULL::text, error text '
		'DEFAULT NULL::text, since timestamp with time zone DEFAULT NULL::timestamp with time zone, max integer '
		'DEFAULT NULL::integer, cause text DEFAULT NULL::text', 'TABLE(execution_id text, outcome text, reason text)'),
	('sf_mark', 'execution_id text, job_id text, outcome text, output jsonb DEFAULT NULL::jsonb, reason text DEFAULT '
		'NULL::text', 'void'),
	('sf_hold', 'target text, state text DEFAULT NULL::text, reason text DEFAULT NULL::text', 'boolean'),
	('sf_release', 'target text, state text DEFAULT NULL::text', 'bigint'),
	('sf_set_limit', 'target text, key text DEFAULT NULL::text, max_running integer DEFAULT NULL::integer, rate double '
		'precision DEFAULT NULL::double precision, per interval DEFAULT ''00:00:01''::interval, on_limit text '
		'DEFAULT ''queue''::text', 'void'),
	('sf_drop_limit', 'target text, key text DEFAULT NULL::text', 'boolean'),
	('sf_acknowledge', 'execution_id text, kind text DEFAULT NULL::text, comment text DEFAULT NULL::text', 'integer'),
	('sf_acknowledge_all', 'state_machine text, until timestamp with time zone DEFAULT NULL::timestamp with time zone, '
		'comment text DEFAULT NULL::text', 'bigint'),
	('sf_get_activity_task', 'activity text, worker_name text DEFAULT NULL::text, max_tasks integer DEFAULT 1',
		'TABLE(task_token text, input jsonb, execution_id text, state text, attempt integer, heartbeat interval, '
		'deadline timestamp with time zone, scheduled_at timestamp with time zone, resource text, definition_resource '
		'text)'),
	('sf_get_activity_task', 'activity text, worker_name text, max_tasks integer, with_trace boolean',
		'TABLE(task_token text, input jsonb, execution_id text, state text, attempt integer, heartbeat interval, '
		'deadline timestamp with time zone, scheduled_at timestamp with time zone, resource text, definition_resource '
		'text, traceparent text, tracestate text)'),
	('sf_map_resource', 'pattern text, resource text', 'void'),
	('sf_raise', 'error text, cause text DEFAULT NULL::text', 'void'),
	('sf_list_executions', 'state_machine text DEFAULT NULL::text, status text DEFAULT NULL::text, error text DEFAULT '
		'NULL::text, name_prefix text DEFAULT NULL::text, owner text DEFAULT NULL::text, parent_execution_id text '
		'DEFAULT NULL::text, requested_after timestamp with time zone DEFAULT NULL::timestamp with time zone, '
		'requested_before timestamp with time zone DEFAULT NULL::timestamp with time zone, page_size integer DEFAULT '
		'NULL::integer, after_key text DEFAULT NULL::text, without_items boolean DEFAULT NULL::boolean',
		'TABLE(execution_id text, state_machine text, name text, status text, error text, requested_at timestamp with '
		'time zone, started_at timestamp with time zone, stopped_at timestamp with time zone, page_key text)'),
	('sf_list_executions', 'labels jsonb, state_machine text DEFAULT NULL::text, status text DEFAULT NULL::text, error '
		'text DEFAULT NULL::text, name_prefix text DEFAULT NULL::text, owner text DEFAULT NULL::text, '
		'parent_execution_id text DEFAULT NULL::text, requested_after timestamp with time zone DEFAULT NULL::timestamp '
		'with time zone, requested_before timestamp with time zone DEFAULT NULL::timestamp with time zone, page_size '
		'integer DEFAULT NULL::integer, after_key text DEFAULT NULL::text, without_items boolean DEFAULT NULL::boolean',
		'TABLE(execution_id text, state_machine text, name text, status text, error text, requested_at timestamp with '
		'time zone, started_at timestamp with time zone, stopped_at timestamp with time zone, page_key text)'),
	('sf_list_audit', 'target text DEFAULT NULL::text, action text DEFAULT NULL::text, role text DEFAULT NULL::text, '
		'done_after timestamp with time zone DEFAULT NULL::timestamp with time zone, done_before timestamp with time '
		'zone DEFAULT NULL::timestamp with time zone, page_size integer DEFAULT NULL::integer, after_key text DEFAULT '
		'NULL::text',
		'TABLE(at timestamp with time zone, action text, target text, execution_id text, role text, session_role text, '
		'reason text, details jsonb, page_key text)'),
	('sf_set_deadline', 'target text, start_by time without time zone DEFAULT NULL::time without time zone, end_by '
		'time without time zone DEFAULT NULL::time without time zone, timezone text DEFAULT NULL::text, calendar text '
		'DEFAULT NULL::text', 'void'),
	('sf_drop_deadline', 'target text', 'void'),
	('sf_night', 'since timestamp with time zone DEFAULT NULL::timestamp with time zone, until timestamp with time '
		'zone DEFAULT NULL::timestamp with time zone, most integer DEFAULT NULL::integer',
		'TABLE(planned_at timestamp with time zone, target text, state text, started_at timestamp with time zone, '
		'ended_at timestamp with time zone, took interval, usual interval, expected_end timestamp with time zone, '
		'detail text, next text)'),
	('sf_compare', 'a text, b text',
		'TABLE(job_id text, only_in text, status_a text, status_b text, duration_a interval, duration_b interval, '
		'usual_duration interval, attempts_a integer, attempts_b integer, error_a text, error_b text, input_differs '
		'text[], output_differs text[], is_cut boolean)'),
	('sf_grid', 'state_machine text, runs integer DEFAULT 30',
		'TABLE(execution_id text, requested_at timestamp with time zone, status text, took interval, job_id text, '
		'job_status text, jobs integer, failed integer, attempts integer, duration interval, usual_duration interval)'),
	('sf_progress', 'execution_id text',
		'TABLE(status text, done integer, total integer, took interval, usual interval, remaining interval, eta '
		'timestamp with time zone, waiting_on text, next text)'),
	('sf_schedule', 'name text, schedule text, state_machine text, input jsonb DEFAULT ''{}''::jsonb, timezone text '
		'DEFAULT NULL::text, calendar text DEFAULT NULL::text, on_closed text DEFAULT ''skip''::text, starts timestamp '
		'with time zone DEFAULT NULL::timestamp with time zone, ends timestamp with time zone DEFAULT NULL::timestamp '
		'with time zone, missed text DEFAULT ''run_once''::text, overlap text DEFAULT ''skip''::text', 'bigint'),
	('sf_schedule_preview', 'name text, from_time timestamp with time zone, to_time timestamp with time zone',
		'TABLE(scheduled_for timestamp with time zone, local_time timestamp without time zone, execution_name text)'),
	('sf_unschedule', 'name text', 'void'),
	('sf_backfill', 'schedule text, from_time timestamp with time zone, to_time timestamp with time zone, max_running '
		'integer DEFAULT 1', 'bigint'),
	('sf_create_calendar', 'name text, rule jsonb, days jsonb DEFAULT NULL::jsonb', 'void'),
	('sf_drop_calendar', 'name text', 'void'),
	('sf_calendar_days', 'calendar text, from_day date, to_day date, on_closed text DEFAULT ''skip''::text',
		'TABLE(day date, is_open boolean, is_picked boolean)'),
	('sf_create_rule', 'name text, pattern jsonb, target text, input jsonb DEFAULT NULL::jsonb', 'void'),
	('sf_create_rule', 'name text, pattern jsonb, target text, input jsonb, execution_name text, if_exists text '
		'DEFAULT ''skip''::text', 'void'),
	('sf_drop_rule', 'name text', 'void'),
	('sf_redeliver', 'rule text, event_id text DEFAULT NULL::text', 'bigint'),
	('sf_discard_deliveries', 'rule text, event_id text DEFAULT NULL::text', 'bigint'),
	('sf_test_event_pattern', 'pattern jsonb, event jsonb', 'boolean'),
	('sf_grant', 'privilege text, object text, role text', 'void'),
	('sf_revoke', 'privilege text, object text, role text', 'void'),
	('sf_version', '', 'TABLE(release text, library_schema integer, database_schema integer, advice text)'),
	('sf_enable', '', 'void'),
	('sf_disable', '', 'void'),
	('sf_set_node', 'node integer', 'void'),
	('sf_jsonpath', 'path text, input jsonb, context jsonb DEFAULT NULL::jsonb', 'jsonb'),
	('sf_intrinsic', 'expression text, input jsonb, context jsonb DEFAULT NULL::jsonb', 'jsonb'),
	('sf_graph_layout', 'target text', 'jsonb'),
	('sf_graph_status', 'execution_id text', 'jsonb'),
	('sf_add_node', 'node integer, name text, dsn text DEFAULT NULL::text', 'void'),
	('sf_drop_node', 'node integer', 'void'),
	('sf_node_addresses', '', 'TABLE(node integer, name text, dsn text)'),
	('sf_apply_all', 'definitions jsonb DEFAULT NULL::jsonb, remove boolean DEFAULT false',
		'TABLE(node integer, ok boolean, node_error text, document text, revision bigint, changed bigint)'),
	('sf_all_executions', 'state_machine text DEFAULT NULL::text, status text DEFAULT NULL::text, error text DEFAULT '
		'NULL::text, name_prefix text DEFAULT NULL::text, owner text DEFAULT NULL::text, parent_execution_id text '
		'DEFAULT NULL::text, requested_after timestamp with time zone DEFAULT NULL::timestamp with time zone, '
		'requested_before timestamp with time zone DEFAULT NULL::timestamp with time zone, page_size integer DEFAULT '
		'NULL::integer, after_key text DEFAULT NULL::text, without_items boolean DEFAULT NULL::boolean',
		'TABLE(node integer, ok boolean, node_error text, execution_id text, state_machine text, name text, status '
		'text, error text, requested_at timestamp with time zone, started_at timestamp with time zone, stopped_at '
		'timestamp with time zone, page_key text)'),
	('sf_all_executions', 'labels jsonb, state_machine text DEFAULT NULL::text, status text DEFAULT NULL::text, error '
		'text DEFAULT NULL::text, name_prefix text DEFAULT NULL::text, owner text DEFAULT NULL::text, '
		'parent_execution_id text DEFAULT NULL::text, requested_after timestamp with time zone DEFAULT NULL::timestamp '
		'with time zone, requested_before timestamp with time zone DEFAULT NULL::timestamp with time zone, page_size '
		'integer DEFAULT NULL::integer, after_key text DEFAULT NULL::text, without_items boolean DEFAULT NULL::boolean',
		'TABLE(node integer, ok boolean, node_error text, execution_id text, state_machine text, name text, status '
		'text, error text, requested_at timestamp with time zone, started_at timestamp with time zone, stopped_at '
		'timestamp with time zone, page_key text)'),
	('sf_all_jobs', 'state_machine text DEFAULT NULL::text, status text DEFAULT NULL::text, job_status text DEFAULT '
		'NULL::text, name_prefix text DEFAULT NULL::text, requested_after timestamp with time zone DEFAULT '
		'NULL::timestamp with time zone, requested_before timestamp with time zone DEFAULT NULL::timestamp with time '
		'zone, page_size integer DEFAULT NULL::integer, after_key text DEFAULT NULL::text',
		'TABLE(node integer, ok boolean, node_error text, execution_id text, state_machine text, id text, job_id text, '
		'job_status text, attempts integer, started_at timestamp with time zone, stopped_at timestamp with time zone, '
		'error text, cause text, page_key text)'),
	('sf_all_metrics', '', 'TABLE(node integer, ok boolean, node_error text, state_machine text, nodes integer, '
		'executions_started bigint, executions_succeeded bigint, executions_failed bigint, executions_aborted bigint, '
		'executions_timed_out bigint, executions_throttled bigint, execution_time_ms_avg double precision, '
		'execution_time_ms_p50 double precision, execution_time_ms_p95 double precision, execution_time_ms_p99 double '
		'precision, state_transitions bigint, executions_redriven bigint, retries bigint)'),
	('sf_all_night', 'since timestamp with time zone DEFAULT NULL::timestamp with time zone, until timestamp with time '
		'zone DEFAULT NULL::timestamp with time zone, most integer DEFAULT NULL::integer',
		'TABLE(node integer, ok boolean, node_error text, planned_at timestamp with time zone, target text, state '
		'text, started_at timestamp with time zone, ended_at timestamp with time zone, took interval, usual interval, '
		'expected_end timestamp with time zone, detail text, next text)'),
	('sf_all_alerts', '', 'TABLE(node integer, ok boolean, node_error text, kind text, execution_id text, since '
		'timestamp with time zone, detail text, target text, labels jsonb)'),
	('sf_console_api', 'action text, request jsonb', 'jsonb'),
	('sf_console_api_as', 'role name, action text, request jsonb, writes boolean DEFAULT false', 'jsonb'),
	('sf_console_actions', '', 'text[]'),
	('sf_console_session', '', 'text'),
	('sf_prometheus', '', 'text'),
	('sf_check', '', 'TABLE(problem text, execution_id text, detail text)');

SELECT is(
	(SELECT array_agg(regexp_replace(pg_get_function_arguments(oid), '(, )?OUT .*', '') ORDER BY oid) FROM pg_proc
		WHERE proname = c.name),
	array_agg(c.arguments ORDER BY c.n), c.name || ': arguments')
FROM contract AS c GROUP BY c.name ORDER BY min(c.n);
-- Columns of a result may be declared by RETURNS TABLE or by OUT.
SELECT is(
	(SELECT array_agg(coalesce('TABLE(' || (
			SELECT string_agg(a.name || ' ' || format_type(a.type, NULL), ', ' ORDER BY a.n)
			FROM unnest(p.proargnames, p.proallargtypes, p.proargmodes) WITH ORDINALITY AS a(name, type, mode, n)
			WHERE a.mode IN ('o', 't')) || ')', pg_get_function_result(p.oid)) ORDER BY p.oid)
		FROM pg_proc AS p WHERE p.proname = c.name),
	array_agg(c.result ORDER BY c.n), c.name || ': result')
FROM contract AS c GROUP BY c.name ORDER BY min(c.n);

-- Views: their columns in order.
CREATE TEMP TABLE shown (name text, columns text);
INSERT INTO shown VALUES
	('sf_state_machines', 'state_machine, version, is_current, owner, definition, execution_id_path, options, '
		'created_at'),
	('sf_executions', 'execution_id, state_machine, version, name, status, input, output, error, cause, requested_at, '
		'started_at, stopped_at, redrive_count, last_redriven_at, start_requests, parent_execution_id, waiting_on, '
		'labels'),
	('sf_archive_batches', 'batch, activity, name, executions, taken_at, worker, confirmed_at, file, bytes, sha256'),
	('sf_execution_keys', 'execution_id, state_machine, key'),
	('sf_start_keys', 'state_machine, start_key, execution_id, place, rank'),
	('sf_labels', 'label, value, execution_id, state_machine, requested_at'),
	('sf_traces', 'execution_id, state_machine, trace_id, parent_span_id, is_sampled, requested_at, exports_waiting, '
		'exports_rejected'),
	('sf_jobs', 'execution_id, state_machine, id, job_id, job_status, attempts, started_at, stopped_at, input, output, '
		'error, cause'),
	('sf_job_relations', 'state_machine, version, job_id, pre_job_id'),
	('sf_aliases', 'state_machine, alias, version, percent, set_at'),
	('sf_access_keys', 'access_key_id, role, created_at, created_by, created_by_session, usable'),
	('sf_history', 'execution_id, id, previous_event_id, timestamp, type, state, details'),
	('sf_tasks', 'execution_id, state, branch, resource, status, attempt, scheduled_at, started_at, deadline, '
		'heartbeat_at, worker'),
	('sf_activities', 'activity, owner, queued, oldest_queued_at, in_flight, last_polled_at, last_worker'),
	('sf_event_types', 'name, owner, ttl, remember_ids, deliver, created_at, events, waits, alert_unreceived'),
	('sf_worklists', 'name, owner, description, form, created_at, tasks, unclaimed'),
	('sf_human_task_events', 'task, worklist, execution_id, state, at, action, done_by, role, login, comment, details'),
	('sf_human_tasks', 'task, worklist, execution_id, state, title, priority, created_at, due_at, claimed_by, '
		'claimed_at, roles, not_by, data, form'),
	('sf_events', 'name, key, id, deliver, emitted_at, expires_at, received, payload'),
	('sf_event_waits', 'name, key, execution_id, state, branch, since, filter, max_events'),
	('sf_dead_letters', 'execution_id, state, branch, resource, input, error, cause, receives, died_at'),
	('sf_metrics', 'state_machine, executions_started, executions_succeeded, executions_failed, executions_aborted, '
		'executions_timed_out, executions_throttled, execution_time_ms_avg, execution_time_ms_p50, '
		'execution_time_ms_p95, execution_time_ms_p99, state_transitions, executions_redriven, retries'),
	('sf_execution_time_buckets', 'state_machine, le, executions'),
	('sf_metrics_by_hour', 'state_machine, hour, executions_started, executions_succeeded, executions_failed, '
		'executions_aborted, executions_timed_out, executions_throttled, execution_time_ms_avg, execution_time_ms_p50, '
		'execution_time_ms_p95, execution_time_ms_p99, state_transitions, executions_redriven, retries'),
	('sf_job_times', 'state_machine, job_id, runs, failures, time_ms_avg, time_ms_p50, time_ms_p95, time_ms_p99, '
		'last_ms, last_at, recent_runs, recent_ms_p50, recent_ms_p95, week_runs, week_ms_p50, week_ms_p95, '
		'previous_week_runs, previous_week_ms_p50, previous_week_ms_p95'),
	('sf_retries', 'state_machine, state, error, retries'),
	('sf_alerts', 'kind, execution_id, since, detail, target, labels'),
	('sf_acknowledgements', 'execution_id, kind, since, acknowledged_at, acknowledged_by, comment'),
	('sf_holds', 'target, state, since, held_by, reason, waiting'),
	('sf_limits', 'target, key, max_running, rate, per, on_limit, in_definition, in_use, waiting, oldest_waiting, '
		'set_at, set_by'),
	('sf_limit_waits', 'execution_id, branch, state, target, key, since, position, waiting, max_running, in_use, rate, '
		'per, in_use_by'),
	('sf_audit', 'at, action, target, execution_id, role, session_role, reason, details'),
	('sf_start_requests', 'execution_id, requested_at, requested_by, outcome, input_differs'),
	('sf_rules', 'rule_name, owner, pattern, target, input, pending, delivered, dead, last_error, last_cause, '
		'last_failed_at, created_at, execution_name, if_exists'),
	('sf_rule_deliveries', 'rule_name, event_id, status, attempts, next_attempt, error, cause, failed_at, event, '
		'created_at'),
	('sf_deadlines', 'target, start_by, end_by, timezone, calendar, next_check, set_at, set_by'),
	('sf_late', 'target, state, due_by, deadline_at, execution_id, expected_at, raised_at, over_at, acknowledged_at'),
	('sf_schedules', 'schedule_name, schedule, timezone, state_machine, input, active, next_run, last_execution_id, '
		'state, problem, owner, calendar, on_closed, starts, ends, missed, overlap, given_timezone'),
	('sf_calendars', 'calendar, owner, rule, days, created_at, changed_at'),
	('sf_schedule_runs', 'schedule_name, scheduled_for, started_at, status, error, execution_id, ended_at, '
		'cron_run_id'),
	('sf_workers', 'pid, role, state, execution_id, job_id, since, steps, owner, holds_slot'),
	('sf_nodes', 'node, name, dsn, state, answered_at, failed_at, error'),
	('sf_health', 'item, ok, detail');
SELECT is(
	(SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = to_regclass(s.name)
		AND attnum > 0),
	s.columns, s.name || ': columns')
FROM shown AS s;

-- Everybody may look; what one sees is another matter.
SELECT ok((SELECT bool_and(has_table_privilege('public', to_regclass(name), 'SELECT')) FROM shown),
	'views are open to all');

-- Text columns can be compared.
SELECT is_empty(
	$$SELECT c.oid::regclass, a.attname FROM pg_depend AS d JOIN pg_class AS c ON c.oid = d.objid
		JOIN pg_attribute AS a ON a.attrelid = c.oid JOIN pg_type AS t ON t.oid = a.atttypid
		JOIN pg_extension AS e ON e.oid = d.refobjid
		WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'e' AND e.extname = 'sfflow'
			AND c.relkind = 'v' AND t.typcollation <> 0 AND a.attcollation = 0$$,
	'every text column of a view has a collation');

-- Nothing but the contract is in the extension's schema.
SELECT is(
	(SELECT array_agg(DISTINCT p.proname ORDER BY p.proname) FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid
		JOIN pg_extension AS e ON e.oid = d.refobjid
		WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND e.extname = 'sfflow'
			AND p.pronamespace = e.extnamespace AND p.proname !~ '^sf_'),
	NULL, 'every function in the extension''s schema begins with sf_');

-- Tables and sequences are dumped, except those whose rows hold for this very database, or this start of the server.
SELECT is(
	(SELECT array_agg(c.oid::regclass::text ORDER BY c.oid::regclass::text) FROM pg_class AS c
		WHERE c.relnamespace = '_sfflow'::regnamespace AND c.relkind IN ('r', 'S', 'p')
			AND NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'sfflow' AND c.oid = ANY (extconfig))),
	ARRAY['_sfflow.instance', '_sfflow.metric_fold', '_sfflow.rate_token'], 'what is dumped');

-- What has more rights than its caller does not look names up in the caller's search_path.
SELECT is(
	(SELECT array_agg(p.oid::regprocedure::text) FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid
		JOIN pg_extension AS e ON e.oid = d.refobjid
		WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND e.extname = 'sfflow'
			AND p.prosecdef AND NOT coalesce(p.proconfig, '{}') @> ARRAY['search_path=pg_catalog, pg_temp']),
	NULL, 'SECURITY DEFINER functions have a fixed search_path');

-- Errors have their own SQLSTATEs.
SELECT throws_ok($$SELECT sf_start('no-such-machine')$$, 'SF003');
SELECT throws_ok($$SELECT sf_stop('no-such-machine:x')$$, 'SF005');
SELECT throws_ok($$SELECT sf_create_state_machine('a b', '{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}')$$,
	'SF002');
SELECT throws_ok($$SELECT sf_create_state_machine('a', '{"StartAt":"P","States":{"P":{"Type":"Pass"}}}')$$, 'SF001');

SELECT * FROM finish();
ROLLBACK;
