/*
 * transfer.h
 *		libcurl in the event loop.
 */
#ifndef SFW_TRANSFER_H
#define SFW_TRANSFER_H

#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075500
#error "libcurl 7.85 or later is needed"
#endif

/* Called when a transfer has ended, in a turn of the loop; it may end or free the handle. */
typedef void (*SfwTransferDone) (void *arg, CURLcode code);

extern void sfw_transfer_init(void);
extern void sfw_transfer_begin(CURL *easy, SfwTransferDone done, void *arg);
extern void sfw_transfer_end(CURL *easy);

#endif							/* SFW_TRANSFER_H */
