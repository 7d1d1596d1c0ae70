/*
 * minor.h
 *		Symbols of minor releases of PostgreSQL.  The Makefile includes this in every file.
 *
 * Inline functions in the headers of a minor release may call what the servers of earlier ones do not have.  Such a
 * server could not load the library, and would not start, with the name of a symbol for a reason.  Where the symbol
 * is weak it loads, and _PG_init() says what is wrong.
 */
#ifndef SF_BASE_MINOR_H
#define SF_BASE_MINOR_H

/* called by heap_getattr() of 15.20 and its contemporaries */
#pragma weak heap_datum_check
#pragma weak DatumGetHeapTupleHeader

#endif							/* SF_BASE_MINOR_H */
