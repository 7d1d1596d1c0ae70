/*
 * aws_resource.c
 *		Rows of _sfflow.aws_resource and _sfflow.version_publication.
 */
#include "postgres.h"

#include "store/state_machine/aws_resource.h"

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
sf_aws_resource_tags(SfObjectKind kind, const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.tags FROM _sfflow.aws_resource r"
		" WHERE r.object_kind = $1 AND r.object_name = $2");
	Jsonb	   *tags = NULL;

	sf_db_read(&plan, read_document, &tags, SF_CHAR(kind), SF_TEXT(name));
	return tags;
}

/* The encryptionConfiguration that an activity was given; NULL: none. */
Jsonb *
sf_aws_resource_encryption(SfObjectKind kind, const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.encryption FROM _sfflow.aws_resource r"
		" WHERE r.object_kind = $1 AND r.object_name = $2");
	Jsonb	   *encryption = NULL;

	sf_db_read(&plan, read_document, &encryption, SF_CHAR(kind), SF_TEXT(name));
	return encryption;
}

/* Set the tags of an object, and with encryption not NULL its encryptionConfiguration. */
void
sf_aws_resource_write(SfObjectKind kind, const char *name, const Jsonb *tags, const Jsonb *encryption)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.aws_resource AS r (object_kind, object_name, tags, encryption)"
		" VALUES ($1, $2, $3, $4) ON CONFLICT (object_kind, object_name) DO UPDATE"
		" SET tags = excluded.tags, encryption = COALESCE(excluded.encryption, r.encryption)");

	sf_db_execute(&plan, SF_CHAR(kind), SF_TEXT(name), SF_JSONB(tags), SF_JSONB(encryption));
}

/* Delete what there is now of an object that is dropped. */
void
sf_aws_resource_delete(SfObjectKind kind, const char *name)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.aws_resource r"
		" WHERE r.object_kind = $1 AND r.object_name = $2");

	sf_db_execute_now(&plan, SF_CHAR(kind), SF_TEXT(name));
}

/* When an activity was created. */
TimestampTz
sf_aws_resource_activity_created(int activity_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT a.created_at FROM _sfflow.activity a WHERE a.activity_no = $1");

	return sf_db_number(&plan, DT_NOBEGIN, SF_INT4(activity_no));
}

/* The columns of a publication, of the rows that _sfflow.publications() gives */
#define PUBLICATION \
	"SELECT $1, v.version, v.published, v.published_at, v.description, v.number" \
	" FROM _sfflow.publications($1) v WHERE "

/* When a version was made. */
TimestampTz
sf_publication_made(int machine_no, int version)
{
	static SfPlan plan = SF_PLAN(
		"SELECT v.created_at FROM _sfflow.state_machine_version v"
		" WHERE v.machine_no = $1 AND v.version = $2");

	return sf_db_number(&plan, DT_NOBEGIN, SF_INT4(machine_no), SF_INT4(version));
}

/* Tell whether a version is published, and since when; NULL: there is no such version. */
SfPublication *
sf_publication_read(int machine_no, int version)
{
	static SfPlan plan = SF_PLAN(PUBLICATION "v.version = $2");

	return sf_db_row(&plan, &publication_row, SF_INT4(machine_no), SF_INT4(version));
}

/* The number by which the API knows a revision; 0: it was never published. */
int
sf_publication_number(int machine_no, int version)
{
	static SfPlan plan = SF_PLAN("SELECT v.number FROM _sfflow.publications($1) v WHERE v.version = $2");

	return sf_db_number(&plan, 0, SF_INT4(machine_no), SF_INT4(version));
}

/* The published revision that the API knows by a number; 0: none. */
int
sf_publication_version(int machine_no, int number)
{
	static SfPlan plan = SF_PLAN("SELECT v.version FROM _sfflow.publications($1) v WHERE v.number = $2 AND v.published");

	return sf_db_number(&plan, 0, SF_INT4(machine_no), SF_INT4(number));
}

/*
 * Say whether a new revision is published, or publish one that is not: with the next
 * number.  description NULL keeps the one that it has.
 */
void
sf_publication_write(int machine_no, int version, bool published, const char *description)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.version_publication AS p"
		" (machine_no, version, published, published_at, description, number)"
		" SELECT $1, $2, $3, pg_catalog.clock_timestamp(), $4,"
		" CASE WHEN NOT $3 THEN NULL WHEN l.published THEN l.number ELSE l.last + 1 END"
		" FROM (SELECT v.version, v.published, v.number, COALESCE(pg_catalog.max(v.number) OVER (), 0) AS last"
		" FROM _sfflow.publications($1) v) l WHERE l.version = $2"
		" ON CONFLICT (machine_no, version) DO UPDATE SET published = excluded.published,"
		" published_at = excluded.published_at, number = excluded.number,"
		" description = COALESCE(excluded.description, p.description)");

	sf_db_execute(&plan, SF_INT4(machine_no), SF_INT4(version), SF_BOOL(published),
				  SF_TEXT(description));
}

/* Take a publication back; its number is not given again. */
void
sf_publication_delete(int machine_no, int version)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.version_publication AS p"
		" (machine_no, version, published, published_at, description, number)"
		" SELECT $1, $2, false, v.published_at, v.description, v.number"
		" FROM _sfflow.publications($1) v WHERE v.version = $2"
		" ON CONFLICT (machine_no, version) DO UPDATE SET published = false");

	sf_db_execute(&plan, SF_INT4(machine_no), SF_INT4(version));
}

/* List published versions below one, the newest first, at most max_rows: as SfPublication. */
List *
sf_publication_list(int machine_no, int below, int max_rows)
{
	static SfPlan plan = SF_PLAN(PUBLICATION "v.version < $2 AND v.published"
								 " ORDER BY v.version DESC LIMIT $3");

	return sf_db_rows(&plan, &publication_row, SF_INT4(machine_no), SF_INT4(below), SF_INT8(max_rows));
}
