/*
 * rule.c
 *		Rows of _sfflow.rule and _sfflow.rule_chain.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"

#include "feature/rule/rule.h"
#include "store/feature.h"

static const char *const if_exists_words[] = {SF_IF_EXISTS_LIST(SF_IF_EXISTS_WORD)};

#define ROW SfRule
SF_ROW_TYPE(row_type, SF_RULE_COLUMNS, rule, 1);

/* Parents above an execution that are looked at, at most */
#define MAX_PARENTS		100

static const SfIndex owner_key = {"rule_owner", "rule_owner_pkey"};

/* Find a rule by name; NULL: there is none. */
SfRule *
sf_rule_read(const char *name, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		"SELECT " SF_RULE_COLUMNS(SF_SELECT) "1 FROM _sfflow.rule r WHERE r.name = $1");

	return sf_db_row(&plans[lock], &row_type, SF_TEXT(name));
}

/* Find a rule by number; NULL: there is none. */
SfRule *
sf_rule_read_by_no(int64 rule_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_RULE_COLUMNS(SF_SELECT) "1 FROM _sfflow.rule r WHERE r.rule_no = $1");

	return sf_db_row(&plan, &row_type, SF_INT8(rule_no));
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

/* Read the rules that a role has now, also in a transaction with a snapshot of long ago. */
List *
sf_rule_read_of(Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_RULE_COLUMNS(SF_SELECT) "1 FROM _sfflow.rule r WHERE r.owner = $1"
		" ORDER BY r.name");
	List	   *rules = NIL;

	sf_snapshot_read_now(&plan, read_rule, &rules, SF_ROLE(owner));
	return rules;
}

/* Note that there is a row. */
static void
note_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(bool *) arg = true;
}

/* Tell whether there is a rule now whose pattern may match events of alerts. */
bool
sf_rule_any_wants_alerts(void)
{
	static const SfIndex alerts = {"rule", "rule_alerts"};
	bool		any = false;

	sf_rows_read_latest(&alerts, 1, note_row, &any);
	return any;
}

/* --- revisions --- */

/* Append an owner to a list. */
static void
append_owner(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **owners = arg;

	*owners = lappend_oid(*owners, sf_row_number(tuple, desc, 1, InvalidOid));
}

/* List the roles that have rules now, or had some. */
List *
sf_rule_owners(void)
{
	List	   *owners = NIL;

	sf_rows_read_latest(&owner_key, PG_INT32_MAX, append_owner, &owners);
	return owners;
}

/* Read the revision of the rules of a role. */
static void
read_revision(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_owner = 1, COL_revision};
	SfRuleRevision *revision = arg;

	revision->revision = sf_row_number(tuple, desc, COL_revision, SF_NO_REVISION);
	revision->is_ours = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
}

/* Find the revision of the rules that a role has now, whatever the transaction's snapshot. */
SfRuleRevision
sf_rule_revision(Oid owner)
{
	SfRuleRevision revision = {.revision = SF_NO_REVISION};

	(void) sf_rows_read_now(&owner_key, 1, read_revision, &revision, SF_ROLE(owner));
	return revision;
}

/*
 * Give the rules of a role another revision, and have other sessions that change them wait
 * until the end of the transaction.  One revision does for all changes of a transaction.
 */
static void
change_revision(Oid owner)
{
	static SfPlan change = SF_PLAN(
		"UPDATE _sfflow.rule_owner o SET revision = pg_catalog.nextval('_sfflow.rule_revision')"
		" WHERE o.owner = $1");
	static SfPlan insert = SF_PLAN(
		"INSERT INTO _sfflow.rule_owner AS o (owner, revision)"
		" VALUES ($1, pg_catalog.nextval('_sfflow.rule_revision'))"
		" ON CONFLICT (owner) DO UPDATE SET revision = excluded.revision");

	sf_db_invalidate("rule");
	if (sf_rule_revision(owner).is_ours || sf_db_execute(&change, SF_ROLE(owner)) > 0)
		return;
	sf_db_execute(&insert, SF_ROLE(owner));
	sf_db_invalidate("rule_owner");
}

/*
 * See to it that each owner of rules has a revision, and have all backends read the rules anew:
 * rows may have come that no function of sfflow has written.
 */
void
sf_rule_note_owners(void)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.rule_owner AS o (owner, revision)"
		" SELECT x.owner, pg_catalog.nextval('_sfflow.rule_revision')"
		" FROM (SELECT DISTINCT r.owner FROM _sfflow.rule r) x"
		" ON CONFLICT (owner) DO UPDATE SET revision = excluded.revision");

	sf_db_run(InvalidOid, &plan, NULL, NULL, NULL, 0);
	sf_db_invalidate("rule_owner");
}

/* --- changes --- */

/* Read how many rules there are, and their bytes. */
static void
read_use(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_rules = 1, COL_bytes};
	SfRuleUse  *use = arg;

	use->rules = sf_row_number(tuple, desc, COL_rules, 0);
	use->bytes = sf_row_number(tuple, desc, COL_bytes, 0);
}

/* Count the rules of a role but for one (0: all), and their bytes, no further than to limit. */
static SfRuleUse
count_use(Oid owner, int64 but, int limit)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) AS rules, pg_catalog.sum(x.bytes)::pg_catalog.int8 AS bytes"
		" FROM (SELECT r.bytes FROM _sfflow.rule r WHERE r.owner = $1 AND r.rule_no <> $2"
		"  LIMIT $3) x");
	SfRuleUse	use = {0};

	sf_db_read(&plan, read_use, &use, SF_ROLE(owner), SF_INT8(but), SF_INT8(limit));
	return use;
}

