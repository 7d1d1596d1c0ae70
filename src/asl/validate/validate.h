/*
 * validate.h
 *		What the files of the validator share.  Private to src/asl.
 */
#ifndef SF_ASL_VALIDATE_H
#define SF_ASL_VALIDATE_H

#include "asl/program.h"
#include "asl/tree/tree.h"
#include "asl/validate/fields.h"

/* Definitions longer than this are refused (Step Functions: 1 MB) */
#define SF_DEFINITION_BYTES_MAX (2 * 1024 * 1024)

/* Diagnostics that are kept; a longer list is of no use */
#define SF_DIAGNOSTICS_MAX 1000

#define SF_NAME_LENGTH_MAX 80	/* characters of a state's or variable's name */
#define SF_LABEL_LENGTH_MAX 40

#define SF_CODE_SCHEMA "SCHEMA_VALIDATION_FAILED"
#define SF_CODE_JSON "INVALID_JSON_DESCRIPTION"
#define SF_CODE_TARGET "MISSING_TRANSITION_TARGET"
#define SF_CODE_END "MISSING_END_STATE"
#define SF_CODE_DUPLICATE "DUPLICATE_STATE_NAME"
#define SF_CODE_STATE_NAME "INVALID_STATE_NAME"
#define SF_CODE_JOB_CYCLE "JOB_CYCLE"
#define SF_CODE_JOB_NEVER_RUNS "JOB_NEVER_RUNS"
#define SF_CODE_LABEL "INVALID_LABEL_NAME"
#define SF_CODE_DUPLICATE_LABEL "DUPLICATE_LABEL_NAME"
#define SF_CODE_VARIABLE "INVALID_VARIABLE_NAME"
#define SF_CODE_RESERVED_VARIABLE "RESERVED_VARIABLE_NAME"
/* of warnings, which Step Functions does not have */
#define SF_CODE_ONLY_SFFLOW "SFFLOW_ONLY_FIELD"
#define SF_CODE_NEVER_MATCHES "ERROR_NAME_NEVER_MATCHES"
#define SF_CODE_RESOURCE "RESOURCE_DOES_NOT_EXIST"
#define SF_CODE_NO_EFFECT "FIELD_WITHOUT_EFFECT"
#define SF_CODE_QUOTA "SERVICE_QUOTA_EXCEEDED"

/* Quotas of Step Functions that sfflow does not have */
#define SF_QUOTA_PAYLOAD_BYTES		(256 * 1024)
#define SF_QUOTA_DEFINITION_BYTES	(1024 * 1024)

typedef struct SfField
{
	SfShape		shape;
	const char *name;
	SfValueKind value;
	int			languages;
	int			states;
	int			flags;
	double		min;
	double		max;
	const char *words;
} SfField;

/* One validation, from text to diagnostics */
typedef struct SfValidator
{
	const char *text;
	bool		lone_state;		/* one state by itself: targets may be missing */
	List	   *diagnostics;
	List	   *scopes;			/* SfTreeNode: each States, in order */
	List	   *nets;			/* SfTreeNode: each Jobs */
	List	   *labels;			/* SfTreeNode: each Label */
	List	   *problems;		/* char *: what was said of resources */
	List	   *raised;			/* char *: names that Fail states raise, sorted */
	bool		knows_raised;	/* ... they have been collected */
	SfValidation how;
	SfQueryLanguage machine_language;
	/* of the state that is being looked at */
	SfQueryLanguage language;
	SfStateType state_type;
	bool		distributed;	/* it is a Map in DISTRIBUTED mode */
	bool		is_job;			/* it is a job of a JobNet */
} SfValidator;

/* --- diagnostics.c --- */

extern void sf_validate_add(SfValidator *validator, SfSeverity severity, const SfTreeNode *at,
							const char *location, const char *code,
							const char *message);
extern void sf_validate_report(SfValidator *validator, SfSeverity severity, const SfTreeNode *at,
							   const char *code, const char *fmt,...) pg_attribute_printf(5, 6);

/* Report an error (at NULL: without a location), or a warning. */
#define sf_validate_error(c, at, code, ...) \
	sf_validate_report(c, SF_SEVERITY_ERROR, at, code, __VA_ARGS__)
