/*
 * probes_page.h
 *		Pages for programs that watch the gateway and the workflows.
 */
#ifndef SFG_PROBES_PAGE_H
#define SFG_PROBES_PAGE_H

#include "gateway/http_request.h"

extern void sfg_healthz(SfgRequest *request);
extern void sfg_readyz(SfgRequest *request);
extern void sfg_metrics(SfgRequest *request);
extern void sfg_not_ready(void);

#endif							/* SFG_PROBES_PAGE_H */
