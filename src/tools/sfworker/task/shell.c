/*
 * shell.c
 *		Tasks that are commands, and tasks that one program does.
 *
 *		{"Command": ["backup", "--full", "shop"],	or a string for /bin/sh -c
 *		 "Input": ..., "Env": {...}, "Directory": "...", "TimeoutSeconds": 60}
 *
 * No part of a payload is put into a line for a shell: an array goes to exec as
 * it is, a string is what its author wrote as a script, and data reach a command
 * on standard input or in the environment.
 *
 * The program of --program does the tasks of kind program.  It reads the payload,
 * of which no member means anything to the worker, on standard input, and may
 * name an error: {"Error": ..., "Cause": ...} on standard output, and a status
 * other than 0.
 *
 * A command is a process group with three pipes.  When its first process ends,
 * the others of the group get TERM, and KILL a second later.
 */
#include "postgres_fe.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/sfworker/config.h"
#include "tools/sfworker/task/claimed_task.h"
#include "tools/sfworker/task/subprocess.h"

/* Milliseconds between TERM and KILL for the other processes of a command that has ended */
#define LEFTOVER_GRACE 1000

#define MAX_ARGUMENTS 4096

/* A command, as the payload describes it */
typedef struct Command
{
	char	  **argv;
	char	  **env;
	char	   *directory;		/* or NULL */
	char	   *input;			/* or NULL */
} Command;

/* The pipes of a command; into START the child writes errno when it cannot start the program */
enum
{
	IN,
	OUT,
	ERR,
	START,
	N_PIPES
};

/* A command that runs */
typedef struct Shell
{
	SfwTask    *task;
	Command		command;
	pid_t		pid;
	int			pipes[N_PIPES]; /* our ends */
	size_t		in_len;
	size_t		in_done;
	PQExpBufferData stdout_text;
	PQExpBufferData stderr_text;
	bool		truncated;
	int			start_errno;
	bool		exited;
	SfcTimer	leftover_timer;
} Shell;

/* Patterns of the names of variables that commands see of the worker's environment */
static const char *const passed[] = {
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR",
};

/* ---------------------------------------------------------------- payload */

/* Append a pointer to a list that ends in NULL. */
static void
add(char ***list, char *text)
{
	size_t		n = 0;

	while (*list != NULL && (*list)[n] != NULL)
		n++;
	*list = pg_realloc(*list, sizeof(char *) * (n + 2));
	(*list)[n] = text;
	(*list)[n + 1] = NULL;
}

/* Release a list and what is in it. */
static void
free_list(char **list)
{
	for (size_t n = 0; list != NULL && list[n] != NULL; n++)
		free(list[n]);
	free(list);
}

/* Release a command. */
static void
free_command(Command *command)
{
	free_list(command->argv);
	free_list(command->env);
	free(command->directory);
	free(command->input);
}

/* Tell whether a value is a string, a number or a boolean. */
static bool
is_scalar(SfcJson value)
{
	return strchr("\"0tf", sfc_json_type(value)) != NULL;
}

/* Read Command; gives what is wrong with it, or NULL. */
static char *
read_command(SfcJson value, Command *command)
{
	SfcJsonWalk	walk;
	SfcJson		element;

	if (sfc_json_type(value) == '"')
	{
		/* After -- a script that begins with a minus is not taken for an option. */
		add(&command->argv, pg_strdup("/bin/sh"));
		add(&command->argv, pg_strdup("-c"));
		add(&command->argv, pg_strdup("--"));
		add(&command->argv, sfc_json_text(value));
		return NULL;
	}
	if (sfc_json_type(value) != '[')
		return pg_strdup("Command must be a string or an array of strings");
	walk = sfc_json_walk(value);
	for (int n = 0; sfc_json_next(&walk, NULL, &element); n++)
	{
		if (n == MAX_ARGUMENTS || !is_scalar(element))
			return psprintf("the elements of Command must be strings, at most %d", MAX_ARGUMENTS);
		add(&command->argv, sfc_json_text(element));
	}
	if (command->argv == NULL || command->argv[0][0] == '\0')
		return pg_strdup("the first element of Command is missing or empty");
	return NULL;
}

/* Tell whether a text can be the name of a variable. */
static bool
is_variable(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return *name != '\0' && (*name < '0' || *name > '9') && name[strspn(name, letters)] == '\0';
}

