/*
 * if_exists.h
 *		What becomes of an execution that is there already when one of its name is to be started.
 */
#ifndef SF_STORE_IF_EXISTS_H
#define SF_STORE_IF_EXISTS_H

/* The words of the argument if_exists, and of the column of _sfflow.rule */
#define SF_IF_EXISTS_LIST(X) \
	X(RESUME, "resume") \
	X(ERROR, "error") \
	X(SKIP, "skip") \
	X(RESTART, "restart") \
	X(REPLACE, "replace")

#define SF_IF_EXISTS_ENUM(sym, word) SF_IF_EXISTS_##sym,
typedef enum SfIfExists
{
	SF_IF_EXISTS_LIST(SF_IF_EXISTS_ENUM)
} SfIfExists;

#define SF_IF_EXISTS_WORD(sym, word) word,

/* Of a call that does not say */
#define SF_IF_EXISTS_OF_CALL	SF_IF_EXISTS_RESUME

/* Of a rule that does not say: a delivery that is repeated finds what the first one has started */
#define SF_IF_EXISTS_OF_RULE	SF_IF_EXISTS_SKIP

#endif							/* SF_STORE_IF_EXISTS_H */
