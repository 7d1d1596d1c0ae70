/*
 * sequences.h
 *		The sequences that number machines, executions, branches, activities.
 */
#ifndef SF_COPY_SEQUENCES_H
#define SF_COPY_SEQUENCES_H

extern void sf_numbers_pass_rows(void);

extern const char *sf_numbers_behind(bool quick);
extern bool sf_numbers_are_astray(void);

#endif							/* SF_COPY_SEQUENCES_H */
