/*
 * sequences.h
 *		The sequences that number machines, executions, branches, activities.
 */
#ifndef SF_COPY_SEQUENCES_H
#define SF_COPY_SEQUENCES_H

extern void sf_sequences_pass_rows(void);

extern const char *sf_sequences_behind(bool quick);
extern bool sf_sequences_are_off(void);

#endif							/* SF_COPY_SEQUENCES_H */
