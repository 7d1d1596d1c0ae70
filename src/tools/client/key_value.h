/*
 * key_value.h
 *		Settings by their key, and files of "key = value" with [sections]; lists of names.
 */
#ifndef SFC_KEY_VALUE_H
#define SFC_KEY_VALUE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum SfcType
{
	SFC_TYPE_TEXT,				/* char * */
	SFC_TYPE_COUNT,				/* int */
	SFC_TYPE_TIME,				/* int64_t, milliseconds */
	SFC_TYPE_SIZE,				/* size_t, bytes */
	SFC_TYPE_FLAG				/* bool: on or off */
} SfcType;

/* A setting that only has to be stored */
typedef struct SfcSetting
{
	const char *key;
	SfcType		type;
	void	   *field;
	int			least;
	int			most;			/* of a count */
} SfcSetting;

/* What the lines of a file are given to */
typedef struct SfcFileReader
{
	bool		(*set) (const char *key, const char *value, char **problem);
	bool		(*begin_section) (const char *line, char **problem);
	bool		(*set_in_section) (const char *key, const char *value, char **problem);
} SfcFileReader;

extern bool sfc_is_one_of(const char *name, const char *const *names, size_t n);
extern bool sfc_settings_store(const SfcSetting *settings, int n, const char *key, const char *value, char **problem);
extern bool sfc_file_read(const char *path, const SfcFileReader *reader, bool *others_can_read, char **problem);

#endif							/* SFC_KEY_VALUE_H */
