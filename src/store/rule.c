/*
 * rule.c
 *		Rows of _sfflow.rule and _sfflow.rule_chain.
 */
#include "postgres.h"

#include "storage/lmgr.h"

#include "utils/snapmgr.h"

#include "store/rule.h"

#define ROW SfRule
SF_ROW_TYPE(row_type, SF_RULE_COLUMNS, rule, 1);

/* Parents above an execution that are looked at, at most */
#define MAX_PARENTS		100

/* Find a rule by name; NULL: there is none. */
SfRule *
sf_rule_read(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_RULE_COLUMNS(SF_SELECT) "1 FROM _sfflow.rule r WHERE r.name" SF_EQ "$1");

	return sf_store_row(&plan, &row_type, SF_TEXT(name));
}

/* Find a rule by number; NULL: there is none. */
SfRule *
sf_rule_read_by_no(int64 rule_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_RULE_COLUMNS(SF_SELECT) "1 FROM _sfflow.rule r WHERE r.rule_no" SF_EQ "$1");

	return sf_store_row(&plan, &row_type, SF_INT8(rule_no));
}

/* Read a rule. */
static void
read_rule(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **rules = arg;
	SfRule	   *rule = palloc0(sizeof(SfRule));

	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, rule);
	*rules = lappend(*rules, rule);
}

/* Read all rules there are now, also in a transaction with a snapshot of long ago. */
List *
sf_rule_read_all(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_RULE_COLUMNS(SF_SELECT) "1 FROM _sfflow.rule r ORDER BY r.name");
	List	   *rules = NIL;

	PushActiveSnapshot(GetLatestSnapshot());
	sf_scan_run(&plan, read_rule, &rules, NULL, 0);
	PopActiveSnapshot();
	return rules;
}

/*
 * Insert a rule, or put it in the place of the one with its name, whose deliveries
 * are made for the new target.
 */
void
sf_rule_write(const SfRule *rule)
{
	static SfPlan write = SF_PLAN(
		"INSERT INTO _sfflow.rule AS r (name, owner, target, created_at, pattern, input)"
		" VALUES ($1, $2, $3, pg_catalog.now(), $4, $5)"
		" ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, target = excluded.target,"
		" pattern = excluded.pattern, input = excluded.input RETURNING r.rule_no");
	static SfPlan pass_on = SF_PLAN(
		"UPDATE _sfflow.rule_delivery d SET owner = $2"
		" FROM (SELECT f.ctid FROM _sfflow.rule_delivery f WHERE f.rule_no" SF_EQ "$1"
		"  AND f.owner" SF_NE "$2 FOR UPDATE SKIP LOCKED) x WHERE d.ctid" SF_EQ "x.ctid");
	int64		rule_no;

	rule_no = sf_store_number(&write, 0, SF_TEXT(rule->name), SF_ROLE(rule->owner),
							  SF_TEXT(rule->target), SF_JSONB(rule->pattern),
							  SF_JSONB(rule->input));
	sf_store_execute(&pass_on, SF_INT8(rule_no), SF_ROLE(rule->owner));
	sf_store_announce_change("rule");
}

/*
 * Delete a rule with its deliveries.  Those that another process is making are left to
 * it, since a target may take long: what is left of a rule that is gone is deleted when it is due.
 */
void
sf_rule_delete(int64 rule_no)
{
	static SfPlan rule = SF_PLAN("DELETE FROM _sfflow.rule r WHERE r.rule_no" SF_EQ "$1");
	static SfPlan total = SF_PLAN(
		"DELETE FROM _sfflow.rule_total t USING (SELECT f.ctid FROM _sfflow.rule_total f"
		" WHERE f.rule_no" SF_EQ "$1 FOR UPDATE SKIP LOCKED) x WHERE t.ctid" SF_EQ "x.ctid");
	static SfPlan deliveries = SF_PLAN(
		"DELETE FROM _sfflow.rule_delivery d USING (SELECT f.ctid FROM _sfflow.rule_delivery f"
		" WHERE f.rule_no" SF_EQ "$1 FOR UPDATE SKIP LOCKED) x WHERE d.ctid" SF_EQ "x.ctid");

	sf_store_execute(&rule, SF_INT8(rule_no));
	sf_store_execute(&deliveries, SF_INT8(rule_no));
	sf_store_execute(&total, SF_INT8(rule_no));
	sf_store_announce_change("rule");
}

/* --- chains of rules --- */

/* Note that an execution was started by the last of that many rules. */
void
sf_rule_note_depth(int64 execution_no, int depth)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.rule_chain (execution_no, depth) VALUES ($1, $2)"
		" ON CONFLICT DO NOTHING");

	sf_store_execute(&plan, SF_INT8(execution_no), SF_INT4(depth));
}

/* Keep other sessions from changing rules until the end of the transaction. */
void
sf_rule_lock_all(void)
{
	LockRelationOid(sf_store_relation("rule"), ShareRowExclusiveLock);
}

/* Read a depth. */
static void
read_depth(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(int *) arg = (int) sf_row_number(tuple, desc, 2, 0);
}

/*
 * How many rules led to an execution, or to the one that it is a child of (0: it has
 * no parent), and so on.
 */
int
sf_rule_depth(int64 execution_no, int64 parent_execution_no)
{
	static const SfIndex key = {"rule_chain", "rule_chain_pkey"};
	int			depth = 0;

	for (int i = 0; i < MAX_PARENTS; i++)
	{
		const SfExecution *parent;

		if (sf_row_fetch(&key, SF_LOCK_NONE, NULL, read_depth, &depth, SF_INT8(execution_no)) ||
			parent_execution_no == 0)
			break;
		execution_no = parent_execution_no;
		parent = sf_execution_read(execution_no, SF_LOCK_NONE, false);
		parent_execution_no = parent == NULL ? 0 : parent->parent_execution_no;
	}
	return depth;
}
