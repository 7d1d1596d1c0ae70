/*
 * file_identity.c
 *		Distinguish a file from a copy of it, by inode and birth time.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

#include "copy/file_identity.h"

/* Read the identity of an open file; false: errno says why. */
bool
sf_file_identity(int fd, SfFileIdentity *identity)
{
	struct stat st;

#ifdef STATX_BTIME
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &stx) == 0)
	{
		identity->inode = stx.stx_ino;
		identity->born_ns = (stx.stx_mask & STATX_BTIME) == 0 ? 0 :
			stx.stx_btime.tv_sec * INT64CONST(1000000000) + stx.stx_btime.tv_nsec;
		return true;
	}
	if (errno != ENOSYS)
		return false;
#endif
	if (fstat(fd, &st) != 0)
		return false;
	identity->inode = st.st_ino;
	identity->born_ns = 0;
	return true;
}

/*
 * Tell whether two identities are of one file.  A birth time that is missing on
 * either side (another kernel, another file system) is not compared.
 */
bool
sf_file_identity_is_equal(const SfFileIdentity *a, const SfFileIdentity *b)
{
	return a->inode == b->inode &&
		(a->born_ns == b->born_ns || a->born_ns == 0 || b->born_ns == 0);
}

/*
 * Tell whether the file system of an open file keeps inode numbers for good.
 * Those of FUSE, 9p and SMB may change when it is mounted again.
 */
bool
sf_file_identity_lasts(int fd)
{
#ifdef __linux__
	/* FUSE, 9p, and three generations of SMB, as linux/magic.h has them */
	static const uint32 changing[] = {
		0x65735546, 0x01021997, 0x0000517B, 0xFF534D42, 0xFE534D42
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return true;
	for (size_t i = 0; i < lengthof(changing); i++)
	{
		if ((uint32) fs.f_type == changing[i])
			return false;
	}
#endif
	return true;
}
