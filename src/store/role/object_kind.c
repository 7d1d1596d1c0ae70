/*
 * object_kind.c
 *		Words for kinds of objects.
 */
#include "postgres.h"

#include "store/role/object_kind.h"

/* The word of a kind. */
const char *
sf_object_kind_name(SfObjectKind kind)
{
#define WORD_OF(sym, letter, word) \
	if (kind == SF_OBJECT_##sym) \
		return word;
	SF_OBJECT_LIST(WORD_OF)
	elog(ERROR, "there is no kind of objects \"%c\"", kind);
}

/* The kind that a word stands for. */
SfObjectKind
sf_object_kind_of(const char *word)
{
#define KIND_OF(sym, letter, name) \
	if (strcmp(word, name) == 0) \
		return SF_OBJECT_##sym;
	SF_OBJECT_LIST(KIND_OF)
	elog(ERROR, "there are no objects of the kind \"%s\", as far as this library knows", word);
}
