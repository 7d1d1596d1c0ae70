/*
 * transfer.h
 *		libcurl in the event loop.
 */
#ifndef SFC_TRANSFER_H
#define SFC_TRANSFER_H

#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075500
#error "libcurl 7.85 or later is needed"
#endif

/* Called when a transfer has ended, in a turn of the loop; it may end or free the handle. */
typedef void (*SfcTransferDone) (void *arg, CURLcode code);

extern void sfc_transfer_init(void);
extern void sfc_transfer_begin(CURL *easy, SfcTransferDone done, void *arg);
extern void sfc_transfer_end(CURL *easy);

#endif							/* SFC_TRANSFER_H */
