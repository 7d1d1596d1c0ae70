/*
 * command.h
 *		The command that a task is, as its payload describes it, and the variables that it sees.
 */
#ifndef SFW_COMMAND_H
#define SFW_COMMAND_H

#include "tools/client/json_text.h"

/* Set it to zero before its first use. */
typedef struct SfwCommand
{
	char	  **argv;
	char	  **env;
	char	   *directory;		/* or NULL */
	char	   *input;			/* or NULL */
} SfwCommand;

extern char *sfw_command_read(SfcJson payload, SfwCommand *command);
extern void sfw_command_of_program(SfcJson payload, SfwCommand *command);
extern void sfw_command_set_variable(SfwCommand *command, const char *name, const char *value);
extern void sfw_command_free(SfwCommand *command);

#endif							/* SFW_COMMAND_H */
