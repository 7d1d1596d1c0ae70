/*
 * yield.h
 *		Have a worker leave its processor to processes that wait for one.
 */
#ifndef SF_BASE_YIELD_H
#define SF_BASE_YIELD_H

/* Have this process yield from now on; until then sf_yield() does nothing. */
extern void sf_yield_enable(void);

/*
 * Let another process have the processor, if one waits for it.  To be called every few
 * microseconds of work, where no lock of a buffer and no LWLock is held.
 */
extern void sf_yield(void);

#endif							/* SF_BASE_YIELD_H */
