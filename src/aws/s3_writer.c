/*
 * s3_writer.c
 *		Write the results of a Distributed Map as files in S3.
 *
 * The resource is called once per file with {"Bucket", "Key", "Body"}:
 * SUCCEEDED_0.json, SUCCEEDED_1.json …, likewise FAILED, and at last
 * manifest.json, as in Step Functions.
 */
#include "postgres.h"

#include "fmgr.h"
#include "port/pg_bswap.h"
#include "utils/memutils.h"
#include "utils/pg_crc.h"

#include "aws/services.h"
#include "base/version/schema.h"

typedef struct WrittenFile
{
	char	   *key;
	int64		size;
} WrittenFile;

typedef struct Files
{
	const char *bucket;
	const char *folder;			/* "prefix/uuid" */
	bool		as_lines;		/* JSON Lines rather than an array */
	List	   *written[2];		/* WrittenFile, by SfResultChoice */
} Files;

static const char *const names[] = {
	[SF_RESULT_CHOICE_SUCCEEDED] = "SUCCEEDED",
	[SF_RESULT_CHOICE_FAILED] = "FAILED"
};

/* Write a file. */
static bool
put_file(SfResultWriter *writer, const char *key, const char *body)
{
	const Files *files = writer->files;
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "Bucket", files->bucket);
	sf_json_add_string(&json, "Key", key);
	sf_json_add_string(&json, "Body", body);
	return sf_result_writer_call(writer, sf_json_end(&json));
}

/* Print a part: an array, or one line per result. */
static char *
print_part(const Jsonb *part, bool lines)
{
	StringInfoData text;
	JsonbIterator *it;
	JsonbValue	value;

	if (!lines)
		return sf_json_to_cstring(part);
	initStringInfo(&text);
	sf_json_root(part, &value);
	it = sf_json_elements(&value);
	while (sf_json_next(&it, &value))
	{
		sf_json_append_text(&text, &value);
		appendStringInfoChar(&text, '\n');
	}
	return text.data;
}

/* Write a part as a file, and note it for the manifest. */
static bool
put_part(SfResultWriter *writer, SfResultChoice choice, const Jsonb *part)
{
	Files	   *files = writer->files;
	MemoryContext old;
	WrittenFile *file;
	char	   *key = psprintf("%s/%s_%d.%s", files->folder, names[choice],
							   list_length(files->written[choice]),
							   files->as_lines ? "jsonl" : "json");
	char	   *body = print_part(part, files->as_lines);

	if (!put_file(writer, key, body))
		return false;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(files));
	file = palloc(sizeof(WrittenFile));
	file->key = pstrdup(key);
	file->size = (int64) strlen(body);
	files->written[choice] = lappend(files->written[choice], file);
	MemoryContextSwitchTo(old);
	return true;
}

/* Make the manifest of the files that were written. */
static Jsonb *
make_manifest(const SfResultWriter *writer)
{
	const Files *files = writer->files;
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "DestinationBucket", files->bucket);
	sf_json_add_string(&json, "MapRunArn", writer->map_run_name);
	sf_json_open_object(&json, "ResultFiles");
	for (size_t i = 0; i < lengthof(names); i++)
	{
		sf_json_open_array(&json, names[i]);
		foreach_ptr(const WrittenFile, file, files->written[i])
		{
			sf_json_open_object(&json, NULL);
			sf_json_add_string(&json, "Key", file->key);
			sf_json_add_int(&json, "Size", file->size);
			sf_json_close_object(&json);
		}
		sf_json_close_array(&json);
	}
	sf_json_open_array(&json, "PENDING");
	sf_json_close_array(&json);
	sf_json_close_object(&json);
	return sf_json_end(&json);
}

/* Write files and their manifest; returns where the manifest is. */
Jsonb *
sf_s3_write_files(SfResultWriter *writer)
{
	const Jsonb *payload = writer->call->payload;
	const Jsonb *config = writer->map->writer_config;
	const char *prefix = sf_json_get_cstring(payload, "Prefix");
	const char *uuid = writer->map_run->uuid;
	const char *type = config == NULL ? NULL : sf_json_get_cstring(config, "OutputType");
	Files	   *files = palloc0(sizeof(Files));
	char	   *key;
	SfJsonBuilder json;

	files->bucket = sf_json_get_cstring(payload, "Bucket");
	files->folder = prefix == NULL || *prefix == '\0' ? uuid :
		psprintf("%s/%s", prefix, uuid);
	files->as_lines = type != NULL && strcmp(type, "JSONL") == 0;
	writer->files = files;
	writer->put = put_part;
	key = psprintf("%s/manifest.json", files->folder);
	if (!sf_result_writer_put_all(writer, SF_RESULT_CHOICE_SUCCEEDED) ||
		!sf_result_writer_put_all(writer, SF_RESULT_CHOICE_FAILED) ||
		!put_file(writer, key, sf_json_to_cstring(make_manifest(writer))))
		return NULL;
	sf_json_begin_object(&json);
	sf_json_add_string(&json, "Bucket", files->bucket);
	sf_json_add_string(&json, "Key", key);
	return sf_json_end(&json);
}

/* --- checksums --- */

/* _sfflow.crc32(content): its CRC-32, as in zlib, in four bytes, the highest first. */
SF_SQL_FUNCTION(sfflow_crc32)
{
	bytea	   *content = PG_GETARG_BYTEA_PP(0);
	bytea	   *result = palloc(VARHDRSZ + sizeof(uint32));
	pg_crc32	crc;

	INIT_TRADITIONAL_CRC32(crc);
	COMP_TRADITIONAL_CRC32(crc, VARDATA_ANY(content), VARSIZE_ANY_EXHDR(content));
	FIN_TRADITIONAL_CRC32(crc);
	crc = pg_hton32(crc);
	SET_VARSIZE(result, VARHDRSZ + sizeof(uint32));
	memcpy(VARDATA(result), &crc, sizeof(uint32));
	PG_RETURN_BYTEA_P(result);
}
