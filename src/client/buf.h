/*
 * buf.h
 *		Memory that does not run out quietly, and strings that grow.
 */
#ifndef SFW_BUF_H
#define SFW_BUF_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that grow; data is NULL or ends in a NUL that len does not count. */
typedef struct SfwBuf
{
	char	   *data;
	size_t		len;
	size_t		size;
} SfwBuf;

extern void *sfw_alloc(size_t size);
extern void *sfw_realloc(void *old, size_t size);
extern char *sfw_strdup(const char *text);
extern char *sfw_strndup(const char *text, size_t len);
extern char *sfw_format(const char *fmt,...) __attribute__((format(printf, 1, 2)));

extern void sfw_buf_append(SfwBuf *buf, const void *data, size_t len);
extern void sfw_buf_puts(SfwBuf *buf, const char *text);
extern void sfw_buf_putc(SfwBuf *buf, char c);
extern void sfw_buf_printf(SfwBuf *buf, const char *fmt,...) __attribute__((format(printf, 2, 3)));
extern char *sfw_buf_take(SfwBuf *buf);
extern void sfw_buf_free(SfwBuf *buf);

extern size_t sfw_utf8_length(const char *p, const char *end);
extern char *sfw_utf8_repair(const char *text, size_t len);
extern size_t sfw_utf8_clip(const char *text, size_t len);

#endif							/* SFW_BUF_H */
