/*
 * program.h
 *		A compiled state machine: made once, never changed.
 *
 * All states of a definition, nested ones included, are in one array in
 * document order (depth first).  A branch's row names its state by the number
 * in this array, which stays the same: a version's definition never changes.
 * A "scope" is a list of states with a StartAt: the machine itself (scope 0),
 * each branch of a Parallel state, the processor of each Map state, each job of
 * a JobNet.
 *
 *		machine = scopes[0] -- states of scope 0
 *		              |
 *		   states[i].scopes[0..nscopes-1]   (Parallel: one per branch; Map: one;
 *											JobNet: one per job, by number)
 */
#ifndef SF_ASL_PROGRAM_H
#define SF_ASL_PROGRAM_H

#include "nodes/pg_list.h"

#include "base/time/duration.h"
#include "base/value/unlimited.h"
#include "expr/expr.h"

/* State types: symbol, name */
#define SF_STATE_TYPE_LIST(X) \
	X(PASS, "Pass") \
	X(TASK, "Task") \
	X(CHOICE, "Choice") \
	X(WAIT, "Wait") \
	X(SUCCEED, "Succeed") \
	X(FAIL, "Fail") \
	X(PARALLEL, "Parallel") \
	X(MAP, "Map") \
	X(JOBNET, "JobNet")

#define SF_STATE_TYPE_ENUM(sym, name) SF_STATE_##sym,
typedef enum SfStateType
{
	SF_STATE_TYPE_LIST(SF_STATE_TYPE_ENUM)
} SfStateType;

typedef enum SfFailureMode
{
	SF_FAILURE_ABORT,			/* a failing branch aborts its siblings */
	SF_FAILURE_DRAIN			/* siblings run on, to the join */
} SfFailureMode;

/*
 * A path field such as InputPath.  Absent and null differ: absent means "$",
 * null means {} (InputPath, OutputPath) or "discard" (ResultPath).
 */
typedef enum SfFieldKind
{
	SF_FIELD_ABSENT,
	SF_FIELD_NULL,
	SF_FIELD_LITERAL,			/* SfValueField only */
	SF_FIELD_PATH,				/* JSONPath or intrinsic function: expr */
	SF_FIELD_JSONATA			/* tmpl */
} SfFieldKind;

typedef struct SfPathField
{
	SfFieldKind kind;
	SfExpr	   *expr;			/* SF_FIELD_PATH */
	const char *text;			/* as written */
} SfPathField;

/* What a field of kind LITERAL has */
typedef enum SfLiteralKind
{
	SF_LITERAL_NUMBER,
	SF_LITERAL_STRING
} SfLiteralKind;

typedef struct SfLiteral
{
	SfLiteralKind kind;
	union
	{
		double		number;		/* integers exact to 2^53 */
		const char *string;
	};
} SfLiteral;

/*
 * A number (seconds, counts, percentages) or a string (Error, Cause, Timestamp):
 * literal, …Path, or JSONata.  Read what its kind has by sf_field_number(field)
 * and the like, which check the kind; only the compiler names the union's members.
 */
typedef struct SfValueField
{
	SfFieldKind kind;
	const char *text;			/* path as written, or expression without {% %} */
	union						/* ABSENT has nothing */
	{
		SfLiteral	literal;	/* SF_FIELD_LITERAL */
		SfExpr	   *expr;		/* SF_FIELD_PATH */
		SfTemplate *tmpl;		/* SF_FIELD_JSONATA */
	};
} SfValueField;

/* The literal of a field that is a number. */
static inline double
sf_field_number(const SfValueField *field)
{
	Assert(field->kind == SF_FIELD_LITERAL && field->literal.kind == SF_LITERAL_NUMBER);
	return field->literal.number;
}

/* The literal of a field that is a string. */
static inline const char *
sf_field_string(const SfValueField *field)
{
	Assert(field->kind == SF_FIELD_LITERAL && field->literal.kind == SF_LITERAL_STRING);
	return field->literal.string;
}

/* The path of a field. */
static inline SfExpr *
sf_field_expr(const SfValueField *field)
{
	Assert(field->kind == SF_FIELD_PATH);
	return field->expr;
}

/* The JSONata of a field. */
static inline SfTemplate *
sf_field_template(const SfValueField *field)
{
	Assert(field->kind == SF_FIELD_JSONATA);
	return field->tmpl;
}

