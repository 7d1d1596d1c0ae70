/*
 * backoff.h
 *		The time to wait before another attempt.
 */
#ifndef SF_BASE_BACKOFF_H
#define SF_BASE_BACKOFF_H

extern int	sf_backoff_ms(int n, int base_ms, int limit_ms);
extern int	sf_backoff_doubled_ms(int failures);

#endif							/* SF_BASE_BACKOFF_H */
