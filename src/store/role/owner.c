/*
 * owner.c
 *		Give what a role owns to another one.
 */
#include "postgres.h"

#include "store/branch/branch.h"
#include "store/role/owner.h"
#include "store/role/privilege.h"

/* Find what a role owns. */
List *
sf_owned_names(SfObjectKind kind, Oid owner)
{
	static SfPlan machines = SF_PLAN(
		"SELECT m.name FROM _sfflow.state_machine m WHERE m.owner = $1"
		" ORDER BY m.machine_no");
	static SfPlan activities = SF_PLAN(
		"SELECT a.name FROM _sfflow.activity a WHERE a.owner = $1"
		" ORDER BY a.activity_no");

	return sf_db_texts(kind == SF_OBJECT_ACTIVITY ? &activities : &machines, SF_ROLE(owner));
}

/*
 * Change the owner of a state machine.  Its branches follow; those that
 * another session has locked do so when they are claimed next.
 */
void
sf_owner_set_machine(int machine_no, Oid owner)
{
	static SfPlan machine = SF_PLAN(
		"UPDATE _sfflow.state_machine m SET owner = $2 WHERE m.machine_no = $1");
	static SfPlan branches = SF_PLAN(
		"WITH free AS (SELECT b.execution_no, b.branch_no"
		" FROM _sfflow.branch b JOIN _sfflow.execution e"
		" ON e.execution_no = b.execution_no"
		" WHERE e.machine_no = $1 AND b.owner <> $2"
		" FOR UPDATE OF b SKIP LOCKED)"
		" UPDATE _sfflow.branch t SET owner = $2 FROM free"
		" WHERE t.execution_no = free.execution_no"
		" AND t.branch_no = free.branch_no");

	sf_db_invalidate("state_machine");
	sf_db_execute(&machine, SF_INT4(machine_no), SF_ROLE(owner));
	sf_db_execute(&branches, SF_INT4(machine_no), SF_ROLE(owner));
	/* the new owner has work that no worker was woken for */
	sf_hooks.register_database();
}

/* Have branches of executions that have come from another node follow the owners of their machines. */
void
sf_owner_set_of(SfArg executions)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.branch b SET owner = m.owner FROM _sfflow.execution e, _sfflow.state_machine m"
		" WHERE b.execution_no = ANY ($1) AND e.execution_no = b.execution_no AND m.machine_no = e.machine_no"
		" AND b.owner <> m.owner");

	sf_db_execute(&plan, executions);
}

/* Change the owner of an activity. */
void
sf_owner_set_activity(int activity_no, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.activity a SET owner = $2 WHERE a.activity_no = $1");

	sf_db_execute(&plan, SF_INT4(activity_no), SF_ROLE(owner));
}

/*
 * Give the mappings of a role to another one; the pattern that both map to
 * different resources is returned instead (NULL: none).  *moved counts them.
 */
char *
sf_owner_pass_on_mappings(Oid from, Oid to, int64 *passed_on)
{
	static SfPlan find_conflict = SF_PLAN(
		"SELECT a.pattern FROM _sfflow.resource_map a JOIN _sfflow.resource_map b"
		" ON b.pattern = a.pattern AND b.owner = $2"
		" AND b.resource <> a.resource"
		" WHERE a.owner = $1 ORDER BY a.pattern LIMIT 1");
	static SfPlan lock = SF_PLAN(
		"SELECT 1 FROM _sfflow.resource_map a WHERE a.owner = $1 ORDER BY a.pattern FOR UPDATE");
	static SfPlan delete_same = SF_PLAN(
		"DELETE FROM _sfflow.resource_map a USING _sfflow.resource_map b"
		" WHERE a.owner = $1 AND b.owner = $2 AND b.pattern = a.pattern");
	static SfPlan move = SF_PLAN(
		"UPDATE _sfflow.resource_map a SET owner = $2 WHERE a.owner = $1");
	List	   *conflicts = sf_db_texts(&find_conflict, SF_ROLE(from), SF_ROLE(to));

	if (conflicts != NIL)
		return linitial(conflicts);
	sf_db_execute(&lock, SF_ROLE(from));
	*passed_on = sf_db_execute(&delete_same, SF_ROLE(from), SF_ROLE(to));
	*passed_on += sf_db_execute(&move, SF_ROLE(from), SF_ROLE(to));
	sf_db_invalidate("resource_map");
	return NULL;
}

/*
 * Give a branch of a role that no longer owns its machine to the new owner, whose
 * workers take it from now on.  Returns false when it is locked, or belongs to
 * another role.
 */
bool
sf_owner_set_branch(SfBranchKey key, Oid from, Oid to)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS (SELECT b.execution_no, b.branch_no FROM _sfflow.branch b"
		" WHERE b.execution_no = $1 AND b.branch_no = $2"
		" AND b.owner = $3 FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.branch t SET owner = $4 FROM free"
		" WHERE t.execution_no = free.execution_no"
		" AND t.branch_no = free.branch_no");

	if (sf_db_execute(&plan, SF_BRANCH_KEY(key), SF_ROLE(from), SF_ROLE(to)) == 0)
		return false;
	sf_branch_notify_due(key, to, GetCurrentTimestamp());
	return true;
}
