/*
 * file_identity.h
 *		What tells a file from a copy of it: inode and birth time.
 */
#ifndef SF_BASE_FILE_IDENTITY_H
#define SF_BASE_FILE_IDENTITY_H

typedef struct SfFileIdentity
{
	uint64		inode;
	int64		born_ns;		/* since 1970; 0: the file system does not tell */
} SfFileIdentity;

/* Read the identity of an open file; false: errno says why. */
extern bool sf_file_identity(int fd, SfFileIdentity *identity);

/*
 * Tell whether two identities are of one file.  A birth time that is missing on
 * either side (another kernel, another file system) is not compared.
 */
extern bool sf_file_identity_equal(const SfFileIdentity *a, const SfFileIdentity *b);

/*
 * Tell whether the file system of an open file keeps inode numbers for good.
 * Those of FUSE, 9p and SMB may change when it is mounted again.
 */
extern bool sf_file_identity_lasts(int fd);

#endif							/* SF_BASE_FILE_IDENTITY_H */
