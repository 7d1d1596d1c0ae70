-- What each column of each view holds, as \d+ shows it. docs/sql-reference.md says more.

COMMENT ON COLUMN @extschema@.sf_state_machines.state_machine IS 'its name';
COMMENT ON COLUMN @extschema@.sf_state_machines.version IS 'counts from 1';
COMMENT ON COLUMN @extschema@.sf_state_machines.is_current IS 'whether sf_start of the machine starts this version';
COMMENT ON COLUMN @extschema@.sf_state_machines.owner IS 'the role as which tasks run';
COMMENT ON COLUMN @extschema@.sf_state_machines.definition IS 'the text as it was given';
COMMENT ON COLUMN @extschema@.sf_state_machines.execution_id_path IS 'where the input holds the name of an execution';
COMMENT ON COLUMN @extschema@.sf_state_machines.options IS 'as given to sf_create_state_machine';
COMMENT ON COLUMN @extschema@.sf_state_machines.created_at IS 'when this version was made';

COMMENT ON COLUMN @extschema@.sf_aliases.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_aliases.alias IS 'the name after the slash, as in sf_start(''nightly/prod'')';
COMMENT ON COLUMN @extschema@.sf_aliases.version IS 'a version that it names';
COMMENT ON COLUMN @extschema@.sf_aliases.percent IS 'how many of 100 starts begin in this version';
COMMENT ON COLUMN @extschema@.sf_aliases.set_at IS 'when the alias was set';

COMMENT ON COLUMN @extschema@.sf_executions.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_executions.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_executions.version IS 'the version of the state machine that runs';
COMMENT ON COLUMN @extschema@.sf_executions.name IS 'its name within the machine';
COMMENT ON COLUMN @extschema@.sf_executions.status IS 'RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED';
COMMENT ON COLUMN @extschema@.sf_executions.input IS 'as given to sf_start';
COMMENT ON COLUMN @extschema@.sf_executions.output IS 'if it succeeded';
COMMENT ON COLUMN @extschema@.sf_executions.error IS 'the name of the error that ended it';
COMMENT ON COLUMN @extschema@.sf_executions.cause IS 'what the error said';
COMMENT ON COLUMN @extschema@.sf_executions.requested_at IS 'when sf_start was called';
COMMENT ON COLUMN @extschema@.sf_executions.started_at IS 'when a worker first took it up; null before';
COMMENT ON COLUMN @extschema@.sf_executions.stopped_at IS 'when it ended';
COMMENT ON COLUMN @extschema@.sf_executions.redrive_count IS 'how often it was redriven';
COMMENT ON COLUMN @extschema@.sf_executions.last_redriven_at IS 'when it was redriven last';
COMMENT ON COLUMN @extschema@.sf_executions.start_requests IS 'calls of sf_start for this name, the first one included';
COMMENT ON COLUMN @extschema@.sf_executions.parent_execution_id IS 'the execution that started it as its child';
COMMENT ON COLUMN @extschema@.sf_executions.waiting_on IS 'what it waits for while it runs, as text for people';
COMMENT ON COLUMN @extschema@.sf_executions.labels IS 'its labels: texts by name; null: none';

COMMENT ON COLUMN @extschema@.sf_jobs.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_jobs.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_jobs.id IS 'the name of the execution';
COMMENT ON COLUMN @extschema@.sf_jobs.job_id IS
	'the name of the Task state, in a Map with the index of the iteration: Load[7]';
COMMENT ON COLUMN @extschema@.sf_jobs.job_status IS 'entry, running, success, failure or skip';
COMMENT ON COLUMN @extschema@.sf_jobs.attempts IS
	'how often the task was scheduled since the last start of the execution';
COMMENT ON COLUMN @extschema@.sf_jobs.started_at IS 'when its last visit began';
COMMENT ON COLUMN @extschema@.sf_jobs.stopped_at IS 'when its last visit ended';
COMMENT ON COLUMN @extschema@.sf_jobs.input IS 'of the last visit';
COMMENT ON COLUMN @extschema@.sf_jobs.output IS 'of the last visit';
COMMENT ON COLUMN @extschema@.sf_jobs.error IS 'of the last attempt';
COMMENT ON COLUMN @extschema@.sf_jobs.cause IS 'of the last attempt';

COMMENT ON COLUMN @extschema@.sf_job_relations.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_job_relations.version IS 'the version of the state machine';
COMMENT ON COLUMN @extschema@.sf_job_relations.job_id IS 'a Task state';
COMMENT ON COLUMN @extschema@.sf_job_relations.pre_job_id IS 'a Task state that directly precedes it; null: none';

