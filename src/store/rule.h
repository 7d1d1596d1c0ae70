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
	X(Jsonb *, pattern, JSONB, NOT_NULL) \
	X(Jsonb *, input, JSONB, NULLABLE)	/* template; NULL: the event */

typedef struct SfRule
{
	SF_RULE_COLUMNS(SF_FIELD)
} SfRule;

/* Until the end of the transaction, keep other sessions from creating, changing or dropping rules. */
extern void sf_rule_lock_all(void);

extern SfRule *sf_rule_read(const char *name);
extern SfRule *sf_rule_read_by_no(int64 rule_no);
extern List *sf_rule_read_all(void);
extern void sf_rule_write(const SfRule *rule);
extern void sf_rule_delete(int64 rule_no);

extern void sf_rule_note_depth(int64 execution_no, int depth);
extern int	sf_rule_depth(int64 execution_no, int64 parent_execution_no);

#endif							/* SF_STORE_RULE_H */