typedef enum SfJitter
{
	SF_JITTER_NONE,
	SF_JITTER_FULL
} SfJitter;

typedef struct SfRetrier
{
	int			nerrors;
	const char **errors;		/* ErrorEquals */
	double		interval_seconds;	/* default 1 */
	int			max_attempts;	/* default 3; 0: never */
	double		backoff_rate;	/* default 2.0 */
	double		max_delay_seconds;	/* 0: no limit */
	SfJitter	jitter;
} SfRetrier;

typedef struct SfCatcher
{
	int			nerrors;
	const char **errors;
	int			next;			/* state number */
	const char *next_name;
	SfPathField result_path;	/* JSONPath */
	SfTemplate *output;			/* JSONata, or NULL */
	SfTemplate *assign;			/* or NULL */
} SfCatcher;

/*
 * Comparison operators of Choice (JSONPath): symbol, name, operand's type,
 * comparison.  Each but the Is… ones and StringMatches has a …Path form too.
 */
#define SF_COMPARISON_LIST(X) \
	X(STRING_EQUALS, "StringEquals", STRING, EQ, true) \
	X(STRING_LESS_THAN, "StringLessThan", STRING, LT, true) \
	X(STRING_GREATER_THAN, "StringGreaterThan", STRING, GT, true) \
	X(STRING_LESS_THAN_EQUALS, "StringLessThanEquals", STRING, LE, true) \
	X(STRING_GREATER_THAN_EQUALS, "StringGreaterThanEquals", STRING, GE, true) \
	X(STRING_MATCHES, "StringMatches", STRING, MATCHES, false) \
	X(NUMERIC_EQUALS, "NumericEquals", NUMERIC, EQ, true) \
	X(NUMERIC_LESS_THAN, "NumericLessThan", NUMERIC, LT, true) \
	X(NUMERIC_GREATER_THAN, "NumericGreaterThan", NUMERIC, GT, true) \
	X(NUMERIC_LESS_THAN_EQUALS, "NumericLessThanEquals", NUMERIC, LE, true) \
	X(NUMERIC_GREATER_THAN_EQUALS, "NumericGreaterThanEquals", NUMERIC, GE, true) \
	X(BOOLEAN_EQUALS, "BooleanEquals", BOOLEAN, EQ, true) \
	X(TIMESTAMP_EQUALS, "TimestampEquals", TIMESTAMP, EQ, true) \
	X(TIMESTAMP_LESS_THAN, "TimestampLessThan", TIMESTAMP, LT, true) \
	X(TIMESTAMP_GREATER_THAN, "TimestampGreaterThan", TIMESTAMP, GT, true) \
	X(TIMESTAMP_LESS_THAN_EQUALS, "TimestampLessThanEquals", TIMESTAMP, LE, true) \
	X(TIMESTAMP_GREATER_THAN_EQUALS, "TimestampGreaterThanEquals", TIMESTAMP, GE, true) \
	X(IS_NULL, "IsNull", ANY, IS, false) \
	X(IS_PRESENT, "IsPresent", ANY, IS, false) \
	X(IS_NUMERIC, "IsNumeric", ANY, IS, false) \
	X(IS_STRING, "IsString", ANY, IS, false) \
	X(IS_BOOLEAN, "IsBoolean", ANY, IS, false) \
	X(IS_TIMESTAMP, "IsTimestamp", ANY, IS, false)

#define SF_COMPARISON_ENUM(sym, name, type, cmp, has_path) SF_CMP_##sym,
typedef enum SfComparison
{
	SF_COMPARISON_LIST(SF_COMPARISON_ENUM)
} SfComparison;

typedef enum SfChoiceRuleKind
{
	SF_CHOICE_AND,
	SF_CHOICE_OR,
	SF_CHOICE_NOT,
	SF_CHOICE_COMPARE,			/* JSONPath comparison */
	SF_CHOICE_CONDITION			/* JSONata Condition */
} SfChoiceRuleKind;

/* AND, OR, NOT */
typedef struct SfRuleGroup
{
	int			nchildren;		/* AND, OR: any number; NOT: 1 */
	struct SfChoiceRule *children;
} SfRuleGroup;

/* COMPARE */
typedef struct SfRuleComparison
{
	SfComparison comparison;
	SfExpr	   *variable;
	JsonbValue	operand;		/* literal to compare with (own memory) … */
	SfExpr	   *operand_path;	/* … or its path (…Path forms), else NULL */
} SfRuleComparison;

