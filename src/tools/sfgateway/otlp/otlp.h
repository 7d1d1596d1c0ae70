/*
 * otlp.h
 *		The exporter of traces to a collector of OpenTelemetry.
 */
#ifndef SFG_OTLP_H
#define SFG_OTLP_H

#include <stdbool.h>

#include "pqexpbuffer.h"

extern void sfg_otlp_start(void);
extern void sfg_otlp_drain(void);
extern bool sfg_otlp_is_idle(void);
extern void sfg_otlp_stop(void);
extern void sfg_otlp_put_metrics(PQExpBuffer metrics);

#endif							/* SFG_OTLP_H */
