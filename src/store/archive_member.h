/*
 * archive_member.h
 *		Executions that a program is writing into an archive: rows of _sfflow.archive_member.
 *
 * Such an execution does not change any more: what the program writes again after a crash is the same.
 */
#ifndef SF_STORE_ARCHIVE_MEMBER_H
#define SF_STORE_ARCHIVE_MEMBER_H

#include "store/execution.h"

extern bool sf_archive_has(int64 execution_no);
extern void sf_archive_require_free(const SfExecution *execution);

#endif							/* SF_STORE_ARCHIVE_MEMBER_H */
