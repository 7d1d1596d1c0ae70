/*
 * assets.c
 *		The files of the console, which are part of the program.
 *
 * The build writes console/ as lists of bytes (embed.awk).  A path is one of
 * these files or it does not exist: no path reaches the file system.
 */
#include "postgres_fe.h"

#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/hashing.h"

/* A file */
typedef struct Asset
{
	const char *path;
	const unsigned char *bytes;
	size_t		len;
	char		etag[SFG_DIGEST_HEX + 2];	/* in quotes; made when it is first asked for */
} Asset;

#include "tools/sfgateway/console_files.inc"

/* Find a file; / is index.html. */
static Asset *
find(const char *path)
{
	if (strcmp(path, "/") == 0)
		path = "/index.html";
	for (size_t i = 0; i < lengthof(assets); i++)
	{
		if (strcmp(assets[i].path, path) == 0)
			return &assets[i];
	}
	return NULL;
}

/* Tell whether there is a file at a path. */
bool
sfg_asset_exists(const char *path)
{
	return find(path) != NULL;
}

/* The media type of a file, by its name. */
static const char *
media_type(const char *path)
{
	static const char *const types[][2] = {
		{".html", "text/html; charset=utf-8"},
		{".js", "text/javascript; charset=utf-8"},
		{".css", "text/css; charset=utf-8"},
		{".svg", "image/svg+xml"},
		{".png", "image/png"},
		{".json", "application/json"},
	};
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot != NULL && i < lengthof(types); i++)
	{
		if (strcmp(types[i][0], dot) == 0)
			return types[i][1];
	}
	return "application/octet-stream";
}

/* Make the tag of a file's content. */
static void
make_etag(Asset *asset)
{
	char		hex[SFG_DIGEST_HEX];

	sfg_sha256_hex(asset->bytes, asset->len, hex);
	snprintf(asset->etag, sizeof(asset->etag), "\"%s\"", hex);
}

/* Serve a file, unless the client has it. */
void
sfg_asset(SfgRequest *request)
{
	Asset	   *asset = find(request->path);
	const char *known = sfg_request_header(request, "If-None-Match");

	if (asset == NULL)
	{
		sfg_answer_error(request, MHD_HTTP_NOT_FOUND, "there is no such page");
		return;
	}
	if (*asset->etag == '\0')
		make_etag(asset);
	if (known != NULL && strcmp(known, asset->etag) == 0)
		sfg_answer(request, MHD_HTTP_NOT_MODIFIED, NULL, "", 0);
	else
		sfg_answer(request, MHD_HTTP_OK, media_type(asset->path), (const char *) asset->bytes, asset->len);
	sfg_answer_header(request, "ETag", asset->etag);
	sfg_answer_header(request, "Cache-Control", "no-cache");
	sfg_answer_send(request);
}
