/*
 * sequence.h
 *		The sequences that number machines, executions, branches, activities.
 */
#ifndef SF_STORE_SEQUENCE_H
#define SF_STORE_SEQUENCE_H

extern void sf_sequence_pass_rows(void);

extern const char *sf_sequence_behind(bool quick);

#endif							/* SF_STORE_SEQUENCE_H */