/* CONDITION */
typedef struct SfRuleCondition
{
	SfTemplate *condition;
	const char *text;			/* its expression; NULL: none, a literal */
} SfRuleCondition;

/*
 * A rule.  Read what its kind has by sf_rule_group(rule) and the like, which
 * check the kind; only the compiler names the union's members.
 */
typedef struct SfChoiceRule
{
	SfChoiceRuleKind kind;
	union
	{
		SfRuleGroup group;
		SfRuleComparison compare;
		SfRuleCondition condition;
	};
	/* top-level rules only */
	int			next;			/* state number */
	const char *next_name;
	SfTemplate *assign;			/* or NULL */
	SfTemplate *output;			/* JSONata, or NULL */
} SfChoiceRule;

/* The rules inside And, Or or Not. */
static inline const SfRuleGroup *
sf_rule_group(const SfChoiceRule *rule)
{
	Assert(rule->kind == SF_CHOICE_AND || rule->kind == SF_CHOICE_OR || rule->kind == SF_CHOICE_NOT);
	return &rule->group;
}

/* The comparison of a rule. */
static inline const SfRuleComparison *
sf_rule_comparison(const SfChoiceRule *rule)
{
	Assert(rule->kind == SF_CHOICE_COMPARE);
	return &rule->compare;
}

/* The JSONata Condition of a rule. */
static inline const SfRuleCondition *
sf_rule_condition(const SfChoiceRule *rule)
{
	Assert(rule->kind == SF_CHOICE_CONDITION);
	return &rule->condition;
}

/* Resource of a Task (3.5 of the design) */
typedef enum SfResourceKind
{
	SF_RESOURCE_SQL_FUNCTION,	/* sql:schema.function; name = "schema.function" */
	SF_RESOURCE_SQL_QUERY,		/* sql:query */
	SF_RESOURCE_ACTIVITY,		/* name = the activity's name */
	SF_RESOURCE_EVENT,			/* name = the names of events, with commas between them */
	SF_RESOURCE_HUMAN,			/* name = the name of a worklist */
	SF_RESOURCE_START_EXECUTION,	/* nested executions */
	SF_RESOURCE_MAPPED			/* anything else: through sf_map_resource */
} SfResourceKind;

typedef enum SfIntegration
{
	SF_INTEGRATION_REQUEST_RESPONSE,
	SF_INTEGRATION_SYNC,		/* .sync */
	SF_INTEGRATION_SYNC2,		/* .sync:2 */
	SF_INTEGRATION_WAIT_FOR_TASK_TOKEN
} SfIntegration;

typedef struct SfResource
{
	SfResourceKind kind;
	SfIntegration integration;
	const char *text;			/* as written in Resource */
	const char *name;			/* see the kinds */
	const char *service;		/* resourceType of the events: "sql", "states",
								 * "lambda" … */
	const char *action;			/* resource of the events:
								 * "startExecution.sync:2" */
	const char *requested;		/* what a mapping runs it in place of: the Resource
								 * as written, or the function that a request
								 * names; NULL: nothing */
	const char *reads;			/* of an ItemReader: the type of what it reads; else NULL */
	const char *typed;			/* ... and its name, "#" and that type, as mappings have
								 * it; else NULL */
	List	   *event_names;	/* EVENT: char *, one or more */
} SfResource;

extern void sf_resource_parse(const char *text, SfResource *out);
extern void sf_resource_reads(SfResource *reader, const char *input_type,
							  const char *manifest_type);
extern bool sf_resource_reads_parquet(const SfResource *resource);
/* Does a feature run a resource, as something that the branch waits for? */
static inline bool
sf_resource_is_wait(const SfResource *resource)
{
	return resource->kind == SF_RESOURCE_EVENT || resource->kind == SF_RESOURCE_HUMAN;
}

extern const char *sf_resource_arn_part(const char *arn, int n);

struct SfProgram;

typedef struct SfScope
{
	int			number;
	int			owner_state;	/* Parallel, Map or JobNet state; SF_NO_STATE: the machine */
	int			branch_index;	/* which branch of a Parallel, which job of a
								 * JobNet; 0 for Map */
	int			start;			/* state number of StartAt */
	int			first;			/* states first..last in document order, nested
								 * ones included */
	int			last;
	int			context_use;	/* of its states, without those of inner Maps */
} SfScope;

