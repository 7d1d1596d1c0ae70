/*
 * json_scan.h
 *		JSON that is known to be valid, read once from its beginning to its end.
 */
#ifndef SFG_JSON_SCAN_H
#define SFG_JSON_SCAN_H

#include "tools/client/json_text.h"

/* What is not read yet */
typedef struct SfgScan
{
	const char *at;
	const char *end;
} SfgScan;

extern SfgScan sfg_scan_begin(const char *text, size_t len);
extern char sfg_scan_peek(SfgScan *scan);
extern bool sfg_scan_enter(SfgScan *scan, char bracket);
extern bool sfg_scan_next(SfgScan *scan, SfcJson *key);
extern SfcJson sfg_scan_value(SfgScan *scan);

#endif							/* SFG_JSON_SCAN_H */
