/*
 * applied_definitions.c
 *		Rows of _sfflow.applied_definitions.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "store/state_machine/applied_definitions.h"
#include "store/state_machine/machine.h"

/* Note a document that a role applies; false: one of its name that is newer was applied, *newer. */
bool
sf_applied_note(Oid role, const char *name, int64 revision, const Jsonb *document, int64 *newer)
{
	static SfPlan note = SF_PLAN(
		"INSERT INTO _sfflow.applied_definitions AS d (role, name, revision, digest, applied_at)"
		" VALUES ($1, $2, $3, _sfflow.definitions_digest($4), pg_catalog.clock_timestamp())"
		" ON CONFLICT (role, name) DO UPDATE SET revision = EXCLUDED.revision, digest = EXCLUDED.digest,"
		" applied_at = EXCLUDED.applied_at WHERE d.revision <= EXCLUDED.revision");
	static SfPlan applied = SF_PLAN(
		"SELECT d.revision FROM _sfflow.applied_definitions d WHERE d.role = $1 AND d.name = $2");
	SfArg		role_name = SF_TEXT(GetUserNameFromId(role, false));

	if (sf_db_execute(&note, role_name, SF_TEXT(name), SF_INT8(revision), SF_JSONB(document)) > 0)
		return true;
	*newer = sf_db_number(&applied, 0, role_name, SF_TEXT(name));
	return false;
}
