/*
 * object_kind.h
 *		Kinds of objects that rights, holds, limits and the audit are of.
 */
#ifndef SF_STORE_OBJECT_KIND_H
#define SF_STORE_OBJECT_KIND_H

/*
 * Symbol, letter, word.  Rights and the audit store the letter, which SQL has as @OBJECT_ACTIVITY@ (sql/assemble.awk);
 * holds and limits store the word, @OBJECT_ACTIVITY_WORD@.  That of a worklist is "human", as in targets and resources
 * ("human:desk").  An execution and a resource are held and limited alone.  ALL is of all kinds: its name is "*".
 */
#define SF_OBJECT_LIST(X) \
	X(STATE_MACHINE, 'm', "machine") \
	X(EXECUTION, 'x', "execution") \
	X(ACTIVITY, 'a', "activity") \
	X(EVENT, 'e', "event") \
	X(WORKLIST, 'h', "human") \
	X(SCHEDULE, 's', "schedule") \
	X(CALENDAR, 'c', "calendar") \
	X(RULE, 'r', "rule") \
	X(RESOURCE, 't', "resource") \
	X(ALL, '*', "*")

/* What the AWS API tags: in a CHECK of its table */
#define SF_OBJECTS_TAGGED SF_OBJECT_STATE_MACHINE, SF_OBJECT_ACTIVITY

#define SF_OBJECT_ENUM(sym, letter, word) SF_OBJECT_##sym = letter,
typedef enum SfObjectKind
{
	SF_OBJECT_LIST(SF_OBJECT_ENUM)
} SfObjectKind;

/* For an array of the words by their letters, with gaps */
#define SF_OBJECT_WORD(sym, letter, word) [letter] = word,

extern const char *sf_object_kind_name(SfObjectKind kind);
extern SfObjectKind sf_object_kind_of(const char *word);

#endif							/* SF_STORE_OBJECT_KIND_H */
