/*
 * log.h
 *		The worker's log: lines of text, or of JSON.
 */
#ifndef SFW_LOG_H
#define SFW_LOG_H

#include <stdbool.h>

typedef enum SfwLevel
{
	SFW_DEBUG,
	SFW_INFO,
	SFW_WARNING,
	SFW_ERROR
} SfwLevel;

extern bool sfw_log_set_level(const char *name);
extern bool sfw_log_set_format(const char *name);

/* Fields are pairs of strings (key, value) up to a NULL; a NULL value is left out. */
extern void sfw_log(SfwLevel level, const char *message,...) __attribute__((sentinel));

#endif							/* SFW_LOG_H */
