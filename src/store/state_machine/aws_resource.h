/*
 * aws_resource.h
 *		Rows of _sfflow.aws_resource and _sfflow.version_publication: what the AWS
 *		API keeps of state machines, of their versions, and of activities.
 */
#ifndef SF_STORE_AWS_RESOURCE_H
#define SF_STORE_AWS_RESOURCE_H

#include "nodes/pg_list.h"

#include "db/row.h"
#include "store/role/object_kind.h"

/* Columns of _sfflow.version_publication; see sql/parts/store/aws_resource.sql. */
#define SF_VERSION_PUBLICATION_COLUMNS(X) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(int, version, INT4, NOT_NULL) \
	X(bool, published, BOOL, NOT_NULL) \
	X(TimestampTz, published_at, TIMESTAMPTZ, NOT_NULL) \
	X(char *, description, TEXT, NULLABLE) \
	X(int, number, INT4, NULLABLE)

typedef struct SfPublication
{
	SF_VERSION_PUBLICATION_COLUMNS(SF_FIELD)
} SfPublication;

extern Jsonb *sf_aws_resource_tags(SfObjectKind kind, const char *name);
extern Jsonb *sf_aws_resource_encryption(SfObjectKind kind, const char *name);
extern void sf_aws_resource_write(SfObjectKind kind, const char *name, const Jsonb *tags,
							  const Jsonb *encryption);
extern void sf_aws_resource_delete(SfObjectKind kind, const char *name);
extern TimestampTz sf_aws_resource_activity_created(int activity_no);

extern TimestampTz sf_publication_made(int machine_no, int version);
extern SfPublication *sf_publication_read(int machine_no, int version);
extern int	sf_publication_number(int machine_no, int version);
extern int	sf_publication_version(int machine_no, int number);
extern void sf_publication_write(int machine_no, int version, bool published,
								 const char *description);
extern void sf_publication_delete(int machine_no, int version);
extern List *sf_publication_list(int machine_no, int below, int max_rows);

#endif							/* SF_STORE_AWS_RESOURCE_H */
