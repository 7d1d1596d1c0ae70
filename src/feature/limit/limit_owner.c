/*
 * limit_owner.c
 *		Whose machines limits are for.
 *
 * A limit of a resource is for the machines of its owner, and of the roles with whose rights that
 * acts.  The table has a hash of these (roles_hash), so that a change is seen, whichever database it
 * was made in.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "feature/limit/limit.h"
#include "store/execution/status.h"

/* The roles with whose rights a role acts, as "covered": itself, and those of which it is a member, by others too */
#define COVERED(of) \
	"WITH RECURSIVE covered (role) AS (SELECT " of "::pg_catalog.oid UNION SELECT m.roleid FROM covered c" \
	" JOIN pg_catalog.pg_auth_members m ON m.member = c.role)"
#define IS_COVERED(of)	"pg_catalog.pg_has_role(" of "::pg_catalog.oid, c.role, 'USAGE')"

/* A hash of these, for which a superuser counts as another role */
#define ROLES_HASH(of) \
	"(" COVERED(of) " SELECT pg_catalog.hashtextextended(pg_catalog.string_agg(c.role::pg_catalog.text, ' ' ORDER BY c.role)," \
	" (SELECT a.rolsuper::pg_catalog.int4 FROM pg_catalog.pg_authid a WHERE a.oid = " of "::pg_catalog.oid))" \
	" FROM covered c WHERE " IS_COVERED(of) ")"

/* Append a version to a list. */
static void
append_used(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_machine_no = 1, COL_version};
	SfUsedVersion *used = palloc(sizeof(SfUsedVersion));

	used->machine_no = (int) sf_row_number(tuple, desc, COL_machine_no, 0);
	used->version = (int) sf_row_number(tuple, desc, COL_version, 0);
	*(List **) arg = lappend(*(List **) arg, used);
}

#define USED_BY(machines) \
	"SELECT DISTINCT e.machine_no, e.version FROM " machines \
	" JOIN _sfflow.open_execution o ON o.machine_no = m.machine_no AND o.status = $1" \
	" JOIN _sfflow.execution e ON e.execution_no = o.execution_no ORDER BY e.machine_no, e.version"

/*
 * List the versions of which executions run, a List of SfUsedVersion in the order of machines: of
 * one machine, of SF_ALL_MACHINES, or of those with whose owners' rights a role acts (InvalidOid: of all).
 */
List *
sf_limit_used_versions(int machine_no, Oid owner)
{
	static SfPlan all = SF_PLAN(USED_BY("_sfflow.state_machine m"));
	static SfPlan of_one = SF_PLAN(USED_BY("(SELECT $2 AS machine_no) m"));
	static SfPlan of_owner = SF_PLAN(COVERED("$2") " " USED_BY(
		"(SELECT c.role FROM covered c WHERE " IS_COVERED("$2") ") r"
		" CROSS JOIN LATERAL (SELECT s.machine_no FROM _sfflow.state_machine s WHERE s.owner = r.role OFFSET 0) m"));
	SfArg		running = SF_INT2(SF_STATUS_RUNNING);

	if (machine_no != SF_ALL_MACHINES)
		return sf_db_list(&of_one, append_used, SF_ARGS(running, SF_INT4(machine_no)));
	if (OidIsValid(owner) && !superuser_arg(owner))
		return sf_db_list(&of_owner, append_used, SF_ARGS(running, SF_ROLE(owner)));
	return sf_db_list(&all, append_used, SF_ARGS(running));
}

/* List the numbers of the limits of which executions of a machine that run occupy slots. */
List *
sf_limit_slots_of_machine(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT DISTINCT s.limit_no FROM _sfflow.open_execution o"
		" JOIN _sfflow.limit_slot s ON s.execution_no = o.execution_no"
		" WHERE o.machine_no = $1 AND o.status = $2 ORDER BY s.limit_no");

	return sf_db_numbers(&plan, SF_INT4(machine_no), SF_INT2(SF_STATUS_RUNNING));
}

/* Note of the limits of an owner that do not say so whose machines they are for. */
void
sf_limit_note_owner(Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.run_limit l SET roles_hash = " ROLES_HASH("$1") " WHERE l.for_owner = $1 AND l.roles_hash IS NULL");

	sf_db_execute(&plan, SF_ROLE(owner));
}

/* How many limits have owners that cover other roles than before, and how many of them are noted */
typedef struct Noted
{
	int64		changed;
	int64		noted;
} Noted;

/* Read both numbers. */
static void
read_noted(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_other = 1, COL_noted};
	*(Noted *) arg = (Noted) {sf_row_number(tuple, desc, COL_other, 0), sf_row_number(tuple, desc, COL_noted, 0)};
}

/*
 * Have the scans count the limits anew whose owners cover other roles than before; false: some are
 * left, for another session has locked them.
 */
bool
sf_limit_note_roles(void)
{
	static SfPlan plan = SF_PLAN(
		"WITH now AS MATERIALIZED (SELECT o.owner, " ROLES_HASH("o.owner") " AS roles_hash"
		"  FROM (SELECT DISTINCT l.for_owner AS owner FROM _sfflow.run_limit l WHERE l.for_owner IS NOT NULL) o),"
		" other AS MATERIALIZED (SELECT l.limit_no, n.roles_hash FROM now n"
		"  JOIN _sfflow.run_limit l ON l.for_owner = n.owner WHERE l.roles_hash IS DISTINCT FROM n.roles_hash),"
		" free AS MATERIALIZED (SELECT l.limit_no, x.roles_hash FROM other x"
		"  JOIN _sfflow.run_limit l ON l.limit_no = x.limit_no ORDER BY l.limit_no FOR UPDATE OF l SKIP LOCKED),"
		" noted AS (UPDATE _sfflow.run_limit l SET roles_hash = f.roles_hash,"
		SF_LIMIT_COUNT_AGAIN("l.max_running IS NULL")
		"  FROM free f WHERE l.limit_no = f.limit_no RETURNING 1)"
		" SELECT (SELECT pg_catalog.count(*) FROM other) AS other, (SELECT pg_catalog.count(*) FROM noted) AS noted");
	Noted		result = {0};

	sf_db_run(InvalidOid, &plan, read_noted, &result, NULL, 0);
	if (result.noted > 0)
	{
		sf_db_invalidate("run_limit");
		sf_hooks.scan_at(GetCurrentTimestamp());
	}
	return result.noted == result.changed;
}
