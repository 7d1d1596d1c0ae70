/*
 * object_kind.h
 *		Kinds of objects that rights, holds and the audit are of.
 */
#ifndef SF_STORE_OBJECT_KIND_H
#define SF_STORE_OBJECT_KIND_H

/*
 * As stored: letter; ALL is of all of them, whose name is "*".  SQL has them as
 * @OBJECT_ACTIVITY@ (sql/assemble.awk).
 */
#define SF_OBJECT_LIST(X) \
	X(STATE_MACHINE, 'm') \
	X(ACTIVITY, 'a') \
	X(EVENT, 'e') \
	X(WORKLIST, 'h') \
	X(SCHEDULE, 's') \
	X(CALENDAR, 'c') \
	X(RULE, 'r') \
	X(ALL, '*')

#define SF_OBJECT_ENUM(sym, letter) SF_OBJECT_##sym = letter,
typedef enum SfObjectKind
{
	SF_OBJECT_LIST(SF_OBJECT_ENUM)
} SfObjectKind;

#endif							/* SF_STORE_OBJECT_KIND_H */
