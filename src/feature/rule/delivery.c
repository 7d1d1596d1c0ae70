/*
 * delivery.c
 *		Rows of _sfflow.rule_delivery and _sfflow.rule_total.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "feature/rule/rule.h"

#define ROW SfDelivery
SF_ROW_TYPE(row_type, SF_RULE_DELIVERY_COLUMNS, rule_delivery, 2);

/* Insert a delivery; it is due at once, or dead. */
void
sf_delivery_insert(const SfDelivery *delivery)
{
	sf_row_insert(&row_type, delivery);
}

/* --- what is due --- */

/*
 * Find an owner of deliveries that were not tried yet: the first one after a role, or
 * of all; InvalidOid: there is none.
 */
Oid
sf_delivery_next_owner(Oid after)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.owner FROM _sfflow.new_delivery d WHERE d.owner > $1 ORDER BY d.owner LIMIT 1");
	Oid			owner = sf_db_number(&plan, InvalidOid, SF_ROLE(after));

	return OidIsValid(owner) || !OidIsValid(after) ? owner : sf_delivery_next_owner(InvalidOid);
}

/*
 * Find the owner of the delivery that is to be tried again first, of those that no other
 * process has locked; InvalidOid: none is.  Some owners are left out.
 */
Oid
sf_delivery_retry_owner(TimestampTz now, const List *but)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.owner FROM _sfflow.delivery_again d WHERE d.due_at <= $1 AND d.owner::pg_catalog.oid <> ALL ($2)"
		" ORDER BY d.due_at LIMIT 1 FOR UPDATE SKIP LOCKED");

	return sf_db_number(&plan, InvalidOid, SF_TIME(now), sf_query_oids(but));
}

/* When the next delivery is due; DT_NOEND: there is none. */
TimestampTz
sf_delivery_next_due(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.due_at FROM _sfflow.delivery_again d ORDER BY d.due_at LIMIT 1");

	if (OidIsValid(sf_delivery_next_owner(InvalidOid)))
		return DT_NOBEGIN;
	return sf_db_number(&plan, DT_NOEND);
}

/* Claim deliveries of an owner; the pause doubles with each attempt, from a second to an hour or so */
#define CLAIM(view, attempt) \
	"WITH c AS MATERIALIZED (SELECT d.rule_no, d.event_id FROM _sfflow." view " d" \
	" WHERE d.owner = $1 AND d.due_at <= $2 ORDER BY d.due_at LIMIT $3 FOR UPDATE SKIP LOCKED)" \
	" UPDATE _sfflow.rule_delivery t SET status = $4, attempt = " attempt "," \
	" due_at = $2 + pg_catalog.make_interval(0, 0, 0, 0, 0, 0," \
	"  pg_catalog.power(2::pg_catalog.float8, LEAST(t.attempt, 12)::pg_catalog.float8))" \
	" FROM c WHERE t.rule_no = c.rule_no AND t.event_id = c.event_id" \
	" RETURNING t.rule_no, t.event_id, t.owner, t.attempt, t.depth, t.due_at, t.created_at," \
	" t.failed_at, t.error, t.cause, t.event, t.status, t.unmatched"

/* Claim some that were not tried yet. */
List *
sf_delivery_claim(Oid owner, TimestampTz now, int max_rows)
{
	static SfPlan plan = SF_PLAN(CLAIM("new_delivery", "t.attempt"));

	return sf_db_rows(&plan, &row_type, SF_ROLE(owner), SF_TIME(now), SF_INT8(max_rows),
					  SF_INT2(SF_DELIVERY_CLAIMED_WITH_OTHERS));
}

/* Claim one that is to be tried again: by itself, since it may end its process. */
List *
sf_delivery_claim_retry(Oid owner, TimestampTz now)
{
	static SfPlan plan = SF_PLAN(CLAIM("delivery_again", "t.attempt + 1"));

	return sf_db_rows(&plan, &row_type, SF_ROLE(owner), SF_TIME(now), SF_INT8(1), SF_INT2(SF_DELIVERY_CLAIMED));
}

/* --- one delivery --- */

/* Lock a delivery that this process has claimed; false: it is not ours any more. */
bool
sf_delivery_lock(const SfDelivery *claimed)
{
	static SfPlan plan = SF_PLAN(
		"SELECT 1 FROM _sfflow.rule_delivery d WHERE d.rule_no = $1 AND d.event_id = $2"
		" AND d.attempt = $3 AND d.status = $4 FOR UPDATE SKIP LOCKED");

	return sf_db_number(&plan, 0, SF_INT8(claimed->rule_no), SF_TEXT(claimed->event_id),
						SF_INT4(claimed->attempt), SF_INT2(claimed->status)) == 1;
}

/* Have a delivery that was claimed with others and not tried claimed anew, before newer ones. */
void
sf_delivery_give_back(const SfDelivery *claimed)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.rule_delivery d SET status = $4, due_at = d.created_at"
		" WHERE d.rule_no = $1 AND d.event_id = $2 AND d.status = $3");

	sf_db_execute(&plan, SF_INT8(claimed->rule_no), SF_TEXT(claimed->event_id),
				  SF_INT2(SF_DELIVERY_CLAIMED_WITH_OTHERS), SF_INT2(SF_DELIVERY_NEW));
}

