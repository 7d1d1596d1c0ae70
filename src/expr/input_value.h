/*
 * input_value.h
 *		A value that an option of a state machine takes from the input of an execution.
 */
#ifndef SF_EXPR_INPUT_VALUE_H
#define SF_EXPR_INPUT_VALUE_H

#include "expr/expr.h"

typedef struct SfInputValue SfInputValue;

extern SfInputValue *sf_input_value_compile(const JsonbValue *text, bool is_jsonata, const char **problem);
extern bool sf_input_value_find(const SfInputValue *source, Jsonb *input, Jsonb **value, SfError *error);

#endif							/* SF_EXPR_INPUT_VALUE_H */
