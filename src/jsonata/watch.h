/*
 * watch.h
 *		Regular expressions within the time limit of an evaluation.
 */
#ifndef SF_JSONATA_WATCH_H
#define SF_JSONATA_WATCH_H

#include "jsonata/eval.h"
#include "regex/regex.h"

/*
 * Search the decoded subject of ev from a code point on; a code of
 * regex/regex.h.  Throws U1002 when the time is up.
 */
extern int	sf_jn_regexec(SfJnEval *ev, regex_t *re, size_t from, int nmatch,
						  regmatch_t *match);

#endif							/* SF_JSONATA_WATCH_H */
