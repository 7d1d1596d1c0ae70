/*
 * aws_resource.c
 *		Rows of _sfflow.aws_resource and _sfflow.version_publication.
 */
#include "postgres.h"

#include "store/aws_resource.h"

#define ROW SfPublication
SF_ROW_TYPE(publication_row, SF_VERSION_PUBLICATION_COLUMNS, version_publication, 2);

/* Read the first column of a row: a document. */
static void
read_document(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(Jsonb **) arg = sf_row_jsonb(tuple, desc, 1);
}

/* The tags of an object: {"key": "value"}; NULL: it has none. */
Jsonb *
sf_attribute_tags(char kind, const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.tags FROM _sfflow.aws_resource r"
		" WHERE r.object_kind" SF_EQ "$1 AND r.object_name" SF_EQ "$2");
	Jsonb	   *tags = NULL;

	sf_store_read(&plan, read_document, &tags, SF_CHAR(kind), SF_TEXT(name));
	return tags;
}

/* The encryptionConfiguration that an activity was given; NULL: none. */
Jsonb *
sf_attribute_encryption(char kind, const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.encryption FROM _sfflow.aws_resource r"
		" WHERE r.object_kind" SF_EQ "$1 AND r.object_name" SF_EQ "$2");
	Jsonb	   *encryption = NULL;

	sf_store_read(&plan, read_document, &encryption, SF_CHAR(kind), SF_TEXT(name));
	return encryption;
}

/* Set the tags of an object, and with encryption not NULL its encryptionConfiguration. */
void
sf_attribute_write(char kind, const char *name, const Jsonb *tags, const Jsonb *encryption)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.aws_resource AS r (object_kind, object_name, tags, encryption)"
		" VALUES ($1, $2, $3, $4) ON CONFLICT (object_kind, object_name) DO UPDATE"
		" SET tags = excluded.tags, encryption = COALESCE(excluded.encryption, r.encryption)");

	sf_store_execute(&plan, SF_CHAR(kind), SF_TEXT(name), SF_JSONB(tags), SF_JSONB(encryption));
}

/* Delete what is kept of an object that is dropped. */
void
sf_attribute_forget(char kind, const char *name)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.aws_resource r"
		" WHERE r.object_kind" SF_EQ "$1 AND r.object_name" SF_EQ "$2");

	sf_store_execute(&plan, SF_CHAR(kind), SF_TEXT(name));
}

/* When an activity was created. */
TimestampTz
sf_attribute_activity_created(int activity_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT a.created_at FROM _sfflow.activity a WHERE a.activity_no" SF_EQ "$1");

	return sf_store_number(&plan, DT_NOBEGIN, SF_INT4(activity_no));
}

/* What is known of the publication of versions; without a row a version is published. */
#define PUBLICATION \
	"SELECT v.machine_no, v.version, COALESCE(p.published, true)," \
	" COALESCE(p.published_at, v.created_at), p.description" \
	" FROM _sfflow.state_machine_version v LEFT JOIN _sfflow.version_publication p" \
	" ON p.machine_no" SF_EQ "v.machine_no AND p.version" SF_EQ "v.version" \
	" WHERE v.machine_no" SF_EQ "$1 AND "

/* When a version was made. */
TimestampTz
sf_publication_made(int machine_no, int version)
{
	static SfPlan plan = SF_PLAN(
		"SELECT v.created_at FROM _sfflow.state_machine_version v"
		" WHERE v.machine_no" SF_EQ "$1 AND v.version" SF_EQ "$2");

	return sf_store_number(&plan, DT_NOBEGIN, SF_INT4(machine_no), SF_INT4(version));
}

/* Tell whether a version is published, and since when; NULL: there is no such version. */
SfPublication *
sf_publication_read(int machine_no, int version)
{
	static SfPlan plan = SF_PLAN(PUBLICATION "v.version" SF_EQ "$2");

	return sf_store_row(&plan, &publication_row, SF_INT4(machine_no), SF_INT4(version));
}

/* Set whether a version is published; description NULL keeps the one that it has. */
void
sf_publication_write(int machine_no, int version, bool published, const char *description)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.version_publication AS p"
		" (machine_no, version, published, published_at, description)"
		" VALUES ($1, $2, $3, pg_catalog.clock_timestamp(), $4)"
		" ON CONFLICT (machine_no, version) DO UPDATE SET published = excluded.published,"
		" published_at = excluded.published_at,"
		" description = COALESCE(excluded.description, p.description)");

	sf_store_execute(&plan, SF_INT4(machine_no), SF_INT4(version), SF_BOOL(published),
					 SF_TEXT(description));
}

/* List published versions below one, the newest first, at most limit: as SfPublication. */
List *
sf_publication_list(int machine_no, int below, int limit)
{
	static SfPlan plan = SF_PLAN(PUBLICATION "v.version" SF_LT "$2 AND COALESCE(p.published, true)"
								 " ORDER BY v.version DESC LIMIT $3");

	return sf_store_rows(&plan, &publication_row, SF_INT4(machine_no), SF_INT4(below), SF_INT8(limit));
}
