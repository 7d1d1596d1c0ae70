/*
 * item_reader.h
 *		ItemReader: parts of it that services read lists of files with.
 */
#ifndef SF_RUN_ITEM_READER_H
#define SF_RUN_ITEM_READER_H

#include "run/map_run.h"

typedef struct SfItemReader
{
	SfRowSink	sink;			/* first: rows of the resource come here */
	const SfMapRun *map_run;
	const SfTaskCall *call;
	const Jsonb *config;		/* ReaderConfig, or NULL */
	const char *input_type;		/* JSON where it is not given */
	SfItemWriter *writer;
	int			count;			/* items so far */
	int			before;			/* items when the resource was called */
	int			limit;
	bool		streamed;		/* the resource gave rows */
	bool		keyed;
	const char *source;			/* what is read, for error messages */
	SfError		error;
} SfItemReader;

/* Return a member of ReaderConfig, or a default. */
extern const char *sf_item_reader_option(const SfItemReader *reader,
										 const char *name, const char *otherwise);

/* Return the headers that ReaderConfig gives; NIL: the first row has them. */
extern List *sf_item_reader_headers(const SfItemReader *reader);

/* Report what is wrong with the content; returns false. */
extern bool sf_item_reader_refuse(SfItemReader *reader, const char *cause);

/* Report that the content is no list; returns false. */
extern bool sf_item_reader_refuse_scalar(SfItemReader *reader);

/*
 * Call a resource and add the items in its content, which has the InputType
 * type.  False: reader->error.
 */
extern bool sf_item_reader_load(SfItemReader *reader, const SfResource *resource,
								const char *type, Jsonb *payload, List *headers);

/* Add the elements of an array as items. */
extern bool sf_item_reader_add_array(SfItemReader *reader, const JsonbValue *array);

#endif							/* SF_RUN_ITEM_READER_H */
