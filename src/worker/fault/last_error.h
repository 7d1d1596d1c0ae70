/*
 * last_error.h
 *		The last error of a database's workers that no execution shows.
 */
#ifndef SF_WORKER_LAST_ERROR_H
#define SF_WORKER_LAST_ERROR_H

#include "worker/shared_memory/shared.h"

extern void sf_last_error_note(int sqlstate, const char *message);
extern void sf_last_error_watch_exit(void);
extern bool sf_last_error_read(SfLastError *out);

#endif							/* SF_WORKER_LAST_ERROR_H */
