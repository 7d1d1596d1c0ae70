/*
 * names.c
 *		Names of objects: for the hint that names the one probably meant, and for lists.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "store/role/privilege.h"
#include "store/state_machine/machine.h"
#include "store/state_machine/names.h"

/* Names that are read to find the nearest one */
#define OBJECTS_READ	"10000"
#define EXECUTIONS_READ	"100"

#define ROW SfNamed
SF_RESULT_TYPE(row_type, SF_NAMED_FIELDS);

/* List objects of a kind (SF_OBJECT_…) as SfNamed, at most ten thousand. */
List *
sf_names_of_objects(SfObjectKind kind)
{
	static SfPlan machines = SF_PLAN(
		"SELECT m.name, m.owner FROM _sfflow.state_machine m LIMIT " OBJECTS_READ);
	static SfPlan activities = SF_PLAN(
		"SELECT a.name, a.owner FROM _sfflow.activity a LIMIT " OBJECTS_READ);

	return sf_db_rows_by(kind == SF_OBJECT_ACTIVITY ? &activities : &machines, &row_type, SF_ARGS());
}

/* List objects that sort behind a name. */
List *
sf_names_behind(SfObjectKind kind, const char *name, int max_rows)
{
	static SfPlan machines = SF_PLAN(
		"SELECT m.name, m.owner FROM _sfflow.state_machine m WHERE m.name > $1"
		" ORDER BY m.name LIMIT $2");
	static SfPlan activities = SF_PLAN(
		"SELECT a.name, a.owner FROM _sfflow.activity a WHERE a.name > $1"
		" ORDER BY a.name LIMIT $2");

	return sf_db_rows(kind == SF_OBJECT_ACTIVITY ? &activities : &machines, &row_type,
					  SF_TEXT(name), SF_INT8(max_rows));
}

/*
 * Read ids that sort next to one.  The index is in the order of bytes; ids
 * that share less than half of the name are too many to be looked at.
 */
List *
sf_names_of_executions(const char *machine, const char *id)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.execution_id FROM _sfflow.execution e"
		" WHERE e.execution_id >= $1"
		" AND e.execution_id ^@ $1"
		" AND EXISTS (SELECT FROM _sfflow.state_machine m WHERE m.machine_no = e.machine_no)"
		" ORDER BY e.execution_id LIMIT " EXECUTIONS_READ);
	int			whole = (int) strlen(id);
	int			common = (int) strlen(machine) + 1;
	char	   *prefix;

	if (whole <= common)
		return NIL;
	prefix = pnstrdup(id, pg_mbcliplen(id, whole, common + (whole - common) / 2));
	return sf_db_texts(&plan, SF_TEXT(prefix));
}