#define sf_validate_warning(c, at, code, ...) \
	sf_validate_report(c, SF_SEVERITY_WARNING, at, code, __VA_ARGS__)

/* Report what a strict check refuses: an error there, else a warning. */
#define sf_validate_strictly(c, at, code, ...) \
	sf_validate_report(c, (c)->how.strict ? SF_SEVERITY_ERROR : SF_SEVERITY_WARNING, at, code, __VA_ARGS__)

extern void sf_validate_error_at(SfValidator *validator, const SfTreeNode *at,
								 const char *location, const char *code,
								 const char *message);
/* "Expected value of type [STRING]" unless the value is of the kind. */
extern bool sf_validate_kind(SfValidator *validator, const SfTreeNode *value, SfTreeNodeKind kind);
extern List *sf_diagnostics_sort(List *diagnostics);

/* --- validate.c --- */

extern void sf_validate_object(SfValidator *validator, const SfTreeNode *object, SfShape shape,
							   int states);
extern SfQueryLanguage sf_asl_language(const SfTreeNode *object,
									   SfQueryLanguage inherited);
extern bool sf_asl_is_distributed(const SfTreeNode *map);
extern bool sf_asl_is_jsonata(const SfTreeNode *value, SfQueryLanguage language);
extern SfTreeNode *sf_asl_check(const char *text, int len, const SfValidation *how,
								List **diagnostics);

/* The same for one state by itself, as a machine that has only this state. */
#define SF_LONE_STATE_NAME "StateName"
extern SfTreeNode *sf_asl_check_state(const char *text, int len, List **diagnostics);

/* --- validate_values.c, validate_states.c, validate_choice.c: the kinds of values --- */

#define SF_VALUE_DECLARE(sym, function, expected, or_jsonata) \
	extern void sf_validate_##function(SfValidator *validator, const SfTreeNode *value, const SfField *field);
SF_VALUE_LIST(SF_VALUE_DECLARE)

/* A row of SF_VALUE_LIST */
typedef struct SfValueInfo
{
	void		(*check) (SfValidator *validator, const SfTreeNode *value, const SfField *field);
	int			expected;
	bool		or_jsonata;
} SfValueInfo;

extern const SfValueInfo sf_validate_values[]; /* by SfValueKind */

extern void sf_validate_runs(SfValidator *validator, const SfTreeNode *at,
							 const SfResource *resource, bool for_items);
extern bool sf_asl_find_state_type(const char *name, SfStateType *type);
extern void sf_validate_state(SfValidator *validator, const SfTreeNode *state, int kind);
extern void sf_validate_state_name(SfValidator *validator, const SfTreeNode *state);

/* What the literal operand of a comparison is: the list's third column */
typedef enum SfOperandType
{
	SF_OPERAND_STRING,
	SF_OPERAND_NUMERIC,
	SF_OPERAND_BOOLEAN,
	SF_OPERAND_TIMESTAMP,
	SF_OPERAND_ANY				/* of IsNull and the like: a boolean */
} SfOperandType;

extern SfOperandType sf_asl_operand_type(SfComparison comparison);
extern bool sf_asl_find_comparison(const char *name, SfComparison *comparison,
								   bool *is_path);

/* --- validate_net.c --- */

extern int	sf_asl_link_ends(const SfTreeNode *link);
extern const SfTreeNode *sf_asl_link_net_job(const SfTreeNode *link);
extern void sf_validate_net(SfValidator *validator, const SfTreeNode *jobs);
extern void sf_validate_no_jobs(SfValidator *validator, const SfTreeNode *root);

/* --- net_job_uses.c --- */

/*
 * Called with a text, and the name of the job that it looks at; NULL: any.  of_jobs: it
 * surely looks at jobs, not at all of the context object, for example.
 */
typedef void (*SfNetJobUse) (void *arg, const SfTreeNode *at, bool of_jobs, const char *name);

extern void sf_asl_net_job_uses(const SfTreeNode *node, SfNetJobUse use, void *arg);
extern void sf_asl_net_job_uses_outside(const SfTreeNode *node, bool in_job, SfNetJobUse use, void *arg);

/* --- validate_flow.c --- */

extern void sf_validate_flow(SfValidator *validator);

#endif							/* SF_ASL_VALIDATE_H */
