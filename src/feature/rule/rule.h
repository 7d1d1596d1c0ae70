/*
 * rule.h
 *		Rules: their rows, what they call, and their deliveries.
 */
#ifndef SF_FEATURE_RULE_H
#define SF_FEATURE_RULE_H

#include "asl/program.h"
#include "run/task/deliverer.h"
#include "store/alert/feature_rule_target.h"
#include "store/execution/execution.h"
#include "store/execution/status.h"

/* --- rules --- */

/* Columns of _sfflow.rule; see sql/parts/feature/rule.sql. */
#define SF_RULE_COLUMNS(X) \
	X(int64, rule_no, INT8, NOT_NULL) \
	X(char *, name, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL) \
	X(char *, target, TEXT, NOT_NULL)	/* as given */ \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL) \
	X(int, bytes, INT4, NOT_NULL)		/* of pattern and input as text */ \
	X(bool, wants_alerts, BOOL, NOT_NULL) \
	X(Jsonb *, pattern, JSONB, NOT_NULL) \
	X(Jsonb *, input, JSONB, NULLABLE)	/* template; NULL: the event */ \
	X(char *, execution_name, TEXT, NULLABLE)	/* of what it starts: over the event; NULL: of rule and event */ \
	X(SfIfExists, if_exists, WORD, WORDS_OR(if_exists_words, SF_IF_EXISTS_OF_RULE))	/* of one that is there */

typedef struct SfRule
{
	SF_RULE_COLUMNS(SF_FIELD)
} SfRule;

extern SfRule *sf_rule_read(const char *name, SfLock lock);
extern SfRule *sf_rule_read_by_no(int64 rule_no);
extern const char *sf_rule_if_exists(const SfRule *rule);
extern bool sf_rule_write(const SfRule *rule, Oid before);
extern void sf_rule_delete(const SfRule *rule);

/* How many rules a role has, and the bytes of all */
typedef struct SfRuleUse
{
	int64		rules;
	int64		bytes;
} SfRuleUse;

extern SfRuleUse sf_rule_use(const SfRule *rule, int64 but, int max_rules, int max_bytes);

/* --- what backends keep --- */

/* Where the revision of a role's rules may stand: it never had rules, or none were read */
#define SF_NO_REVISION		0

/* The rules of a role as they were once */
typedef struct SfRuleRevision
{
	int64		revision;		/* or SF_NO_REVISION */
	bool		is_ours;		/* this transaction has changed them, and may do so again */
} SfRuleRevision;

extern List *sf_rule_owners(void);
extern SfRuleRevision sf_rule_revision(Oid owner);
extern List *sf_rule_read_of(Oid owner);
extern bool sf_rule_any_wants_alerts(void);
extern void sf_rule_note_owners(void);

extern void sf_rule_note_depth(int64 execution_no, int depth);
extern int	sf_rule_depth(int64 execution_no, int64 parent_execution_no);

extern Oid	sf_rule_set_owner(const char *name, Oid owner);

/*
 * --- what a rule calls, by its name ---
 *
 * "nightly", "sql:shop.note", "activity:report", "event:paid", "notify:alarms"
 */

typedef enum SfTargetKind
{
	SF_TARGET_MACHINE,			/* "machine", "machine/3" or an ARN: starts an execution */
	SF_TARGET_FUNCTION,			/* a SQL function, called as by a Task state */
	SF_TARGET_ACTIVITY,			/* starts an execution of a machine that is made for the
								 * rule, with one task of that activity */
	SF_TARGET_EVENT,			/* emits an event of a type */
	SF_TARGET_CHANNEL			/* NOTIFY */
} SfTargetKind;

typedef struct SfTarget
{
	SfTargetKind kind;
	const char *name;			/* of the machine (for ACTIVITY that of the rule), the
								 * activity, the type of events or the channel */
	SfResource	resource;		/* FUNCTION */
} SfTarget;

extern SfTarget sf_target_parse(const char *text);
extern const char *sf_target_machine_of(const char *rule);

extern char *sf_target_execution_name(const SfRule *rule, Jsonb *event, SfError *error);
extern void sf_target_check_name(const char *execution_name);
extern Jsonb *sf_target_input(const SfRule *rule, Jsonb *event, SfError *error);
extern void sf_target_check_input(const Jsonb *input);
extern const SfRuleTarget *sf_target_events(void);
extern void sf_target_check_event(const Jsonb *input);

