/*
 * driver.c
 *		Storage of what driver.h declares.
 */
#include "postgres.h"

#include "run/task/driver.h"

SfTaskDriver sf_driver;

static const SfOrigin session = {.kind = SF_ORIGIN_SESSION};

const SfOrigin *sf_driver_origin = &session;