/*
 * Tell whether a role may have a rule more, which is put in the place of one (0: of none).  Other
 * sessions that change its rules wait until the end of the transaction.  So a count that was
 * made in this transaction is still right but for what was added since, and for what was
 * deleted: only when it is too high they are counted again.
 */
SfRuleUse
sf_rule_use(const SfRule *rule, int64 but, int max_rules, int max_bytes)
{
	static TimestampTz counted_in = 0;
	static Oid	counted_of = InvalidOid;
	static SfRuleUse use;
	bool		is_known = sf_rule_revision(rule->owner).is_ours && counted_of == rule->owner &&
		counted_in == GetCurrentTransactionStartTimestamp();

	change_revision(rule->owner);
	if (!is_known || (max_rules > 0 && use.rules >= max_rules) ||
		(max_bytes > 0 && use.bytes + rule->bytes > max_bytes))
	{
		counted_in = 0;
		use = count_use(rule->owner, but, max_rules == 0 ? PG_INT32_MAX : max_rules);
		counted_of = rule->owner;
		counted_in = GetCurrentTransactionStartTimestamp();
	}
	use.rules++;
	use.bytes += rule->bytes;
	return (SfRuleUse) {use.rules - 1, use.bytes - rule->bytes};
}

/* The word for what becomes of an execution that a rule finds. */
const char *
sf_rule_if_exists(const SfRule *rule)
{
	return if_exists_words[rule->if_exists];
}

/*
 * Insert a rule, or put it in the place of the one with its name that before owns, whose
 * deliveries are made for the new target and the new owner.  False: another role has a rule
 * of that name.
 */
bool
sf_rule_write(const SfRule *rule, Oid before)
{
	static SfPlan write = SF_PLAN(
		"INSERT INTO _sfflow.rule AS r (name, owner, target, created_at, bytes, wants_alerts, pattern, input,"
		" execution_name, if_exists)"
		" VALUES ($1, $2, $3, pg_catalog.now(), $4, $5, $6, $7, $9, $10)"
		" ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, target = excluded.target,"
		" bytes = excluded.bytes, wants_alerts = excluded.wants_alerts,"
		" pattern = excluded.pattern, input = excluded.input, execution_name = excluded.execution_name,"
		" if_exists = excluded.if_exists WHERE r.owner = $8 RETURNING r.rule_no");
	int64		rule_no;

	/* in one order, as a session that passes a rule on the other way */
	change_revision(Min(before, rule->owner));
	if (before != rule->owner)
		change_revision(Max(before, rule->owner));
	rule_no = sf_db_number(&write, 0, SF_TEXT(rule->name), SF_ROLE(rule->owner),
						   SF_TEXT(rule->target), SF_INT4(rule->bytes), SF_BOOL(rule->wants_alerts),
						   SF_JSONB(rule->pattern), SF_JSONB(rule->input), SF_ROLE(before),
						   SF_TEXT(rule->execution_name),
						   SF_TEXT(rule->execution_name == NULL ? NULL : sf_rule_if_exists(rule)));
	if (rule_no == 0)
		return false;
	sf_delivery_pass_on_of(rule_no, rule->owner);
	return true;
}

/*
 * Delete a rule with its deliveries.  Those that another process is making are left to
 * it, since a target may take long: what is left of a rule that is gone is deleted when it is due.
 */
void
sf_rule_delete(const SfRule *rule)
{
	static SfPlan drop = SF_PLAN("DELETE FROM _sfflow.rule r WHERE r.rule_no = $1");

	change_revision(rule->owner);
	sf_db_execute(&drop, SF_INT8(rule->rule_no));
	sf_delivery_delete_of(rule->rule_no);
}

/* --- chains of rules --- */

/* Note that an execution was started by the last of that many rules. */
void
sf_rule_note_depth(int64 execution_no, int depth)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.rule_chain AS c (execution_no, depth) VALUES ($1, $2)"
		" ON CONFLICT (execution_no) DO UPDATE SET depth = greatest(c.depth, excluded.depth)");

	sf_db_execute(&plan, SF_INT8(execution_no), SF_INT4(depth));
}

/* Read a depth. */
static void
read_depth(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_depth};
	*(int *) arg = (int) sf_row_number(tuple, desc, COL_depth, 0);
}

/* How many rules led to what an execution has received. */
static int
depth_of_received(int64 execution_no)
{
	const SfFeature *feature = SF_PROVIDER(rule_target);

	return feature == NULL ? 0 : feature->rule_target->depth_of_received(execution_no);
}

/*
 * How many rules led to an execution, to what it has received, or to its parent (or
 * SF_NO_PARENT), and so on.
 */
int
sf_rule_depth(int64 execution_no, int64 parent_execution_no)
{
	static const SfIndex key = {"rule_chain", "rule_chain_pkey"};
	int			depth = 0;
	int			received = 0;

	for (int i = 0; i < MAX_PARENTS; i++)
	{
		const SfExecution *parent;

		received = Max(received, depth_of_received(execution_no));
		if (sf_row_fetch(&key, SF_LOCK_NONE, NULL, read_depth, &depth, SF_INT8(execution_no)) ||
			parent_execution_no == SF_NO_PARENT)
			break;
		execution_no = parent_execution_no;
		parent = sf_execution_read(execution_no, SF_LOCK_NONE, false);
		parent_execution_no = parent == NULL ? SF_NO_PARENT : parent->parent_execution_no;
	}
	return Max(depth, received);
}
