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
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/sfworker/config.h"
#include "tools/sfworker/task/claimed_task.h"
#include "tools/sfworker/task/command.h"
#include "tools/sfworker/task/subprocess.h"

/* Milliseconds between TERM and KILL for the other processes of a command that has ended */
#define LEFTOVER_GRACE 1000

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
	SfwCommand	command;
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
start_problem(const SfwCommand *command, int reason)
{
	return psprintf("cannot start \"%s\": %s", command->argv[0], strerror(reason));
}

/* Release a command that does not run any more. */
static void
free_shell(Shell *shell)
{
	termPQExpBuffer(&shell->stdout_text);
	termPQExpBuffer(&shell->stderr_text);
	sfw_command_free(&shell->command);
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
	sfw_command_set_variable(&shell->command, "SFFLOW_EXECUTION_ID", task->execution_id);
	sfw_command_set_variable(&shell->command, "SFFLOW_STATE", task->state != NULL ? task->state : "");
	sfw_command_set_variable(&shell->command, "SFFLOW_ATTEMPT", task->attempt);
	sfw_command_set_variable(&shell->command, "SFFLOW_RESOURCE", task->resource != NULL ? task->resource : "");
	if (task->traceparent != NULL)
		sfw_command_set_variable(&shell->command, "TRACEPARENT", task->traceparent);
	if (task->tracestate != NULL)
		sfw_command_set_variable(&shell->command, "TRACESTATE", task->tracestate);
	if (task->kind == &sfw_kind_program)
		sfw_command_set_variable(&shell->command, "SFFLOW_TASK_TOKEN", task->token);
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
	char	   *problem = sfw_command_read(task->payload, &shell->command);

	if (problem == NULL)
	{
		run(shell, task);
		return;
	}
	sfw_command_free(&shell->command);
	free(shell);
	sfw_task_reject(task, problem);
}

/* Begin a task that the program does. */
static void
program_start(SfwTask *task)
{
	Shell	   *shell = pg_malloc0(sizeof(Shell));

	sfw_command_of_program(task->payload, &shell->command);
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
describe(const SfwCommand *command, PQExpBuffer report)
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
	SfwCommand	command = {0};
	char	   *problem = sfw_command_read(payload, &command);
	bool		good = problem == NULL;

	if (good)
		describe(&command, report);
	else
	{
		sfc_json_put_key(report, "refused");
		sfc_json_put_string(report, problem);
	}
	free(problem);
	sfw_command_free(&command);
	return good;
}

/* Tell what the program would be given. */
static bool
program_dry_run(SfcJson payload, PQExpBuffer report)
{
	SfwCommand	command = {0};

	sfw_command_of_program(payload, &command);
	describe(&command, report);
	sfw_command_free(&command);
	return true;
}

const SfwKind sfw_kind_shell = {"shell", "Shell", false, shell_start, shell_stop, shell_dry_run};
const SfwKind sfw_kind_program = {"program", "Program", true, program_start, shell_stop, program_dry_run};
