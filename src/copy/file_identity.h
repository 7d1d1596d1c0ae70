/*
 * file_identity.h
 *		Distinguish a file from a copy of it, by inode and birth time.
 */
#ifndef SF_COPY_FILE_IDENTITY_H
#define SF_COPY_FILE_IDENTITY_H

typedef struct SfFileIdentity
{
	uint64		inode;
	int64		born_ns;		/* since 1970; 0: the file system does not tell */
} SfFileIdentity;

extern bool sf_file_identity(int fd, SfFileIdentity *identity);
extern bool sf_file_identity_is_equal(const SfFileIdentity *a, const SfFileIdentity *b);
extern bool sf_file_identity_lasts(int fd);

#endif							/* SF_COPY_FILE_IDENTITY_H */
