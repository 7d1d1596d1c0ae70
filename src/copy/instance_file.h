/*
 * instance_file.h
 *		The file by which a data directory knows itself from its copies.
 *
 * It lies in the root of the data directory and says which file it is itself,
 * so that in a copy of the directory it is seen to be a copy.
 */
#ifndef SF_COPY_INSTANCE_FILE_H
#define SF_COPY_INSTANCE_FILE_H

#include "copy/copy_decision.h"

extern void sf_instance_file_start(void);
extern void sf_instance_file_reread(void);
extern int64 sf_instance_file_id(void);

/*
 * Id of this data directory; makes the file where it has none of its own.
 * Takes a lock until the end of the transaction; raises where the file cannot
 * be written.
 */
extern int64 sf_instance_file_require(void);

extern SfCopyKind sf_instance_file_kind(void);
extern bool sf_instance_file_write_settled(void);

#endif							/* SF_COPY_INSTANCE_FILE_H */
