/*
 * waiting.h
 *		What a running execution waits for, in a few words.
 */
#ifndef SF_REPORT_WAITING_H
#define SF_REPORT_WAITING_H

#include "asl/program.h"
#include "store/status.h"

extern char *sf_waiting_text(const SfProgram *program, List *branches,
							 TimestampTz now);

#endif							/* SF_REPORT_WAITING_H */
