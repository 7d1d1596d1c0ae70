/*
 * redrive_items.h
 *		Run again what has failed in a Distributed Map.
 */
#ifndef SF_RUN_REDRIVE_ITEMS_H
#define SF_RUN_REDRIVE_ITEMS_H

#include "store/execution/execution.h"

extern int	sf_redrive_tolerated(SfExecution *execution, int64 item_execution_no,
								 char **from);

/*
 * Lock and redrive the i-th item execution of a run; returns it and the status that it had, or NULL
 * if it is not redriven.
 */
typedef const SfExecution *(*SfRedriveItem) (int i, SfStatus *before, void *arg);

extern int	sf_redrive_items(SfExecution *parent, int64 map_run_no, int n,
							 SfRedriveItem redrive, void *arg);

#endif							/* SF_RUN_REDRIVE_ITEMS_H */
