/*
 * log.h
 *		The log of a program: lines of text, or of JSON.
 */
#ifndef SFC_LOG_H
#define SFC_LOG_H

#include <stdbool.h>

typedef enum SfcLevel
{
	SFC_LOG_DEBUG,
	SFC_LOG_INFO,
	SFC_LOG_WARNING,
	SFC_LOG_ERROR
} SfcLevel;

extern bool sfc_log_set_level(const char *name);
extern bool sfc_log_set_format(const char *name);

/* Fields are pairs of strings (key, value) up to a NULL; a NULL value is left out. */
extern void sfc_log(SfcLevel level, const char *message,...) __attribute__((sentinel));

#endif							/* SFC_LOG_H */
