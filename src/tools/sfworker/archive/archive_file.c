/*
 * archive_file.c
 *		Files of an archive while they are written: compressed, with their SHA-256.
 *
 * The same text gives the same bytes: the header of gzip has no time and no name.
 */
#include "postgres_fe.h"

#include <unistd.h>

#include "tools/client/json_text.h"
#include "tools/sfworker/archive/archive.h"

/* Bytes that are compressed at a time */
#define PIECE	(64 * 1024)

/* Note why a file cannot be written, unless it is known. */
static void
fail(SfwPacked *file, const char *what, const char *why)
{
	if (file->problem == NULL)
		file->problem = psprintf("%s: %s", what, why);
}

/* Begin a file, which is empty; path is handed over. */
void
sfw_packed_begin(SfwPacked *file, int fd, char *path, bool compressed)
{
	memset(file, 0, sizeof(*file));
	file->fd = fd;
	file->path = path;
	file->compressed = compressed;
	file->digest = EVP_MD_CTX_new();
	if (file->digest == NULL || EVP_DigestInit_ex(file->digest, EVP_sha256(), NULL) != 1)
		sfc_out_of_memory();
	if (compressed && deflateInit2(&file->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
								   Z_DEFAULT_STRATEGY) != Z_OK)
		sfc_out_of_memory();
}

/* Write bytes as they are. */
static void
write_bytes(SfwPacked *file, const unsigned char *data, size_t len)
{
	if (EVP_DigestUpdate(file->digest, data, len) != 1)
		sfc_out_of_memory();
	file->bytes += (int64_t) len;
	while (len > 0 && file->problem == NULL)
	{
		ssize_t		n = write(file->fd, data, len);

		if (n < 0 && errno != EINTR)
			fail(file, "cannot write", strerror(errno));
		if (n > 0)
		{
			data += n;
			len -= (size_t) n;
		}
	}
}

/* Compress what the stream was given; flush: as zlib has it, Z_FINISH to its end. */
static void
deflate_all(SfwPacked *file, int flush)
{
	unsigned char out[PIECE];

	do
	{
		file->stream.next_out = out;
		file->stream.avail_out = sizeof(out);
		if (deflate(&file->stream, flush) == Z_STREAM_ERROR)
			fail(file, "cannot compress", "the stream is not as it has to be");
		write_bytes(file, out, sizeof(out) - file->stream.avail_out);
	} while (file->stream.avail_out == 0 && file->problem == NULL);
}

/* Append text. */
void
sfw_packed_write(SfwPacked *file, const char *data, size_t len)
{
	file->text_bytes += (int64_t) len;
	if (!file->compressed)
	{
		write_bytes(file, (const unsigned char *) data, len);
		return;
	}
	while (len > 0 && file->problem == NULL)
	{
		size_t		n = Min(len, PIECE);

		file->stream.next_in = (unsigned char *) unconstify(char *, data);
		file->stream.avail_in = (unsigned) n;
		deflate_all(file, Z_NO_FLUSH);
		data += n;
		len -= n;
	}
}

/* Write what is left, and have it on disk; false: problem tells why not. */
bool
sfw_packed_end(SfwPacked *file)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned	n = 0;

	if (file->compressed && file->problem == NULL)
		deflate_all(file, Z_FINISH);
	if (EVP_DigestFinal_ex(file->digest, digest, &n) != 1)
		sfc_out_of_memory();
	for (unsigned i = 0; i < n; i++)
		snprintf(file->sha256 + 2 * i, 3, "%02x", digest[i]);
	if (file->problem == NULL && fsync(file->fd) != 0)
		fail(file, "cannot write", strerror(errno));
	return file->problem == NULL;
}

/* Close a file, and remove it unless it is in the archive. */
void
sfw_packed_free(SfwPacked *file)
{
	if (file->path != NULL)
		unlink(file->path);
	close(file->fd);
	free(file->path);
	free(file->problem);
	EVP_MD_CTX_free(file->digest);
	if (file->compressed)
		deflateEnd(&file->stream);
}
