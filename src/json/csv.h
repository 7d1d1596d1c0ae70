/*
 * csv.h
 *		Read comma-separated values (RFC 4180) from memory.
 */
#ifndef SF_JSON_CSV_H
#define SF_JSON_CSV_H

#include "nodes/pg_list.h"

typedef struct SfCsv
{
	const char *pos;			/* the next row begins here */
	const char *end;
	char		delimiter;
	bool		is_unclosed;	/* a quoted field had no end */
} SfCsv;

extern bool sf_csv_next(SfCsv *csv, List **fields);

#endif							/* SF_JSON_CSV_H */
