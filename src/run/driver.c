/*
 * driver.c
 *		Storage of the struct declared in driver.h.
 */
#include "postgres.h"

#include "run/driver.h"

SfTaskDriver sf_driver;
