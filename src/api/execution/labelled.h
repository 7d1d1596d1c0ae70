/*
 * labelled.h
 *		Functions of many executions, of those with labels: the feature label calls them.
 *
 * Each takes the arguments of the SQL function of its name, without the labels, and puts rows into the result of
 * the call.
 */
#ifndef SF_API_LABELLED_H
#define SF_API_LABELLED_H

#include "fmgr.h"

#include "store/execution/execution_list.h"

/* Most arguments of one of them */
#define SF_LABELLED_MAX_ARGS	11

extern void sf_labelled_list(FunctionCallInfo fcinfo, const SfLabelled *labelled);
extern void sf_labelled_redrive(FunctionCallInfo fcinfo, const Jsonb *labels);
extern void sf_labelled_stop(FunctionCallInfo fcinfo, const Jsonb *labels);

#endif							/* SF_API_LABELLED_H */
