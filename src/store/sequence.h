/*
 * sequence.h
 *		The sequences that number machines, executions, branches, activities.
 */
#ifndef SF_STORE_SEQUENCE_H
#define SF_STORE_SEQUENCE_H

/*
 * Have every sequence go on after the largest number in its tables, and every
 * session forget the numbers that it has drawn in advance.
 */
extern void sf_sequence_pass_rows(void);

/*
 * Tell whether a sequence is behind its tables; NULL, or a sentence about the
 * first one.  With quick, only of those for which an index knows.
 */
extern const char *sf_sequence_behind(bool quick);

#endif							/* SF_STORE_SEQUENCE_H */