/*
 * Deliveries.
 *
 * A slice inserts a delivery with the change of a status that a rule is about.  An
 * attempt takes two transactions:
 *
 *		claim		one attempt more, due again after a pause
 *		deliver		lock the row if no other process has claimed it since; call the
 *					target; delete the row, or note the error, or that it is dead
 *
 * So an attempt counts also where the target ends its process, or the server.  New
 * deliveries are claimed several at once: if the process ends, it is not known which was being
 * tried.  That counts for none of them; each is then claimed by itself.
 */

/*
 * What was done with a delivery:
 *
 *	NEW					it was not tried, or is to be tried as if it had not been
 *	CLAIMED_WITH_OTHERS	an attempt is made, or maybe not, and does not count yet
 *	CLAIMED				an attempt is made
 *	RETRY				an attempt has failed, and there is to be another one
 *	DEAD				it is not tried any more
 *
 * A claim holds until the delivery is due; then it is claimed again, by itself.  So a worker puts off a delivery whose
 * target needs what another transaction has locked: the claim holds on, and the attempt does not count.
 * The numbers are stored.
 */
#define SF_DELIVERY_LIST(X) \
	X(NEW, 0) \
	X(CLAIMED_WITH_OTHERS, 1) \
	X(CLAIMED, 2) \
	X(RETRY, 3) \
	X(DEAD, 4)

#define SF_DELIVERY_ENUM(sym, number) SF_DELIVERY_##sym = number,
typedef enum SfDeliveryStatus
{
	SF_DELIVERY_LIST(SF_DELIVERY_ENUM)
} SfDeliveryStatus;

/* Those that are claimed by themselves when they are due, for SQL: queries read the view of an index (rule.sql) */
#define SF_DELIVERIES_AGAIN	SF_DELIVERY_CLAIMED_WITH_OTHERS, SF_DELIVERY_CLAIMED, SF_DELIVERY_RETRY

/* Columns of _sfflow.rule_delivery; see sql/parts/feature/rule.sql. */
#define SF_RULE_DELIVERY_COLUMNS(X) \
	X(int64, rule_no, INT8, NOT_NULL) \
	X(char *, event_id, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL)	/* of the rule */ \
	X(int, attempt, INT4, NOT_NULL)	/* attempts that count, with the one for which it is CLAIMED */ \
	X(int, depth, INT4, NOT_NULL)	/* rules that led to it, with this one */ \
	X(TimestampTz, due_at, TIMESTAMPTZ, NULL_IS(DT_NOEND))	/* DEAD: null */ \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, failed_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* last */ \
	X(char *, error, TEXT, NULLABLE) \
	X(char *, cause, TEXT, NULLABLE) \
	X(Jsonb *, event, JSONB, NOT_NULL) \
	X(SfDeliveryStatus, status, INT2, NOT_NULL) \
	X(bool, unmatched, BOOL, NOT_NULL)	/* whether the event matches is for the attempt to find out */

typedef struct SfDelivery
{
	SF_RULE_DELIVERY_COLUMNS(SF_FIELD)
} SfDelivery;

/* The number of the attempt that is made of a delivery that was claimed. */
static inline int
sf_delivery_attempt(const SfDelivery *claimed)
{
	return claimed->status == SF_DELIVERY_CLAIMED_WITH_OTHERS ? 1 : claimed->attempt;
}

extern void sf_delivery_insert(const SfDelivery *delivery);
extern Oid	sf_delivery_next_owner(Oid after);
extern Oid	sf_delivery_retry_owner(TimestampTz now, const List *but);
extern TimestampTz sf_delivery_next_due(void);
extern List *sf_delivery_claim(Oid owner, TimestampTz now, int max_rows);
extern List *sf_delivery_claim_retry(Oid owner, TimestampTz now);
extern void sf_delivery_give_back(const SfDelivery *claimed);
extern void sf_delivery_put_off(const SfDelivery *claimed, int ms);
extern bool sf_delivery_lock(const SfDelivery *claimed);
extern void sf_delivery_set_failed(const SfDelivery *claimed, const SfError *error, bool dead);
extern void sf_delivery_pass_on(const SfDelivery *delivery, Oid owner);
extern void sf_delivery_delete(const SfDelivery *delivery);
extern void sf_delivery_count(int64 rule_no, int delivered);
extern int64 sf_delivery_revive(int64 rule_no, const char *event_id);
extern int64 sf_delivery_delete_dead(int64 rule_no, const char *event_id);
extern void sf_delivery_pass_on_of(int64 rule_no, Oid owner);
extern void sf_delivery_delete_of(int64 rule_no);

/* --- calling targets --- */

extern const SfDeliverer sf_delivery_deliverer;

#endif							/* SF_FEATURE_RULE_H */
