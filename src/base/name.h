/*
 * name.h
 *		Names of state machines, executions, activities and schedules.
 */
#ifndef SF_BASE_NAME_H
#define SF_BASE_NAME_H

/* Longest name, in characters */
#define SF_NAME_MAX		80

extern void sf_name_check(const char *name, const char *what);

/* The same without an error. */
extern bool sf_name_is_valid(const char *name);

#endif							/* SF_BASE_NAME_H */