/* What a transition of a state may need, beyond the row of its branch */
#define SF_NEED_EVENT_IDS	0x01	/* the last event id, for an error's text */
#define SF_NEED_CONTEXT		0x02	/* what stands in the context object */
#define SF_NEED_TOKEN		0x04	/* a task token */
#define SF_NEED_MAP_RUN		0x08	/* the run of a Distributed Map */
#define SF_NEED_ITEMS		0x10	/* ... its items that come next */
#define SF_NEED_RANDOM		0x20	/* a random number, for jitter */

/* SF_NEED_… of a state's transitions, as far as its definition tells */
typedef struct SfNeeds
{
	uint32		enter;			/* entering it, or doing it again */
	uint32		proceed;		/* beginning more of its children */
	uint32		leave;			/* when its task or its children have an outcome */
} SfNeeds;

/* --- what only one type of state has --- */

typedef struct SfPassState
{
	Jsonb	   *result;			/* Result, or NULL */
} SfPassState;

typedef struct SfTaskState
{
	SfResource	resource;
	SfTemplate *credentials;
	SfValueField timeout;		/* TimeoutSeconds(Path) */
	SfValueField heartbeat;		/* HeartbeatSeconds(Path) */
	int			max_concurrency;	/* over all executions, or SF_UNLIMITED */
	const char *concurrency_key;	/* path of the value that has it for itself; NULL: none */
} SfTaskState;

typedef struct SfChoiceState
{
	int			nrules;
	SfChoiceRule *rules;
	int			default_next;	/* state number, SF_NO_STATE: none */
	const char *default_name;	/* NULL: none */
} SfChoiceState;

typedef enum SfWaitKind
{
	SF_WAIT_SECONDS,
	SF_WAIT_TIMESTAMP
} SfWaitKind;

typedef struct SfWaitState
{
	SfWaitKind	kind;
	union						/* read it by sf_wait_seconds or sf_wait_timestamp */
	{
		SfValueField seconds;
		SfValueField timestamp;
	};
} SfWaitState;

/* Seconds of a Wait state that has them. */
static inline const SfValueField *
sf_wait_seconds(const SfWaitState *wait)
{
	Assert(wait->kind == SF_WAIT_SECONDS);
	return &wait->seconds;
}

/* Timestamp of a Wait state that has one. */
static inline const SfValueField *
sf_wait_timestamp(const SfWaitState *wait)
{
	Assert(wait->kind == SF_WAIT_TIMESTAMP);
	return &wait->timestamp;
}

typedef struct SfFailState
{
	SfValueField error;
	SfValueField cause;
} SfFailState;

/* What a Map state has in mode DISTRIBUTED only */
typedef struct SfDistributedMap
{
	const char *label;			/* NULL: none */
	SfResource *item_reader;	/* NULL: none */
	SfTemplate *item_reader_parameters;
	Jsonb	   *reader_config;	/* as written, or NULL */
	SfValueField max_items;
	Jsonb	   *item_batcher;	/* as written, or NULL */
	SfValueField max_items_per_batch;
	SfValueField max_input_bytes_per_batch;
	SfTemplate *batch_input;
	SfResource *result_writer;	/* NULL: none */
	SfTemplate *result_writer_parameters;
	Jsonb	   *writer_config;	/* as written, or NULL */
} SfDistributedMap;

typedef struct SfMapState
{
	SfPathField items_path;		/* JSONPath */
	SfTemplate *items;			/* JSONata Items … */
	const char *items_text;		/* … its expression, trimmed; NULL: an array */
	SfTemplate *item_selector;	/* ItemSelector, or Parameters as its old name */
	SfValueField max_concurrency;
	SfValueField tolerated_failure_count;	/* checked in mode INLINE, too */
	SfValueField tolerated_failure_percentage;
	SfDistributedMap *distributed;	/* NULL: mode INLINE */
} SfMapState;

/* How a job ends: bits, for the sets of On, which are an int */
typedef enum SfNetJobEnd
{
	SF_NET_JOB_END_NONE = 0,	/* it has not ended */
	SF_NET_JOB_END_SUCCESS = 0x1,
	SF_NET_JOB_END_FAILURE = 0x2,
	SF_NET_JOB_END_SKIP = 0x4
} SfNetJobEnd;

