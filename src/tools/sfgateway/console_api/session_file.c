/*
 * session_file.c
 *		A file in which sessions of the console outlast a restart of the gateway.
 *
 * The gateway writes it when it leaves, and takes it away when it begins again, so
 * that it is there only in between: a session that ends later cannot come back.
 *
 * It has what the gateway keeps of a session in memory, and nothing more: the digests
 * of its cookie and its token, and its password encrypted with a key that is made of
 * these two, which only the page has.  Who reads the file learns which roles were
 * signed in.  A file that others can write could have sessions of their making, of
 * roles whose passwords they know; so it must be the gateway's own.
 */
#include "postgres_fe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/client/log.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/gateway_config.h"

#define FIRST_LINE	"sfgateway sessions 1\n"

/* Fields of a line: bytes in hexadecimal, and numbers */
enum
{
	FIELD_COOKIE, FIELD_CSRF, FIELD_ROLE, FIELD_VERSION, FIELD_WRITES, FIELD_PASSWORD, FIELD_BEGUN, FIELD_USED, FIELDS
};

/* Milliseconds by the clock, which goes on between two processes. */
static int64_t
clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Log what is wrong with the file. */
static void
complain(const char *what, const char *reason)
{
	sfc_log(SFC_LOG_WARNING, what, "file", sfg_config.session_file, "reason", reason, NULL);
}

/* --- writing --- */

/* Write bytes as a field. */
static void
put_bytes(FILE *file, const void *bytes, size_t len)
{
	char	   *hex = pg_malloc(2 * len + 1);

	sfg_hex(bytes, len, hex);
	fprintf(file, "%s ", hex);
	free(hex);
}

/* Begin to write the file; NULL: there is none, or it cannot be written. */
FILE *
sfg_session_file_create(void)
{
	char	   *path;
	int			fd;

	if (sfg_config.session_file == NULL)
		return NULL;
	path = psprintf("%s.new", sfg_config.session_file);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	free(path);
	if (fd < 0)
	{
		complain("sessions are not kept", strerror(errno));
		return NULL;
	}
	return fdopen(fd, "w");
}

/* Write a session. */
void
sfg_session_file_put(FILE *file, const SfgConsoleSession *session)
{
	int64_t		offset = clock_ms() - sfc_now();

	if (ftell(file) == 0)
		fputs(FIRST_LINE, file);
	fprintf(file, "%s %s ", session->cookie_digest, session->csrf_digest);
	put_bytes(file, session->role, strlen(session->role));
	put_bytes(file, session->version, strlen(session->version));
	put_bytes(file, session->writes, strlen(session->writes));
	put_bytes(file, session->password.bytes, session->password.len);
	fprintf(file, "%lld %lld\n", (long long) (session->begun_at + offset), (long long) (session->used_at + offset));
}

/* Put the file in its place; without a session there is none. */
void
sfg_session_file_close(FILE *file)
{
	char	   *path = psprintf("%s.new", sfg_config.session_file);
	bool		is_empty = ftell(file) == 0;
	bool		failed = ferror(file) != 0;

	failed = fclose(file) != 0 || failed;
	if (!is_empty && !failed && rename(path, sfg_config.session_file) != 0)
		failed = true;
	if (failed)
		complain("sessions are not kept", strerror(errno));
	if (is_empty || failed)
		unlink(path);
	free(path);
}

/* --- reading --- */

/* Read bytes from hexadecimal digits, with a zero byte after them; NULL: it is something else. */
static unsigned char *
read_bytes(const char *hex, size_t *len)
{
	unsigned char *bytes;

	*len = strlen(hex) / 2;
	if (strlen(hex) % 2 != 0 || strspn(hex, "0123456789abcdef") != strlen(hex))
		return NULL;
	bytes = pg_malloc0(*len + 1);
	for (size_t i = 0; i < *len; i++)
		sscanf(hex + 2 * i, "%2hhx", &bytes[i]);
	return bytes;
}

/* Tell whether a session may go on: its times are over, and not for so long that it has ended. */
static bool
is_in_time(const SfgConsoleSession *session)
{
	int64_t		now = sfc_now();

	return session->begun_at <= session->used_at && session->used_at <= now &&
		now - session->begun_at < sfg_config.session_max && now - session->used_at < sfg_config.session_idle;
}

/* Make a session of the fields of a line; NULL: they are not good. */
static SfgConsoleSession *
make_session(char *const *fields)
{
	SfgConsoleSession *session = pg_malloc0(sizeof(SfgConsoleSession));
	int64_t		offset = clock_ms() - sfc_now();
	size_t		len;

	strlcpy(session->cookie_digest, fields[FIELD_COOKIE], sizeof(session->cookie_digest));
	strlcpy(session->csrf_digest, fields[FIELD_CSRF], sizeof(session->csrf_digest));
	session->role = (char *) read_bytes(fields[FIELD_ROLE], &len);
	session->version = (char *) read_bytes(fields[FIELD_VERSION], &len);
	session->writes = (char *) read_bytes(fields[FIELD_WRITES], &len);
	session->password.bytes = read_bytes(fields[FIELD_PASSWORD], &session->password.len);
	session->begun_at = strtoll(fields[FIELD_BEGUN], NULL, 10) - offset;
	session->used_at = strtoll(fields[FIELD_USED], NULL, 10) - offset;
	if (strlen(session->cookie_digest) == SFG_DIGEST_HEX - 1 && strlen(session->csrf_digest) == SFG_DIGEST_HEX - 1 &&
		session->role != NULL && session->version != NULL && session->writes != NULL &&
		session->password.bytes != NULL && session->password.len > SFG_SEALED_LEAST && is_in_time(session))
		return session;
	free(session->role);
	free(session->version);
	free(session->writes);
	free(session->password.bytes);
	free(session);
	return NULL;
}

/* Make a session of a line; NULL: it is not good. */
static SfgConsoleSession *
read_line(char *line)
{
	char	   *fields[FIELDS];

	line[strcspn(line, "\n")] = '\0';
	for (int i = 0; i < FIELDS; i++)
	{
		fields[i] = strsep(&line, " ");
		if (fields[i] == NULL)
			return NULL;
	}
	return line == NULL ? make_session(fields) : NULL;
}

/* Open the file, and take it away; NULL: there is none, or it is not the gateway's own. */
static FILE *
take_file(void)
{
	int			fd = open(sfg_config.session_file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	const char *problem = NULL;

	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0)
		problem = strerror(errno);
	else if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
			 (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		problem = "it must belong to this user, and no other one may read or write it";
	if (unlink(sfg_config.session_file) != 0 && problem == NULL)
		problem = strerror(errno);
	if (problem == NULL)
		return fdopen(fd, "r");
	complain("sessions are not taken up again", problem);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* Give the sessions that the gateway kept when it left. */
void
sfg_session_file_take(void (*take) (SfgConsoleSession *session))
{
	FILE	   *file = sfg_config.session_file != NULL ? take_file() : NULL;
	char	   *line = NULL;
	size_t		room = 0;
	int			n = 0;

	if (file == NULL)
		return;
	if (getline(&line, &room, file) >= 0 && strcmp(line, FIRST_LINE) == 0)
	{
		while (getline(&line, &room, file) >= 0)
		{
			SfgConsoleSession *session = read_line(line);

			if (session == NULL)
				complain("a session is not taken up again", "its line is not good");
			else
				take(session);
			n++;
		}
	}
	if (n == 0)
		complain("sessions are not taken up again", "it is no file of sessions");
	free(line);
	fclose(file);
}