COMMENT ON COLUMN @extschema@.sf_history.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_history.id IS '1, 2, 3 ... without gaps';
COMMENT ON COLUMN @extschema@.sf_history.previous_event_id IS 'the event that led to this one; 0: none';
COMMENT ON COLUMN @extschema@.sf_history."timestamp" IS 'when it happened';
COMMENT ON COLUMN @extschema@.sf_history.type IS 'TaskStateEntered and so on, as in Step Functions';
COMMENT ON COLUMN @extschema@.sf_history.state IS 'the name of its state; null for events of the execution';
COMMENT ON COLUMN @extschema@.sf_history.details IS 'the details of the event, with the names of Step Functions';

COMMENT ON COLUMN @extschema@.sf_tasks.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_tasks.state IS 'the name of the Task state';
COMMENT ON COLUMN @extschema@.sf_tasks.branch IS
	'path to its branch or iteration, Fork[0]/Stores[7]; empty at the top level';
COMMENT ON COLUMN @extschema@.sf_tasks.resource IS 'as written in the definition';
COMMENT ON COLUMN @extschema@.sf_tasks.status IS 'running, queued, waiting, answered or retrying';
COMMENT ON COLUMN @extschema@.sf_tasks.attempt IS '0 for the first attempt of this visit';
COMMENT ON COLUMN @extschema@.sf_tasks.scheduled_at IS 'when it was scheduled; for a retry, when it will be';
COMMENT ON COLUMN @extschema@.sf_tasks.started_at IS 'when it was begun or taken';
COMMENT ON COLUMN @extschema@.sf_tasks.deadline IS 'when it times out';
COMMENT ON COLUMN @extschema@.sf_tasks.heartbeat_at IS 'when its program was last heard of';
COMMENT ON COLUMN @extschema@.sf_tasks.worker IS 'the name of the program that took it; for a SQL task the process id';

COMMENT ON COLUMN @extschema@.sf_activities.activity IS 'its name';
COMMENT ON COLUMN @extschema@.sf_activities.owner IS 'the role that owns it';
COMMENT ON COLUMN @extschema@.sf_activities.queued IS 'tasks that no program has taken';
COMMENT ON COLUMN @extschema@.sf_activities.oldest_queued_at IS 'since when the oldest of them waits';
COMMENT ON COLUMN @extschema@.sf_activities.in_flight IS 'tasks that were taken and not yet answered';
COMMENT ON COLUMN @extschema@.sf_activities.last_polled_at IS 'when a program last asked for tasks';
COMMENT ON COLUMN @extschema@.sf_activities.last_worker IS 'the name of that program';

COMMENT ON COLUMN @extschema@.sf_dead_letters.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_dead_letters.state IS 'the name of the Task state';
COMMENT ON COLUMN @extschema@.sf_dead_letters.branch IS 'path to its branch or iteration';
COMMENT ON COLUMN @extschema@.sf_dead_letters.resource IS 'as written in the definition';
COMMENT ON COLUMN @extschema@.sf_dead_letters.input IS 'what the program was given';
COMMENT ON COLUMN @extschema@.sf_dead_letters.error IS 'Sfflow.MaxReceiveCount';
COMMENT ON COLUMN @extschema@.sf_dead_letters.cause IS 'what the error says';
COMMENT ON COLUMN @extschema@.sf_dead_letters.receives IS 'how often a program took it';
COMMENT ON COLUMN @extschema@.sf_dead_letters.died_at IS 'when it was given up';

COMMENT ON COLUMN @extschema@.sf_map_runs.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_map_runs.state IS 'the name of the Map state';
COMMENT ON COLUMN @extschema@.sf_map_runs.map_run_arn IS 'its name in the way of AWS';
COMMENT ON COLUMN @extschema@.sf_map_runs.status IS 'RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED';
COMMENT ON COLUMN @extschema@.sf_map_runs.items IS 'items that were read';
COMMENT ON COLUMN @extschema@.sf_map_runs.items_succeeded IS 'items in child executions that succeeded';
COMMENT ON COLUMN @extschema@.sf_map_runs.items_failed IS 'items in child executions that did not';
COMMENT ON COLUMN @extschema@.sf_map_runs.executions IS 'child executions that were begun';
COMMENT ON COLUMN @extschema@.sf_map_runs.running IS 'of these, how many run';
COMMENT ON COLUMN @extschema@.sf_map_runs.succeeded IS 'how many succeeded';
COMMENT ON COLUMN @extschema@.sf_map_runs.failed IS 'how many failed';
COMMENT ON COLUMN @extschema@.sf_map_runs.timed_out IS 'how many timed out';
COMMENT ON COLUMN @extschema@.sf_map_runs.aborted IS 'how many were aborted';
COMMENT ON COLUMN @extschema@.sf_map_runs.redrive_count IS 'how often it was redriven';
COMMENT ON COLUMN @extschema@.sf_map_runs.started_at IS 'when it began';
COMMENT ON COLUMN @extschema@.sf_map_runs.stopped_at IS 'when it ended';

