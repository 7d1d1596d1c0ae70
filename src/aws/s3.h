/*
 * s3.h
 *		Distributed Map with S3: lists of objects to read, result files to write.
 */
#ifndef SF_AWS_S3_H
#define SF_AWS_S3_H

#include "run/item_reader.h"
#include "run/result_writer.h"

/* The functions of SfService with these names (run/service.h) */
extern char *sf_s3_describe_source(const SfResource *resource, const Jsonb *payload);
extern bool sf_s3_read_listed(SfItemReader *reader, const SfState *state,
							  const Jsonb *content, bool *ok);
extern Jsonb *sf_s3_write_files(SfResultWriter *writer);

#endif							/* SF_AWS_S3_H */
