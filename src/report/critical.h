/*
 * critical.h
 *		The critical path of each net of a program.
 */
#ifndef SF_REPORT_CRITICAL_H
#define SF_REPORT_CRITICAL_H

#include "graph/graph.h"

/* Of each scope, whether it is a job on the critical path of its net, and which one comes before */
typedef struct SfCritical
{
	bool		on;
	int			after;			/* scope of the job before; -1: it is the first */
} SfCritical;

extern SfCritical *sf_critical_find(const SfProgram *program, List *usual,
									const SfGraphFacts *facts);

#endif							/* SF_REPORT_CRITICAL_H */
