/*
 * origin.c
 *		The innermost origin of what happens in this backend.
 */
#include "postgres.h"

#include "run/task/origin.h"

static const SfOrigin session = {.kind = SF_ORIGIN_SESSION};

const SfOrigin *sf_origin_innermost = &session;
