/*
 * batch.h
 *		Batches of executions that programs write into archives: rows of _sfflow.archive_batch and
 *		_sfflow.archive_member.
 */
#ifndef SF_FEATURE_BATCH_H
#define SF_FEATURE_BATCH_H

#include "db/row.h"

/* Columns of _sfflow.archive_batch that functions read */
#define SF_ARCHIVE_BATCH_FIELDS(X) \
	X(int64, batch_no, INT8, NOT_NULL) \
	X(int, activity_no, INT4, NOT_NULL) \
	X(char *, name, TEXT, NOT_NULL)	/* of its files */ \
	X(int, executions, INT4, NOT_NULL) \
	X(bool, confirmed, BOOL, NOT_NULL)

typedef struct SfArchiveBatch
{
	SF_ARCHIVE_BATCH_FIELDS(SF_FIELD)
} SfArchiveBatch;

extern SfArchiveBatch *sf_archive_batch_read(int64 batch_no, SfLock lock);
extern List *sf_archive_batch_unconfirmed(int activity_no);
extern SfArchiveBatch *sf_archive_batch_make(int activity_no, const char *worker);
extern void sf_archive_batch_add(int64 batch_no, const List *numbers);
extern void sf_archive_batch_set_size(int64 batch_no, int executions);
extern void sf_archive_batch_claim(int64 batch_no, const char *worker);
extern void sf_archive_batch_delete(int64 batch_no);
extern List *sf_archive_batch_members(int64 batch_no, int64 after, int most);
extern List *sf_archive_batch_left(void);
extern int64 sf_archive_batch_bytes(const List *numbers);
extern void sf_archive_batch_confirm(int64 batch_no, const char *file, int64 bytes, const char *sha256);
extern void sf_archive_batch_note_progress(int activity_no);
extern void sf_archive_batch_delete_of(int activity_no);

#endif							/* SF_FEATURE_BATCH_H */
