/*
 * access.h
 *		Read and write the private tables as their owner, through SPI.
 *
 * The caller of an SQL function has no rights on the tables in _sfflow; the
 * function checks what the caller may do (store/privilege.h) and then works
 * between sf_access_enter and sf_access_leave.  No code of a user runs in
 * between: names and operators in the SQL are qualified.  An ERROR need not be
 * caught, since the abort of the (sub)transaction puts the user id back and
 * closes SPI.
 */
#ifndef SF_STORE_ACCESS_H
#define SF_STORE_ACCESS_H

#include "executor/spi.h"

typedef struct SfAccess
{
	Oid			user;
	int			security_context;
} SfAccess;

/* A statement that is prepared once per session */
typedef struct SfStatement
{
	const char *sql;
	int			nargs;
	Oid			types[8];
	SPIPlanPtr	plan;
} SfStatement;

/* Take on the identity of the extension's owner and connect to SPI. */
extern void sf_access_enter(SfAccess *access);

/* Disconnect from SPI and be again who called. */
extern void sf_access_leave(const SfAccess *access);

/*
 * Execute a statement; nulls as for SPI (NULL: no argument is null).  A
 * read-only one sees the snapshot of the calling query.  Rows are in
 * SPI_tuptable; returns SPI_processed.
 */
extern uint64 sf_access_execute(SfStatement *statement, Datum *values,
								const char *nulls, bool read_only);

/* Open a cursor over a read-only statement, for results of any size. */
extern Portal sf_access_open(SfStatement *statement, Datum *values,
							 const char *nulls);

#endif							/* SF_STORE_ACCESS_H */