COMMENT ON COLUMN @extschema@.sf_start_requests.execution_id IS 'the execution that was there';
COMMENT ON COLUMN @extschema@.sf_start_requests.requested_at IS 'when sf_start was called';
COMMENT ON COLUMN @extschema@.sf_start_requests.requested_by IS 'the role that called';
COMMENT ON COLUMN @extschema@.sf_start_requests.outcome IS 'running, succeeded, redriven, skipped, restarted, replaced ...';
COMMENT ON COLUMN @extschema@.sf_start_requests.input_differs IS
	'whether the call had another input than the execution';


COMMENT ON COLUMN @extschema@.sf_execution_time_buckets.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_execution_time_buckets.le IS 'a time in seconds, at last Infinity';
COMMENT ON COLUMN @extschema@.sf_execution_time_buckets.executions IS
	'executions that ended within this time; the count never decreases';




COMMENT ON COLUMN @extschema@.sf_alerts.kind IS
	'failed, timed_out, failed_again, slow_task, dead_letter, no_poller, archive_behind, overdue, missed_run, unreceived_event or unknown_owner';
COMMENT ON COLUMN @extschema@.sf_alerts.execution_id IS 'the execution, if it is about one';
COMMENT ON COLUMN @extschema@.sf_alerts.since IS 'since when';
COMMENT ON COLUMN @extschema@.sf_alerts.detail IS 'what is wrong';
COMMENT ON COLUMN @extschema@.sf_alerts.target IS
	'what it is about, if not an execution: activity:NAME, schedule:NAME, a machine, or the target of a deadline';
COMMENT ON COLUMN @extschema@.sf_alerts.labels IS 'labels of the execution; null where there are none';

COMMENT ON COLUMN @extschema@.sf_acknowledgements.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.kind IS 'the kind of the alert';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.since IS 'since when the alert was there';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.acknowledged_at IS 'when it was acknowledged';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.acknowledged_by IS 'the role that did so';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.comment IS 'what it said';



COMMENT ON COLUMN @extschema@.sf_workers.pid IS 'of the process';
COMMENT ON COLUMN @extschema@.sf_workers.role IS 'launcher or worker';
COMMENT ON COLUMN @extschema@.sf_workers.state IS 'what it is doing';
COMMENT ON COLUMN @extschema@.sf_workers.execution_id IS 'the execution that it works on';
COMMENT ON COLUMN @extschema@.sf_workers.job_id IS 'the job that it runs';
COMMENT ON COLUMN @extschema@.sf_workers.since IS 'since when';
COMMENT ON COLUMN @extschema@.sf_workers.steps IS 'how many steps it has made';
COMMENT ON COLUMN @extschema@.sf_workers.owner IS 'the owner of the state machine';
COMMENT ON COLUMN @extschema@.sf_workers.holds_slot IS 'whether it holds a slot for tasks';

COMMENT ON COLUMN @extschema@.sf_health.item IS 'what is looked at';
COMMENT ON COLUMN @extschema@.sf_health.ok IS 'whether it is as it should be';
COMMENT ON COLUMN @extschema@.sf_health.detail IS 'what was found';

COMMENT ON COLUMN @extschema@.sf_audit.at IS 'when';
COMMENT ON COLUMN @extschema@.sf_audit.action IS
	'start, stop, redrive; create, replace, drop, alter owner; grant, revoke; enable, disable';
COMMENT ON COLUMN @extschema@.sf_audit.target IS
	'a state machine, an execution, activity:NAME, schedule:NAME, rule:NAME, or *';
COMMENT ON COLUMN @extschema@.sf_audit.execution_id IS 'the execution, for an action on one';
COMMENT ON COLUMN @extschema@.sf_audit.role IS 'the current role';
COMMENT ON COLUMN @extschema@.sf_audit.session_role IS 'the role that had logged in; null for a start';
COMMENT ON COLUMN @extschema@.sf_audit.reason IS 'why, if the operator said so';
COMMENT ON COLUMN @extschema@.sf_audit.details IS 'what the action was given, and what came of it';