/* Set a variable, in place of an earlier value. */
static void
set_variable(char ***env, const char *name, const char *value)
{
	size_t		len = strlen(name);
	char	   *entry = psprintf("%s=%s", name, value);

	for (size_t n = 0; *env != NULL && (*env)[n] != NULL; n++)
	{
		if (strncmp((*env)[n], name, len) == 0 && (*env)[n][len] == '=')
		{
			free((*env)[n]);
			(*env)[n] = entry;
			return;
		}
	}
	add(env, entry);
}

/*
 * Tell whether commands see a variable that a pattern matches.  libpq's
 * passwords are seen only where --pass-env has their full name.
 */
static bool
passes(const char *pattern, const char *name)
{
	return strcmp(pattern, name) == 0 ||
		(fnmatch(pattern, name, 0) == 0 && strcmp(name, "PGPASSWORD") != 0 && strcmp(name, "PGSSLPASSWORD") != 0);
}

/* Make an environment of the worker's variables that commands may see. */
static char **
base_environment(void)
{
	char	  **env = NULL;

	for (char **entry = environ; *entry != NULL; entry++)
	{
		char	   *name = pnstrdup(*entry, strcspn(*entry, "="));
		bool		pass = false;

		for (size_t i = 0; i < lengthof(passed); i++)
			pass = pass || passes(passed[i], name);
		for (SimpleStringListCell *pattern = sfw_config.pass_env.head; pattern != NULL; pattern = pattern->next)
			pass = pass || passes(pattern->val, name);
		if (pass)
			add(&env, pg_strdup(*entry));
		free(name);
	}
	if (env == NULL)
		env = pg_malloc0(sizeof(char *));
	return env;
}

/* Read Env; gives what is wrong with it, or NULL. */
static char *
read_env(SfcJson value, Command *command)
{
	SfcJsonWalk	walk;
	SfcJson		key;
	SfcJson		member;

	if (sfc_json_type(value) != '{')
		return pg_strdup("Env must be an object");
	walk = sfc_json_walk(value);
	while (sfc_json_next(&walk, &key, &member))
	{
		char	   *name = sfc_json_text(key);
		char	   *text;
		char	   *problem = NULL;

		if (!is_variable(name))
			problem = psprintf("\"%s\" in Env is no name of a variable", name);
		else if (!is_scalar(member))
			problem = psprintf("\"%s\" in Env must be a string", name);
		else
		{
			text = sfc_json_text(member);
			set_variable(&command->env, name, text);
			free(text);
		}
		free(name);
		if (problem != NULL)
			return problem;
	}
	return NULL;
}

/* Read a payload; gives what is wrong with it, or NULL. */
static char *
read_payload(SfcJson payload, Command *command)
{
	SfcJson		value;
	char	   *problem;

	if (!sfc_json_get(payload, "Command", &value))
		return pg_strdup("Command is missing");
	problem = read_command(value, command);
	if (problem != NULL)
		return problem;
	command->env = base_environment();
	if (sfc_json_get(payload, "Env", &value) && (problem = read_env(value, command)) != NULL)
		return problem;
	if (sfc_json_get(payload, "Directory", &value))
	{
		if (sfc_json_type(value) != '"')
			return pg_strdup("Directory must be a string");
		command->directory = sfc_json_text(value);
	}
	else
		command->directory = sfw_config.directory != NULL ? pg_strdup(sfw_config.directory) : NULL;
	if (sfc_json_get(payload, "Input", &value))
		command->input = sfc_json_text(value);
	return NULL;
}

/* Make a command of the program that does all tasks of its kind. */
static void
use_program(SfcJson payload, Command *command)
{
	add(&command->argv, pg_strdup(sfw_config.program));
	command->env = base_environment();
	command->directory = sfw_config.directory != NULL ? pg_strdup(sfw_config.directory) : NULL;
	command->input = pnstrdup(payload.text, payload.len);
}

/* ---------------------------------------------------------------- output */

/* Report the error that a program names on standard output; false: it names none. */
static bool
fail_as_told(Shell *shell)
{
	SfcJson		value;
	SfcJson		error;
	SfcJson		cause;
	char	   *name;
	bool		named;

	if (shell->task->kind != &sfw_kind_program || shell->truncated ||
		!sfc_json_parse(sfc_buffer_data(&shell->stdout_text), shell->stdout_text.len, &value) ||
		sfc_json_type(value) != '{' || !sfc_json_get(value, "Error", &error) || sfc_json_type(error) != '"')
		return false;
	name = sfc_json_text(error);
	named = name[0] != '\0';
	if (named)
		sfw_task_failed(shell->task,
						sfc_json_get(value, "Cause", &cause) ? sfc_json_text(cause) : pg_strdup(""), "%s", name);
	free(name);
	return named;
}

