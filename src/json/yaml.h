/*
 * yaml.h
 *		What the two files that read YAML share.
 */
#ifndef SF_JSON_YAML_H
#define SF_JSON_YAML_H

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

#include "base/version/compat.h"

/* A document that is being read */
typedef struct SfYaml
{
	const char *text;
	const char *p;				/* the byte to be read next; the text ends with a zero byte */
	StringInfoData out;			/* JSON */
	List	   *anchors;		/* the values that aliases may name */
} SfYaml;

/* --- positions and blanks --- */

extern void sf_yaml_fail(const SfYaml *yaml, const char *at, const char *message) pg_attribute_noreturn();
extern int	sf_yaml_column(const SfYaml *yaml, const char *at);
extern bool sf_yaml_is_space(char c);
extern bool sf_yaml_is_flow_indicator(char c);
extern bool sf_yaml_is_dash(const char *p);
extern bool sf_yaml_is_end(const SfYaml *yaml);
extern void sf_yaml_skip_blanks(SfYaml *yaml);
extern void sf_yaml_skip_lines(SfYaml *yaml);
extern void sf_yaml_expect_line_end(SfYaml *yaml);

/* --- scalars --- */

extern bool sf_yaml_is_plain_end(const char *p, bool in_flow);
extern void sf_yaml_check_plain(SfYaml *yaml, bool in_flow);
extern void sf_yaml_read_plain_line(SfYaml *yaml, StringInfo buf, bool in_flow);
extern char *sf_yaml_read_plain(SfYaml *yaml, int indent, bool in_flow);
extern char *sf_yaml_read_quoted(SfYaml *yaml);
extern char *sf_yaml_read_block(SfYaml *yaml, int indent);
extern void sf_yaml_write_plain(SfYaml *yaml, const char *s, bool is_string);

#endif							/* SF_JSON_YAML_H */
