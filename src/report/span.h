/*
 * span.h
 *		When an execution was in its states: a row per visit and attempt.
 */
#ifndef SF_REPORT_SPAN_H
#define SF_REPORT_SPAN_H

#include "graph/graph.h"
#include "store/status.h"

typedef struct SfSpan
{
	int			state;			/* number in the program of the execution's version */
	int			niterations;
	const int  *iterations;		/* Map indexes, outermost first */
	int			visit;			/* 1: the first one at this place */
	int			attempt;		/* of the visit */
	int			first_event;
	int			last_event;
	TimestampTz from;
	TimestampTz to;				/* DT_NOEND: it lasts */
	SfGraphStatus status;		/* running, success or failure */
} SfSpan;

extern List *sf_span_list(const SfStatusExecution *execution, const SfProgram *program);

#endif							/* SF_REPORT_SPAN_H */
