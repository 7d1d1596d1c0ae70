/*
 * framing.h
 *		Refuse requests whose framing two programs may read in two ways.
 */
#ifndef SFG_FRAMING_H
#define SFG_FRAMING_H

#include <microhttpd.h>

extern const char *sfg_framing_problem(struct MHD_Connection *connection, const char *method, const char *version);

#endif							/* SFG_FRAMING_H */
