/*
 * archive.h
 *		Writing executions into an archive: a folder, or a bucket of S3.
 */
#ifndef SFW_ARCHIVE_H
#define SFW_ARCHIVE_H

#include "postgres_fe.h"

#include <openssl/evp.h>
#include <zlib.h>

/* Hexadecimal digits of a SHA-256, and the byte that ends them */
#define SFW_SHA256_SIZE	65

/*
 * A file that is being written, before it is in the archive.  After an error, which
 * problem tells, nothing more is written to it.
 */
typedef struct SfwPacked
{
	int			fd;
	char	   *path;			/* NULL: it has no name any more */
	bool		compressed;
	z_stream	stream;
	EVP_MD_CTX *digest;
	int64_t		text_bytes;		/* that were given */
	int64_t		bytes;			/* of the file */
	char		sha256[SFW_SHA256_SIZE];	/* of the file, once it has ended */
	char	   *problem;		/* why it cannot be written; NULL: nothing */
} SfwPacked;

/* Where archives are.  A function that returns false has set *problem. */
typedef struct SfwStore
{
	/* Get ready for a target, as the option names it. */
	bool		(*begin) (const char *target, char **problem);

	/* Make a file for what the batch of a name writes, and remove those that are left of earlier attempts. */
	int			(*make_file) (const char *name, char **path, char **problem);

	/* Put a file that has ended into the archive under a key such as "data/name", in place of one that may be there. */
	bool		(*put) (const char *key, const char *type, SfwPacked *file, char **problem);
} SfwStore;

extern const SfwStore sfw_store_folder;
extern const SfwStore sfw_store_s3;

extern void sfw_packed_begin(SfwPacked *file, int fd, char *path, bool compressed);
extern void sfw_packed_write(SfwPacked *file, const char *data, size_t len);
extern bool sfw_packed_end(SfwPacked *file);
extern void sfw_packed_free(SfwPacked *file);

extern int	sfw_archive(void);
extern bool sfw_archive_wait(int64_t ms);

#endif							/* SFW_ARCHIVE_H */