/* Report a status other than 0. */
static void
fail(Shell *shell, int status)
{
	SfwTask    *task = shell->task;
	const char *prefix = task->kind->error_prefix;
	PQExpBuffer text = shell->stderr_text.len > 0 ? &shell->stderr_text : &shell->stdout_text;
	const char *data = sfc_buffer_data(text);
	size_t		skip = text->len > sfw_config.max_stderr ? text->len - sfw_config.max_stderr : 0;
	char	   *cause;

	if (WIFEXITED(status) && fail_as_told(shell))
		return;
	/* The cut may have left the end of a character at the beginning. */
	while (skip > 0 && skip < text->len && ((unsigned char) data[skip] & 0xC0) == 0x80)
		skip++;
	cause = sfc_utf8_repair(data + skip, text->len - skip);
	if (WIFSIGNALED(status))
		sfw_task_failed(task, cause, "%s.Signal.%d", prefix, WTERMSIG(status));
	else
		sfw_task_failed(task, cause, "%s.ExitCode.%d", prefix, WEXITSTATUS(status));
}

/* Report status 0: the output is what the command wrote, as JSON if it is JSON, else as text. */
static void
succeed(Shell *shell)
{
	const char *text = sfc_buffer_data(&shell->stdout_text);
	size_t		len = shell->stdout_text.len;
	PQExpBufferData output;
	SfcJson		value;

	initPQExpBuffer(&output);
	if (!shell->truncated && sfc_json_parse(text, len, &value))
		sfc_json_put_value(&output, value);
	else
	{
		sfc_json_open(&output, '{');
		sfc_json_put_key(&output, "stdout");
		sfc_json_put_bytes(&output, text, shell->truncated ? sfc_utf8_clip(text, len) : len);
		appendPQExpBufferStr(&output, shell->truncated ? ",\"truncated\":true}" : "}");
	}
	sfw_task_succeeded(shell->task, sfc_buffer_data(&output));
}

/* Say why a command could not be started. */
static char *
start_problem(const Command *command, int reason)
{
	return psprintf("cannot start \"%s\": %s", command->argv[0], strerror(reason));
}

/* Release a command that does not run any more. */
static void
free_shell(Shell *shell)
{
	termPQExpBuffer(&shell->stdout_text);
	termPQExpBuffer(&shell->stderr_text);
	free_command(&shell->command);
	free(shell);
}

/* Release what a command used, and report its outcome. */
static void
end_command(Shell *shell)
{
	SfwTask    *task = shell->task;
	int			status;

	sfc_timer_clear(&shell->leftover_timer);
	kill(-shell->pid, SIGKILL);
	status = sfw_subprocess_reap(shell->pid);
	for (int i = 0; i < N_PIPES; i++)
		sfc_loop_close(&shell->pipes[i]);
	task->job = NULL;
	if (shell->start_errno != 0)
		sfw_task_failed(task, start_problem(&shell->command, shell->start_errno), "%s.StartFailed", task->kind->error_prefix);
	else if (status != 0 || task->stopped != SFW_STOP_NONE)
		fail(shell, status);
	else
		succeed(shell);
	free_shell(shell);
}

/* ---------------------------------------------------------------- pipes */

/* Keep what was written to standard output, up to the limit. */
static void
collect_stdout(Shell *shell, const char *data, size_t len)
{
	size_t		room = sfw_config.max_output - shell->stdout_text.len;

	if (len > room)
		shell->truncated = true;
	appendBinaryPQExpBuffer(&shell->stdout_text, data, Min(len, room));
}

/* Keep the tail of what was written to standard error. */
static void
collect_stderr(Shell *shell, const char *data, size_t len)
{
	PQExpBuffer text = &shell->stderr_text;

	appendBinaryPQExpBuffer(text, data, len);
	if (text->len > sfw_config.max_stderr * 2)
	{
		memmove(text->data, text->data + text->len - sfw_config.max_stderr, sfw_config.max_stderr + 1);
		text->len = sfw_config.max_stderr;
	}
}

/* Reads that surely take all that the command itself has written: a pipe holds a megabyte at most */
#define DRAIN_READS 64

