/*
 * settings.h
 *		The settings sfflow.*: unit, default and meaning of each.
 */
#ifndef SF_BASE_SETTINGS_H
#define SF_BASE_SETTINGS_H

/* Workers that advance executions, in the whole cluster */
extern int	sf_setting_workers;
/* Workers in all, those inside a long task included */
extern int	sf_setting_max_workers;
/* Long SQL tasks that may run at once */
extern int	sf_setting_max_running_tasks;
/* Tasks of one owner that may hold a slot at once; 0: all slots but one */
extern int	sf_setting_max_running_tasks_per_owner;
/* Seconds that a SQL task without TimeoutSeconds may take; 0: no limit */
extern int	sf_setting_default_task_timeout;
/* Databases to drive, comma separated; empty: all that have the extension */
extern char *sf_setting_databases;
/* Milliseconds after which a slice commits */
extern int	sf_setting_slice_ms;
/* Seconds between scans of the due index if nothing wakes a worker */
extern int	sf_setting_poll_interval;
/* Bytes (as JSON text) that a payload may take */
extern int	sf_setting_max_payload_bytes;
/* Events that an execution's history may hold */
extern int	sf_setting_max_history_events;
/* Crashes while alone after which a step fails */
extern int	sf_setting_max_crashes;
/* A task is slow that runs longer than this many times the p95 of its runs */
extern int	sf_setting_slow_task_factor;
/* Milliseconds that one evaluation of an expression may take; 0: no limit */
extern int	sf_setting_evaluation_timeout_ms;
/* Evaluations that may be nested in one another in a JSONata expression */
extern int	sf_setting_evaluation_depth;

/* Whether executions that fail leave a line in the server's log */
extern bool sf_setting_log_failures;

/*
 * Quotas per owner of machines; 0 means no limit.  ALTER ROLE … SET changes
 * them for one owner.  In a session these variables may have the values of the
 * session's own role; the values of an owner come from store/quota.h.
 */
extern int	sf_setting_max_executions_per_owner;	/* that run at once */
extern int	sf_setting_max_starts_per_owner;	/* per minute */
extern int	sf_setting_max_transitions; /* of one execution */

/* The values of the server's configuration, without those of roles and sessions */
typedef struct SfQuotas
{
	int			executions;
	int			starts;
	int			transitions;
} SfQuotas;
extern SfQuotas sf_server_quotas;

extern void sf_settings_define(void);

#endif							/* SF_BASE_SETTINGS_H */
