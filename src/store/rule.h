/*
 * rule.h
 *		Rows of _sfflow.rule and _sfflow.rule_chain.
 */
#ifndef SF_STORE_RULE_H
#define SF_STORE_RULE_H

#include "store/execution.h"

/* Columns of _sfflow.rule; see sql/parts/16-rules.sql. */
#define SF_RULE_COLUMNS(X) \
	X(int64, rule_no, INT8, NOT_NULL) \
	X(char *, name, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL) \
	X(char *, target, TEXT, NOT_NULL)	/* as given */ \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL) \
	X(int, bytes, INT4, NOT_NULL)		/* of pattern and input as text */ \
	X(bool, wants_alerts, BOOL, NOT_NULL) \
	X(Jsonb *, pattern, JSONB, NOT_NULL) \
	X(Jsonb *, input, JSONB, NULLABLE)	/* template; NULL: the event */

typedef struct SfRule
{
	SF_RULE_COLUMNS(SF_FIELD)
} SfRule;

extern SfRule *sf_rule_read(const char *name, SfLock lock);
extern SfRule *sf_rule_read_by_no(int64 rule_no);
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

/* The rules of a role as they were once */
typedef struct SfRuleVersion
{
	int64		version;		/* 0: the role never had rules */
	bool		is_ours;		/* this transaction has changed them, and may do so again */
} SfRuleVersion;

extern List *sf_rule_owners(void);
extern SfRuleVersion sf_rule_version(Oid owner);
extern List *sf_rule_read_of(Oid owner);
extern bool sf_rule_any_wants_alerts(void);
extern void sf_rule_note_owners(void);

extern void sf_rule_note_depth(int64 execution_no, int depth);
extern int	sf_rule_depth(int64 execution_no, int64 parent_execution_no);

#endif							/* SF_STORE_RULE_H */