/* The set of all */
#define SF_NET_JOB_END_ANY	(SF_NET_JOB_END_SUCCESS | SF_NET_JOB_END_FAILURE | SF_NET_JOB_END_SKIP)

/* One job waits for another one */
typedef struct SfNetJobLink
{
	int			job;			/* its number; in after: of what comes before; in
								 * followers: of what comes after */
	int			on;				/* the ends of the earlier job that the later one needs */
} SfNetJobLink;

/*
 * A job of a JobNet.  Jobs are numbered from 0 on in this order: the one that begins first when
 * several are ready, which is by Priority, then by their order in the definition.
 */
typedef struct SfNetJob
{
	const char *name;
	int			scope;			/* of one state, or of a flow of states */
	int			priority;
	int			nafter;
	SfNetJobLink *after;
	int			nfollowers;
	SfNetJobLink *followers;
	SfChoiceRule *condition;	/* NULL: none */
	SfQueryLanguage language;	/* of the condition */
	int			context_use;	/* ... what it looks at of the context object */
	bool		uses_any;		/* $$.Jobs: a state looks at jobs that are not named */
	int			nuses;			/* ... at the jobs with these numbers, else */
	int		   *uses;
} SfNetJob;

typedef struct SfJobNetState
{
	int			njobs;			/* also the number of the state's scopes */
	SfNetJob   *jobs;			/* by number */
	int		   *order;			/* numbers, each after those that it waits for */
	SfValueField max_concurrency;
} SfJobNetState;

/*
 * A state.  Read the part of its type by sf_state_task(state) and the like,
 * which check the type; only the compiler names the union's members.
 */
typedef struct SfState
{
	int			number;
	SfStateType type;
	const char *name;
	const char *pointer;		/* JSON pointer of the state in the definition */
	int			scope;
	SfQueryLanguage language;
	int			next;			/* state number, SF_NO_STATE: none (End, Succeed, Fail) */
	const char *next_name;		/* NULL: none */
	bool		end;

	/* data flow */
	SfPathField input_path;
	SfPathField output_path;
	SfPathField result_path;	/* path is a reference path */
	SfTemplate *parameters;		/* Parameters (JSONPath), Arguments (JSONata) */
	SfTemplate *result_selector;
	SfTemplate *output;			/* JSONata */
	SfTemplate *assign;

	SfNeeds		needs;
	int			context_use;	/* what it looks at of the context object, in a
								 * catcher too (SF_CONTEXT_…) */

	int			nretriers;
	SfRetrier  *retriers;
	int			ncatchers;
	SfCatcher  *catchers;

	/* Parallel, Map, JobNet */
	SfFailureMode failure_mode;
	int			nscopes;		/* other types: 0 */
	int		   *scopes;			/* scope numbers */

	union						/* Succeed and Parallel have no part of their own */
	{
		SfPassState pass;
		SfTaskState task;
		SfChoiceState choice;
		SfWaitState wait;
		SfFailState fail;
		SfMapState	map;
		SfJobNetState net;
	};
} SfState;