/* Read what a pipe has, at most max times, so that other tasks get their turn; false: it is closed. */
static bool
drain(Shell *shell, int which, int max)
{
	int		   *fd = &shell->pipes[which];
	char		data[65536];

	for (int i = 0; *fd >= 0 && i < max; i++)
	{
		ssize_t		n = read(*fd, data, sizeof(data));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0)
			sfc_loop_close(fd);
		else if (which == OUT)
			collect_stdout(shell, data, (size_t) n);
		else if (which == ERR)
			collect_stderr(shell, data, (size_t) n);
		else if ((size_t) n >= sizeof(int))
			memcpy(&shell->start_errno, data, sizeof(int));
	}
	return *fd >= 0;
}

/* A pipe can be read. */
static void
readable(int fd, short revents, void *arg)
{
	Shell	   *shell = arg;

	drain(shell, fd == shell->pipes[OUT] ? OUT : fd == shell->pipes[ERR] ? ERR : START, 4);
	if (shell->exited && shell->pipes[OUT] < 0 && shell->pipes[ERR] < 0)
		end_command(shell);
}

/* The command takes more of its input. */
static void
writable(int fd, short revents, void *arg)
{
	Shell	   *shell = arg;
	ssize_t		n = write(fd, shell->command.input + shell->in_done, shell->in_len - shell->in_done);

	if (n > 0)
		shell->in_done += (size_t) n;
	/* A command need not read its input. */
	if ((n < 0 && errno != EAGAIN && errno != EINTR) || shell->in_done == shell->in_len)
		sfc_loop_close(&shell->pipes[IN]);
}

/* The processes that the command left behind have had their time to end. */
static void
leftovers_late(void *arg)
{
	end_command(arg);
}

/* The command's first process has ended. */
static void
exited(void *arg)
{
	Shell	   *shell = arg;
	bool		open;

	shell->exited = true;
	drain(shell, START, DRAIN_READS);
	open = drain(shell, OUT, DRAIN_READS);
	open = drain(shell, ERR, DRAIN_READS) || open;
	if (!open)
	{
		end_command(shell);
		return;
	}
	kill(-shell->pid, SIGTERM);
	sfc_timer_set(&shell->leftover_timer, LEFTOVER_GRACE, leftovers_late, shell);
}

/* ---------------------------------------------------------------- start, stop */

/* Become the command; does not return.  Only what is safe after fork is called. */
static void
become(const Shell *shell, const int *fds, mode_t mask)
{
	int			reason;

	setpgid(0, 0);
	umask(mask);
	if (dup2(fds[IN], STDIN_FILENO) >= 0 && dup2(fds[OUT], STDOUT_FILENO) >= 0 &&
		dup2(fds[ERR], STDERR_FILENO) >= 0 &&
		(shell->command.directory == NULL || chdir(shell->command.directory) == 0))
	{
		/* Also close descriptors that libraries have opened without close-on-exec. */
		if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
		{
			for (int fd = 3; fd < 1024; fd++)
				fcntl(fd, F_SETFD, FD_CLOEXEC);
		}
		execvpe(shell->command.argv[0], shell->command.argv, shell->command.env);
	}
	reason = errno;
	if (write(fds[START], &reason, sizeof(reason)) < 0)
		_exit(126);
	_exit(127);
}

/* Make the pipes: ours[] do not block, theirs[] are for the command. */
static bool
make_pipes(int *ours, int *theirs)
{
	for (int i = 0; i < N_PIPES; i++)
	{
		int			ends[2];

		if (pipe2(ends, O_CLOEXEC) != 0)
			return false;
		ours[i] = ends[i == IN ? 1 : 0];
		theirs[i] = ends[i == IN ? 0 : 1];
		fcntl(ours[i], F_SETFL, O_NONBLOCK);
	}
	return true;
}

/* Start the command; false: errno says why not. */
static bool
spawn(Shell *shell)
{
	int			theirs[N_PIPES] = {-1, -1, -1, -1};
	mode_t		mask = umask(0);
	int			reason;

	umask(mask);
	memset(shell->pipes, -1, sizeof(shell->pipes));
	shell->pid = make_pipes(shell->pipes, theirs) ? sfw_subprocess_fork() : -1;
	if (shell->pid == 0)
		become(shell, theirs, mask | 022);
	reason = errno;
	for (int i = 0; i < N_PIPES; i++)
	{
		sfc_loop_close(&theirs[i]);
		if (shell->pid < 0)
			sfc_loop_close(&shell->pipes[i]);
	}
	errno = reason;
	if (shell->pid >= 0)
		setpgid(shell->pid, shell->pid);
	return shell->pid >= 0;
}

