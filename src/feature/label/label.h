/*
 * label.h
 *		Labels of executions: names with values, by which executions are found.
 *
 * They stand twice: as an object in the row of the execution, and as one row of _sfflow.label for each, to be found by.
 * An execution without labels has null there and no row.
 */
#ifndef SF_FEATURE_LABEL_H
#define SF_FEATURE_LABEL_H

#include "store/execution/execution.h"

/* Labels of an execution, characters of a name and of a value, at most */
#define SF_MAX_LABELS		16
#define SF_MAX_LABEL_NAME	64
#define SF_MAX_LABEL_VALUE	256

/* A label */
typedef struct SfLabel
{
	char	   *name;
	char	   *value;
} SfLabel;

/* --- label_set.c --- */

extern bool sf_label_check_name(const char *name, int len, SfError *error);
extern bool sf_label_merge(const Jsonb *labels, const Jsonb *changes, Jsonb **result, SfError *error);

/* --- label_option.c --- */

extern void *sf_label_compile_options(const Jsonb *options, const SfProgram *program);
extern bool sf_label_eval(SfExecution *execution, const void *option, SfError *error);
extern Jsonb *sf_label_of_items(const SfExecution *parent, const void *option);

/* --- label_rows.c --- */

extern void sf_label_insert_rows(const SfExecution *execution);
extern void sf_label_replace_rows(const SfExecution *execution, const Jsonb *before);
extern struct SfLabelled sf_label_wanted(const Jsonb *labels);

#endif							/* SF_FEATURE_LABEL_H */
