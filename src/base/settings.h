/*
 * settings.h
 *		The settings sfflow.*: unit, default and meaning of each.
 */
#ifndef SF_BASE_SETTINGS_H
#define SF_BASE_SETTINGS_H

/*
 * Settings that are integers: symbol, name, default, least and greatest value,
 * context, flags (the unit), assign hook or NULL, description.
 *
 * The last five are quotas per owner.  ALTER ROLE … SET changes them
 * for one owner.  In a session these variables may have the values of the
 * session's own role; the values of an owner come from quota/quota.h.
 */
#define SF_INT_SETTING_LIST(X) \
	X(workers, "sfflow.workers", 2, 1, 64, PGC_POSTMASTER, 0, NULL, \
	  "Workers that advance executions.") \
	X(max_workers, "sfflow.max_workers", 8, 1, 256, PGC_POSTMASTER, 0, NULL, \
	  "Processes that may run tasks, including those inside a long task.") \
	X(max_running_tasks, "sfflow.max_running_tasks", 4, 1, 256, PGC_SIGHUP, 0, NULL, \
	  "Long SQL tasks that may run at once.") \
	X(max_running_tasks_per_owner, "sfflow.max_running_tasks_per_owner", 0, 0, 256, PGC_SIGHUP, 0, NULL, \
	  "SQL tasks of one owner in a database that may occupy a slot at once; 0 means all slots but one.") \
	X(default_task_timeout, "sfflow.default_task_timeout", 0, 0, INT_MAX / 1000, PGC_SUSET, GUC_UNIT_S, NULL, \
	  "Longest time of a SQL task without TimeoutSeconds; 0 means no limit.") \
	X(slice_ms, "sfflow.slice_ms", 20, 1, 10000, PGC_SIGHUP, GUC_UNIT_MS, NULL, \
	  "Time after which a worker commits.") \
	X(poll_interval, "sfflow.poll_interval", 60, 1, 86400, PGC_SIGHUP, GUC_UNIT_S, NULL, \
	  "Time between two scans of the tables if nothing wakes a worker.") \
	X(max_databases, "sfflow.max_databases", 64, 1, 10000, PGC_POSTMASTER, 0, NULL, \
	  "Databases with the extension that shared memory has room for.") \
	X(max_limit_keys, "sfflow.max_limit_keys", 32768, 64, 16777216, PGC_POSTMASTER, 0, NULL, \
	  "Values of keys of limits that shared memory has room for.") \
	X(retention, "sfflow.retention", 0, 0, INT_MAX, PGC_SIGHUP, GUC_UNIT_MIN, NULL, \
	  "Age at which an ended execution is purged, unless its state machine says otherwise; 0 means never.") \
	X(purge_interval, "sfflow.purge_interval", 600, 1, 86400, PGC_SIGHUP, GUC_UNIT_S, NULL, \
	  "Time between two looks for executions to purge.") \
	X(audit_retention, "sfflow.audit_retention", 400 * 24 * 60, 0, INT_MAX, PGC_SIGHUP, GUC_UNIT_MIN, NULL, \
	  "Age at which rows of sf_audit are deleted; 0 means that only what they are about ends them.") \
	X(max_payload_bytes, "sfflow.max_payload_bytes", 16 * 1024 * 1024, 1024, 256 * 1024 * 1024, PGC_SUSET, GUC_UNIT_BYTE, NULL, \
	  "Largest size of a payload as JSON text, in bytes.") \
	X(max_history_events, "sfflow.max_history_events", 10000000, 100, INT_MAX, PGC_SUSET, 0, NULL, \
	  "Most events in the history of an execution.") \
	X(max_crashes, "sfflow.max_crashes", 3, 1, 100, PGC_SIGHUP, 0, NULL, \
	  "Crashes of the server while a step ran alone, or ends of its worker, after which the step fails.") \
	X(rule_attempts, "sfflow.rule_attempts", 12, 1, 100, PGC_SUSET, 0, NULL, \
	  "Attempts to deliver an event to the target of a rule before the delivery is dead.") \
	X(node_timeout, "sfflow.node_timeout", 1500, 10, 600000, PGC_USERSET, GUC_UNIT_MS, NULL, \
	  "Time that another node has to answer, connecting included.") \
	X(slow_task_factor, "sfflow.slow_task_factor", 3, 1, 1000, PGC_USERSET, 0, NULL, \
	  "sf_alerts names a task that takes this many times as long as its usual longest run.") \
	X(evaluation_timeout_ms, "sfflow.evaluation_timeout", 10000, 0, INT_MAX, PGC_USERSET, GUC_UNIT_MS, NULL, \
	  "Longest time of one evaluation of an expression; 0 means no limit.") \
	X(evaluation_depth, "sfflow.evaluation_depth", 5000, 10, 1000000, PGC_USERSET, 0, NULL, \
	  "Deepest nesting of evaluations in a JSONata expression.") \
	X(max_executions_per_owner, "sfflow.max_executions_per_owner", 10000000, 0, INT_MAX, PGC_SUSET, 0, assign_executions, \
	  "Most executions of one owner's machines that run at once; 0 means no limit.") \
	X(max_starts_per_owner, "sfflow.max_starts_per_owner", 1000000, 0, INT_MAX, PGC_SUSET, 0, assign_starts, \
	  "Most executions of one owner's machines that are started per minute; 0 means no limit.") \
	X(max_rules_per_owner, "sfflow.max_rules_per_owner", 1000, 0, INT_MAX, PGC_SUSET, 0, assign_rules, \
	  "Most rules of one owner; 0 means no limit.") \
	X(max_rule_bytes_per_owner, "sfflow.max_rule_bytes_per_owner", 1024 * 1024, 0, INT_MAX, PGC_SUSET, GUC_UNIT_BYTE, assign_rule_bytes, \
	  "Most bytes of the patterns and inputs of one owner's rules, all together; 0 means no limit.") \
	X(max_transitions, "sfflow.max_transitions", 10000000, 0, INT_MAX, PGC_SUSET, 0, assign_transitions, \
	  "Most state transitions of an execution; 0 means no limit.")

/* sf_setting_workers and so on */
#define SF_INT_SETTING_DECLARE(sym, name, initial, min, max, context, flags, assign, description) \
	extern int	sf_setting_##sym;
SF_INT_SETTING_LIST(SF_INT_SETTING_DECLARE)

/* Databases to drive, comma separated; empty: all that have the extension */
extern char *sf_setting_databases;
/* Whether executions that fail leave a line in the server's log */
extern bool sf_setting_log_failures;

/* Trace that what the session starts is part of: traceparent and, after a blank, tracestate; or empty */
extern char *sf_setting_traceparent;

/* Region and account in ARNs */
extern char *sf_setting_region;
extern char *sf_setting_account_id;

/* The quotas of the server's configuration, without those of roles and sessions */
typedef struct SfQuotas
{
	int			executions;
	int			starts;
	int			rules;
	int			rule_bytes;
	int			transitions;
} SfQuotas;
extern SfQuotas sf_server_quotas;

extern void sf_settings_define(void);

#endif							/* SF_BASE_SETTINGS_H */