/* Have a delivery that was claimed, and could not be tried, claimed anew later: the attempt does not count. */
void
sf_delivery_put_off(const SfDelivery *claimed, int ms)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.rule_delivery d SET status = $5, attempt = $6, due_at = $7"
		" WHERE d.rule_no = $1 AND d.event_id = $2 AND d.attempt = $3 AND d.status = $4");
	int			before = sf_delivery_attempt(claimed) - 1;

	sf_db_execute(&plan, SF_INT8(claimed->rule_no), SF_TEXT(claimed->event_id),
				  SF_INT4(claimed->attempt), SF_INT2(claimed->status),
				  SF_INT2(before == 0 ? SF_DELIVERY_CLAIMED_WITH_OTHERS : SF_DELIVERY_CLAIMED), SF_INT4(before),
				  SF_TIME(TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms)));
}

/* Note that the attempt for which a delivery was claimed has failed, maybe the last one. */
void
sf_delivery_set_failed(const SfDelivery *claimed, const SfError *error, bool dead)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.rule_delivery d SET status = $5, attempt = $6, failed_at = pg_catalog.clock_timestamp(),"
		" error = $7, cause = $8, due_at = CASE WHEN $9 THEN NULL ELSE d.due_at END"
		" WHERE d.rule_no = $1 AND d.event_id = $2 AND d.attempt = $3 AND d.status = $4");

	sf_db_execute(&plan, SF_INT8(claimed->rule_no), SF_TEXT(claimed->event_id),
				  SF_INT4(claimed->attempt), SF_INT2(claimed->status),
				  SF_INT2(dead ? SF_DELIVERY_DEAD : SF_DELIVERY_RETRY), SF_INT4(sf_delivery_attempt(claimed)),
				  SF_TEXT(error->name), SF_TEXT(error->cause), SF_BOOL(dead));
}

/* Have a delivery made by the role that owns its rule now. */
void
sf_delivery_pass_on(const SfDelivery *delivery, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.rule_delivery d SET owner = $3"
		" WHERE d.rule_no = $1 AND d.event_id = $2");

	sf_db_execute(&plan, SF_INT8(delivery->rule_no), SF_TEXT(delivery->event_id), SF_ROLE(owner));
}

/* Delete a delivery. */
void
sf_delivery_delete(const SfDelivery *delivery)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.rule_delivery d WHERE d.rule_no = $1 AND d.event_id = $2");

	sf_db_execute(&plan, SF_INT8(delivery->rule_no), SF_TEXT(delivery->event_id));
}

/* Count deliveries of a rule that were made, in a row that no other process has locked. */
void
sf_delivery_count(int64 rule_no, int delivered)
{
	static SfPlan add = SF_PLAN(
		"UPDATE _sfflow.rule_total t SET delivered = t.delivered + $2"
		" WHERE t.ctid = (SELECT f.ctid FROM _sfflow.rule_total f"
		"  WHERE f.rule_no = $1 LIMIT 1 FOR UPDATE SKIP LOCKED)");
	static SfPlan insert = SF_PLAN(
		"INSERT INTO _sfflow.rule_total (rule_no, delivered) SELECT r.rule_no, $2"
		" FROM _sfflow.rule r WHERE r.rule_no = $1");

	if (sf_db_execute(&add, SF_INT8(rule_no), SF_INT8(delivered)) == 0)
		sf_db_execute(&insert, SF_INT8(rule_no), SF_INT8(delivered));
}

/* --- dead ones --- */

#define DEAD \
	" WHERE d.rule_no = $1 AND d.status = $3 AND ($2 IS NULL OR d.event_id = $2)"

/* Have dead deliveries of a rule tried anew: of one event, or (NULL) all; returns how many. */
int64
sf_delivery_revive(int64 rule_no, const char *event_id)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.rule_delivery d SET status = $4, attempt = 0, due_at = pg_catalog.clock_timestamp()" DEAD);
	int64		n = sf_db_execute(&plan, SF_INT8(rule_no), SF_TEXT(event_id), SF_INT2(SF_DELIVERY_DEAD),
								  SF_INT2(SF_DELIVERY_NEW));

	if (n > 0)
		sf_hooks.delivery_due();
	return n;
}

/* Delete dead deliveries likewise; returns how many. */
int64
sf_delivery_delete_dead(int64 rule_no, const char *event_id)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.rule_delivery d" DEAD);

	return sf_db_execute(&plan, SF_INT8(rule_no), SF_TEXT(event_id), SF_INT2(SF_DELIVERY_DEAD));
}

/* --- those of a rule --- */

/* Give the deliveries of a rule to its new owner, but for those that another process is making. */
void
sf_delivery_pass_on_of(int64 rule_no, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.rule_delivery d SET owner = $2"
		" FROM (SELECT f.ctid FROM _sfflow.rule_delivery f WHERE f.rule_no = $1"
		"  AND f.owner <> $2 FOR UPDATE SKIP LOCKED) x WHERE d.ctid = x.ctid");

	sf_db_execute(&plan, SF_INT8(rule_no), SF_ROLE(owner));
}

/* Delete the deliveries of a rule, but for those that another process is making, and how many there were. */
void
sf_delivery_delete_of(int64 rule_no)
{
	static SfPlan deliveries = SF_PLAN(
		"DELETE FROM _sfflow.rule_delivery d USING (SELECT f.ctid FROM _sfflow.rule_delivery f"
		" WHERE f.rule_no = $1 FOR UPDATE SKIP LOCKED) x WHERE d.ctid = x.ctid");
	static SfPlan total = SF_PLAN(
		"DELETE FROM _sfflow.rule_total t USING (SELECT f.ctid FROM _sfflow.rule_total f"
		" WHERE f.rule_no = $1 FOR UPDATE SKIP LOCKED) x WHERE t.ctid = x.ctid");

	sf_db_execute(&deliveries, SF_INT8(rule_no));
	sf_db_execute(&total, SF_INT8(rule_no));
}
