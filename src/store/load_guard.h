/*
 * load_guard.h
 *		Noticing rows that come into the tables by other ways than sfflow.
 */
#ifndef SF_STORE_LOAD_GUARD_H
#define SF_STORE_LOAD_GUARD_H

/* Tell whether the triggers that notice are as they were made. */
extern bool sf_load_guard_is_on(void);

/* Rows were inserted, not by sfflow: what the triggers call. */
extern void sf_load_guard_note(void);

/* Enable them again. */
extern void sf_load_guard_restore(void);

/* Have rows noticed that a subscription brings; once, when preloaded. */
extern void sf_load_guard_init(void);

#endif							/* SF_STORE_LOAD_GUARD_H */
