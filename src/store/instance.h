/*
 * instance.h
 *		Whether this copy of the database is the one that is driven (4.7).
 */
#ifndef SF_STORE_INSTANCE_H
#define SF_STORE_INSTANCE_H

typedef enum SfInstanceState
{
	SF_INSTANCE_DRIVEN,			/* the row is there, is ours and is enabled */
	SF_INSTANCE_DISABLED,		/* ours, switched off by sf_disable() */
	SF_INSTANCE_NEW,			/* no row, and no state machine: nothing to drive */
	SF_INSTANCE_RESTORED,		/* no row, but state machines: a restored dump */
	SF_INSTANCE_COPY			/* another database's row: a copy, or upgraded */
} SfInstanceState;

/* Read the state under the transaction's (or the active) snapshot. */
extern SfInstanceState sf_instance_state(void);

/* Say in one sentence why an installation in this state is (not) driven. */
extern const char *sf_instance_explain(SfInstanceState state);

/*
 * Adopt a new installation: call it before the first state machine is
 * inserted.  Does nothing unless the state is NEW; returns the state after.
 */
extern SfInstanceState sf_instance_check_or_adopt(void);

/* Adopt this copy, or have it driven no longer; asks no permission. */
extern void sf_instance_set(bool enabled);

#endif							/* SF_STORE_INSTANCE_H */
