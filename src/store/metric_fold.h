/*
 * metric_fold.h
 *		Add increments to the tables of counters.
 */
#ifndef SF_STORE_METRIC_FOLD_H
#define SF_STORE_METRIC_FOLD_H

/* After so many increments of its own a worker folds without waiting for its next scan */
#define SF_METRIC_FOLD_AT	1000

extern bool sf_metric_is_to_fold(void);
extern bool sf_metric_fold(void);
extern void sf_metric_forget_horizon(void);

#endif							/* SF_STORE_METRIC_FOLD_H */
