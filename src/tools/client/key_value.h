/*
 * key_value.h
 *		Settings by their key, and files of "key = value" with [sections].
 */
#ifndef SFW_KEY_VALUE_H
#define SFW_KEY_VALUE_H

#include <stdbool.h>

typedef enum SfwType
{
	SFW_TEXT,					/* char * */
	SFW_COUNT,					/* int */
	SFW_TIME,					/* int64_t, milliseconds */
	SFW_SIZE,					/* size_t, bytes */
	SFW_FLAG					/* bool: on or off */
} SfwType;

/* A setting that only has to be stored */
typedef struct SfwSetting
{
	const char *key;
	SfwType		type;
	void	   *field;
	int			least;
	int			most;			/* of a count */
} SfwSetting;

/* What the lines of a file are given to */
typedef struct SfwFileReader
{
	bool		(*set) (const char *key, const char *value, char **problem);
	bool		(*begin_section) (const char *line, char **problem);
	bool		(*set_in_section) (const char *key, const char *value, char **problem);
} SfwFileReader;

extern bool sfw_settings_store(const SfwSetting *settings, int n, const char *key, const char *value, char **problem);
extern bool sfw_file_read(const char *path, const SfwFileReader *reader, bool *others_can_read, char **problem);

#endif							/* SFW_KEY_VALUE_H */
