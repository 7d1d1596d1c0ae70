/*
 * driver.c
 *		Storage of what driver.h declares.
 */
#include "postgres.h"

#include "run/task/driver.h"

SfTaskDriver sf_driver;
SfOrigin	sf_driver_origin;