/* sf_state_pass(state), sf_state_task(state) …: the part that its type has */
#define SF_STATE_PART(TYPE, part_type, part) \
	static inline const part_type * \
	sf_state_##part(const SfState *state) \
	{ \
		Assert(state->type == SF_STATE_##TYPE); \
		return &state->part; \
	}
SF_STATE_PART(PASS, SfPassState, pass)
SF_STATE_PART(TASK, SfTaskState, task)
SF_STATE_PART(CHOICE, SfChoiceState, choice)
SF_STATE_PART(WAIT, SfWaitState, wait)
SF_STATE_PART(FAIL, SfFailState, fail)
SF_STATE_PART(MAP, SfMapState, map)
SF_STATE_PART(JOBNET, SfJobNetState, net)

/* Tell whether a state is a Map in mode DISTRIBUTED. */
static inline bool
sf_state_is_distributed(const SfState *state)
{
	return state->type == SF_STATE_MAP && state->map.distributed != NULL;
}

/* The part of a Map state in mode DISTRIBUTED. */
static inline const SfDistributedMap *
sf_state_distributed(const SfState *state)
{
	Assert(sf_state_is_distributed(state));
	return state->map.distributed;
}

/* Tell whether a state has children: branches, iterations or jobs. */
static inline bool
sf_state_has_children(const SfState *state)
{
	return state->type == SF_STATE_PARALLEL || state->type == SF_STATE_MAP ||
		state->type == SF_STATE_JOBNET;
}

/* Is a state a Task that is answered by its token (.waitForTaskToken)? */
static inline bool
sf_state_awaits_token(const SfState *state)
{
	return state->type == SF_STATE_TASK &&
		state->task.resource.integration == SF_INTEGRATION_WAIT_FOR_TASK_TOKEN;
}

/* Is a state a Task that waits for the end of what its resource starts (.sync)? */
static inline bool
sf_state_is_sync(const SfState *state)
{
	return state->type == SF_STATE_TASK &&
		(state->task.resource.integration == SF_INTEGRATION_SYNC ||
		 state->task.resource.integration == SF_INTEGRATION_SYNC2);
}

typedef struct SfProgram
{
	MemoryContext context;		/* holds everything below, this struct included */
	const char *comment;
	SfQueryLanguage language;
	int			timeout_seconds;	/* of the machine, or SF_NO_TIMEOUT */
	SfFailureMode failure_mode;
	int			nstates;
	SfState    *states;
	int			nscopes;
	SfScope    *scopes;
} SfProgram;

/*
 * Where the number of a state may stand: there is none.  As the next of a state: it ends its scope; of an event: it is
 * of the execution as a whole; of a search: it found nothing.
 */
#define SF_NO_STATE		(-1)

/* Where the number of a job in its net may stand: there is none */
#define SF_NO_JOB		(-1)

/* Where the number of a scope may stand: there is none */
#define SF_NO_SCOPE		(-1)

/* Is there a state with a number?  Rows and events may have one of another version. */
static inline bool
sf_program_has_state(const SfProgram *program, int state)
{
	return state >= 0 && state < program->nstates;
}

/* --- parse and validate --- */

typedef enum SfSeverity
{
	SF_SEVERITY_ERROR,
	SF_SEVERITY_WARNING
} SfSeverity;

typedef struct SfDiagnostic
{
	SfSeverity	severity;
	const char *code;			/* SCHEMA_VALIDATION_FAILED … */
	const char *location;		/* JSON pointer, or NULL */
	const char *message;
	int			position;		/* byte offset in the text, for sorting */
	int			sequence;		/* order of those at the same position */
} SfDiagnostic;

extern const char *sf_severity_name(SfSeverity severity);	/* "ERROR" */
extern bool sf_diagnostics_have_error(const List *diagnostics);

extern char *sf_diagnostics_print(const List *diagnostics);
extern SfProgram *sf_asl_compile(const char *text, int len,
								 MemoryContext parent, List **diagnostics);

/*
 * Return why a resource cannot run here, if that is known beforehand, or NULL.
 * function is the constant FunctionName in its Parameters or Arguments, or
 * NULL; for_items: it reads the items of a Map, or writes its results.
 */
typedef char *(*SfResourceProbe) (const SfResource *resource,
								  const char *function, bool for_items);

/*
 * Return why a service has no resource of that name, or NULL.  all: also where its
 * action is not known; else only where that is known, but not with this pattern (.sync).
 */
typedef char *(*SfResourceKnown) (const SfResource *resource, bool for_items, bool all);

/* What a validation looks for, besides errors */
typedef struct SfValidation
{
	SfResourceProbe probe;		/* NULL: do not ask whether resources can run here */
	SfResourceKnown is_known;	/* NULL: do not ask whether services have them */
	bool		strict;			/* what no service has, or never fits, is an error */
	bool		service_quotas; /* warn of what is too large for Step Functions */
} SfValidation;

extern List *sf_asl_validate(const char *text, int len, const SfValidation *how);
extern SfProgram *sf_asl_compile_state(const char *text, int len,
									   const char *state_name,
									   MemoryContext parent,
									   int *state_number, List **diagnostics);
extern const char *sf_state_type_name(SfStateType type);
extern bool sf_asl_has_unknown_type(const char *text, int len, const char *state_name);
extern int	sf_program_find_state(const SfProgram *program, const char *name);

/* --- how the jobs of a net have ended: an SfNetJobEnd by number --- */

extern int	sf_asl_net_job_undone(const SfNetJob *job, const char *ends, bool *unmet);

#endif							/* SF_ASL_PROGRAM_H */
