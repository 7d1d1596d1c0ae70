/*
 * load_guard.h
 *		Notice rows that reach the tables by other ways than sfflow's own writes.
 */
#ifndef SF_COPY_LOAD_GUARD_H
#define SF_COPY_LOAD_GUARD_H

/* Are the triggers in the state in which they were made? */
extern bool sf_load_guard_is_on(void);

extern void sf_load_guard_restore(void);

extern void sf_load_guard_set_moving(bool moving);
extern bool sf_load_guard_is_moving(void);
extern void sf_load_guard_init(void (*stop) (const char *reason));

/* --- sequences.c: the sequences that number machines, executions, branches, activities --- */

extern void sf_sequences_pass_rows(void);

extern const char *sf_sequences_behind(bool quick);
extern bool sf_sequences_are_off(void);

#endif							/* SF_COPY_LOAD_GUARD_H */