/* Run the command of a task. */
static void
run(Shell *shell, SfwTask *task)
{
	shell->task = task;
	initPQExpBuffer(&shell->stdout_text);
	initPQExpBuffer(&shell->stderr_text);
	set_variable(&shell->command.env, "SFFLOW_EXECUTION_ID", task->execution_id);
	set_variable(&shell->command.env, "SFFLOW_STATE", task->state != NULL ? task->state : "");
	set_variable(&shell->command.env, "SFFLOW_ATTEMPT", task->attempt);
	set_variable(&shell->command.env, "SFFLOW_RESOURCE", task->resource != NULL ? task->resource : "");
	if (task->traceparent != NULL)
		set_variable(&shell->command.env, "TRACEPARENT", task->traceparent);
	if (task->tracestate != NULL)
		set_variable(&shell->command.env, "TRACESTATE", task->tracestate);
	if (task->kind == &sfw_kind_program)
		set_variable(&shell->command.env, "SFFLOW_TASK_TOKEN", task->token);
	if (!spawn(shell))
	{
		sfw_task_failed(task, start_problem(&shell->command, errno), "%s.StartFailed", task->kind->error_prefix);
		free_shell(shell);
		return;
	}
	task->job = shell;
	shell->in_len = shell->command.input != NULL ? strlen(shell->command.input) : 0;
	if (shell->in_len == 0)
		sfc_loop_close(&shell->pipes[IN]);
	else
		sfc_loop_watch(shell->pipes[IN], POLLOUT, writable, shell);
	for (int i = OUT; i < N_PIPES; i++)
		sfc_loop_watch(shell->pipes[i], POLLIN, readable, shell);
	sfw_subprocess_watch(shell->pid, exited, shell);
}

/* Begin a task that is a command. */
static void
shell_start(SfwTask *task)
{
	Shell	   *shell = pg_malloc0(sizeof(Shell));
	char	   *problem = read_payload(task->payload, &shell->command);

	if (problem == NULL)
	{
		run(shell, task);
		return;
	}
	free_command(&shell->command);
	free(shell);
	sfw_task_reject(task, problem);
}

/* Begin a task that the program does. */
static void
program_start(SfwTask *task)
{
	Shell	   *shell = pg_malloc0(sizeof(Shell));

	use_program(task->payload, &shell->command);
	run(shell, task);
}

/* End a task's processes. */
static void
shell_stop(SfwTask *task, bool hard)
{
	Shell	   *shell = task->job;

	if (shell == NULL)
		return;
	kill(-shell->pid, hard ? SIGKILL : SIGTERM);
	/* A suspended process takes the signal only when it goes on. */
	kill(-shell->pid, SIGCONT);
}

/* Describe a command. */
static void
describe(const Command *command, PQExpBuffer report)
{
	sfc_json_put_key(report, "argv");
	sfc_json_open(report, '[');
	for (size_t n = 0; command->argv[n] != NULL; n++)
		sfc_json_put_string(report, command->argv[n]);
	appendPQExpBufferChar(report, ']');
	sfc_json_put_key(report, "directory");
	if (command->directory != NULL)
		sfc_json_put_string(report, command->directory);
	else
		appendPQExpBufferStr(report, "null");
	appendPQExpBuffer(report, ",\"inputBytes\":%zu",
					  command->input != NULL ? strlen(command->input) : (size_t) 0);
}

/* Tell what would be run. */
static bool
shell_dry_run(SfcJson payload, PQExpBuffer report)
{
	Command		command = {0};
	char	   *problem = read_payload(payload, &command);
	bool		good = problem == NULL;

	if (good)
		describe(&command, report);
	else
	{
		sfc_json_put_key(report, "refused");
		sfc_json_put_string(report, problem);
	}
	free(problem);
	free_command(&command);
	return good;
}

/* Tell what the program would be given. */
static bool
program_dry_run(SfcJson payload, PQExpBuffer report)
{
	Command		command = {0};

	use_program(payload, &command);
	describe(&command, report);
	free_command(&command);
	return true;
}

const SfwKind sfw_kind_shell = {"shell", "Shell", false, shell_start, shell_stop, shell_dry_run};
const SfwKind sfw_kind_program = {"program", "Program", true, program_start, shell_stop, program_dry_run};
