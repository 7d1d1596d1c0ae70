/*
 * backoff.h
 *		How long to wait before something is tried again.
 */
#ifndef SF_BASE_BACKOFF_H
#define SF_BASE_BACKOFF_H

/*
 * Milliseconds to wait before the nth (from 1) further attempt: any time up to
 * base · 2^n, and up to limit.  Two processes that met once would meet again if
 * both waited for about as long.
 */
extern int	sf_backoff_ms(int n, int base_ms, int limit_ms);

/* Milliseconds to pause after so many failures in a row: a second, doubled up to a minute. */
extern int	sf_backoff_doubled_ms(int failures);

#endif							/* SF_BASE_BACKOFF_H */
