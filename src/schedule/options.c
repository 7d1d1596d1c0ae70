/*
 * options.c
 *		Options of schedules that are words.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "base/errors.h"
#include "schedule/options.h"

#define OPTION_NAME(sym, name) name,

/* Find a word among those of an option, or raise SF012. */
static int
find_word(const char *argument, const char *text, const char *const *words, int n)
{
	StringInfoData all;

	initStringInfo(&all);
	for (int i = 0; i < n; i++)
	{
		if (strcmp(text, words[i]) == 0)
			return i;
		appendStringInfo(&all, "%s%s", i == 0 ? "" : ", ", words[i]);
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("argument %s must not be \"%s\"", argument, text),
			 errhint("It is one of %s.", all.data)));
}

/* Read the option on_closed. */
SfOnClosed
sf_option_on_closed(const char *text)
{
	static const char *const words[] = {SF_ON_CLOSED_LIST(OPTION_NAME)};

	return (SfOnClosed) find_word("on_closed", text, words, lengthof(words));
}

/* Read the option missed. */
SfMissed
sf_option_missed(const char *text)
{
	static const char *const words[] = {SF_MISSED_LIST(OPTION_NAME)};

	return (SfMissed) find_word("missed", text, words, lengthof(words));
}

/* Read the option overlap. */
SfOverlap
sf_option_overlap(const char *text)
{
	static const char *const words[] = {SF_OVERLAP_LIST(OPTION_NAME)};

	return (SfOverlap) find_word("overlap", text, words, lengthof(words));
}
