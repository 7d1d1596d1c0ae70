/*
 * sequence.h
 *		The sequences that number machines, executions, branches, activities.
 */
#ifndef SF_STORE_SEQUENCE_H
#define SF_STORE_SEQUENCE_H

extern void sf_sequence_pass_rows(void);

extern const char *sf_sequence_behind(bool quick);
extern bool sf_sequence_is_astray(void);

#endif							/* SF_STORE_SEQUENCE_H */
