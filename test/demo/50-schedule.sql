-- Every night at two, by pg_cron: the day that is over by then.

\qecho '=== From now on every night at 02:00'
SELECT sf_create_state_machine('nightly-trigger', '{
  "StartAt": "Start the night",
  "States": {
    "Start the night": {
      "Type": "Task",
      "Resource": "sql:shop.start_night",
      "Parameters": { "scheduled.$": "$.scheduled" },
      "End": true
    }
  }
}') AS version;

SELECT sf_schedule('nightly-0200', '0 2 * * *', 'nightly-trigger',
	'{"scheduled": "<aws.scheduler.scheduled-time>"}') AS cron_job;

SELECT jobid, schedule, jobname, username, active, command FROM cron.job;

SELECT schedule_name, schedule, timezone, state_machine, next_run FROM sf_schedules;
