/*
 * test_context.h
 *		The context object that sf_test_state() is given.
 */
#ifndef SF_TEST_CONTEXT_H
#define SF_TEST_CONTEXT_H

#include "asl/program.h"

extern const char *sf_test_context_check(const Jsonb *context, const SfState *state);

#endif							/* SF_TEST_CONTEXT_H */
