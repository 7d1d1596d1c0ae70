/*
 * watch.h
 *		Regular expressions within the time limit of an evaluation.
 */
#ifndef SF_JSONATA_WATCH_H
#define SF_JSONATA_WATCH_H

#include "jsonata/eval.h"
#include "regex/regex.h"

extern int	sf_jn_regexec(SfJnEval *ev, regex_t *re, size_t from, int nmatch,
						  regmatch_t *match);

#endif							/* SF_JSONATA_WATCH_H */
