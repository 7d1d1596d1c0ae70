/*
 * console_call.h
 *		Actions of the console.
 */
#ifndef SFG_CONSOLE_CALL_H
#define SFG_CONSOLE_CALL_H

#include "gateway/http_request.h"

/* Before a call whose FROM is r: the setting holds until the transaction ends, and cannot be taken back in it. */
#define SFG_READ_ONLY \
	"WITH r AS MATERIALIZED (SELECT pg_catalog.set_config('transaction_read_only', 'on', true)) "

extern bool sfg_console_check(SfgRequest *request);
extern void sfg_console_api(SfgRequest *request);

#endif							/* SFG_CONSOLE_CALL_H */
