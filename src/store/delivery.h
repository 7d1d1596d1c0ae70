/*
 * delivery.h
 *		Rows of _sfflow.rule_delivery and _sfflow.rule_total.
 *
 * A slice inserts a delivery with the change of a status that a rule is about.  An
 * attempt takes two transactions:
 *
 *		claim		one attempt more, due again after a pause
 *		deliver		lock the row if no other process has claimed it since; call the
 *					target; delete the row, or note the error, or that it is dead
 *
 * So an attempt counts also where the target ends its process, or the server.  New
 * deliveries are claimed several at once (attempt is SF_DELIVERY_BATCHED): if the process
 * ends, it is not known which was being tried.  That counts for none of them; each is then
 * claimed by itself.
 */
#ifndef SF_STORE_DELIVERY_H
#define SF_STORE_DELIVERY_H

#include "base/errors.h"
#include "store/row.h"

/* Columns of _sfflow.rule_delivery; see sql/parts/16-rules.sql. */
#define SF_RULE_DELIVERY_COLUMNS(X) \
	X(int64, rule_no, INT8, NOT_NULL) \
	X(char *, event_id, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL)	/* of the rule */ \
	X(int, attempt, INT4, NOT_NULL)	/* attempts so far, or SF_DELIVERY_BATCHED */ \
	X(int, depth, INT4, NOT_NULL)	/* rules that led to it, with this one */ \
	X(TimestampTz, due_at, TIMESTAMPTZ, NULL_IS(DT_NOEND))	/* it is dead */ \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, failed_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* last */ \
	X(char *, error, TEXT, NULLABLE) \
	X(char *, cause, TEXT, NULLABLE) \
	X(Jsonb *, event, JSONB, NOT_NULL)

typedef struct SfDelivery
{
	SF_RULE_DELIVERY_COLUMNS(SF_FIELD)
} SfDelivery;

/* Claimed with others, and not failed: maybe not tried */
#define SF_DELIVERY_BATCHED		(-1)

extern void sf_delivery_insert(const SfDelivery *delivery);
extern Oid	sf_delivery_next_owner(Oid after);
extern Oid	sf_delivery_retry_owner(TimestampTz now, const List *but);
extern TimestampTz sf_delivery_next_due(void);
extern List *sf_delivery_claim(Oid owner, TimestampTz now, int limit);
extern List *sf_delivery_claim_retry(Oid owner, TimestampTz now);
extern void sf_delivery_give_back(const SfDelivery *claimed);
extern bool sf_delivery_lock(const SfDelivery *claimed);
extern void sf_delivery_set_failed(const SfDelivery *delivery, const SfError *error, bool dead);
extern void sf_delivery_pass_on(const SfDelivery *delivery, Oid owner);
extern void sf_delivery_delete(const SfDelivery *delivery);
extern void sf_delivery_count(int64 rule_no, int delivered);
extern int64 sf_delivery_revive(int64 rule_no, const char *event_id);
extern int64 sf_delivery_drop_dead(int64 rule_no, const char *event_id);

#endif							/* SF_STORE_DELIVERY_H */
