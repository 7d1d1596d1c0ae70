/*
 * framing.c
 *		Refuse requests whose framing two programs may read in two ways.
 *
 * A proxy in front and the library must agree where a request ends; otherwise
 * the rest of one is taken for another request that no proxy has checked.  A
 * request is refused that has
 *
 *		a Transfer-Encoding, because no client of the gateway needs one;
 *		two of Content-Length, Host, Authorization or another that must be one;
 *		a name that is no token, a value with a control character;
 *		a line that ends otherwise than with CR LF, a NUL, a folded line.
 *
 * libmicrohttpd 0.9.75 accepts the last ones and does not tell.  But it puts
 * the parts of a header into its buffer one after the other, with a NUL each
 * for the colon, CR and LF, and tells where the parts are and how long the
 * whole header was.  So each byte can be accounted for: if there is one too few
 * or too many between two parts, a line did not end with CR LF, or the library
 * has left something out.
 */
#include "postgres_fe.h"

#include "gateway/framing.h"

/* A blank and a colon, CR LF, of which the library makes NULs */
#define CRLF 2

/* Headers of which there must not be two */
static const char *const single[] = {
	"Content-Length", "Host", "Authorization", "Content-Type", "Cookie", "Origin", "X-Amz-Date", "Date",
	"X-Amz-Target", "X-Amz-Content-Sha256", "X-CSRF-Token",
};

/* A walk over the headers */
typedef struct Walk
{
	const char *problem;		/* or NULL */
	const char *next;			/* where the next name must stand */
	int			count[lengthof(single)];
} Walk;

/* Tell whether a text is a token, as names of headers are. */
static bool
is_token(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
	{
		bool		alphanumeric = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z') ||
			(text[i] >= '0' && text[i] <= '9');

		if (!alphanumeric && (text[i] == '\0' || strchr("!#$%&'*+-.^_`|~", text[i]) == NULL))
			return false;
	}
	return len > 0 && text[len] == '\0';
}

/* Tell whether a value has no control character but the tab. */
static bool
is_plain(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++)
	{
		unsigned char c = (unsigned char) value[i];

		if ((c < 0x20 && c != '\t') || c == 0x7F)
			return false;
	}
	return true;
}

/* Tell whether all bytes between two places are blanks. */
static bool
are_blanks(const char *from, const char *to)
{
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	return from == to;
}

/* Check that a header follows the one before, byte by byte. */
static bool
is_next(const Walk *walk, const char *name, size_t name_len, const char *value)
{
	const char *after_colon = name + name_len + 1;

	return name == walk->next && value >= after_colon && are_blanks(after_colon, value);
}

/* Check one header. */
static enum MHD_Result
check_header(void *arg, enum MHD_ValueKind kind, const char *name, size_t name_len, const char *value, size_t value_len)
{
	Walk	   *walk = arg;

	for (size_t i = 0; i < lengthof(single); i++)
	{
		if (pg_strcasecmp(name, single[i]) == 0 && walk->count[i]++ > 0)
			walk->problem = "a header stands twice";
	}
	if (pg_strcasecmp(name, "Transfer-Encoding") == 0)
		walk->problem = "Transfer-Encoding is not supported: send Content-Length";
	else if (!is_token(name, name_len))
		walk->problem = "the name of a header is not valid";
	else if (value == NULL || !is_plain(value, value_len))
		walk->problem = "the value of a header is not valid";
	else if (!is_next(walk, name, name_len, value))
		walk->problem = "a line of the header is not valid";
	else
		walk->next = value + value_len + CRLF;
	return walk->problem == NULL ? MHD_YES : MHD_NO;
}

/* Tell what is wrong with the framing of a request, or NULL. */
const char *
sfg_framing_problem(struct MHD_Connection *connection, const char *method, const char *version)
{
	Walk		walk = {.next = version + strlen("HTTP/1.1") + CRLF};
	const union MHD_ConnectionInfo *size;

	if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
		return "this version of HTTP is not supported";
	if (!is_token(method, strlen(method)))
		return "the method is not valid";
	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, check_header, &walk);
	size = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	if (walk.problem == NULL && (size == NULL || method + size->header_size != walk.next + CRLF))
		walk.problem = "the end of the header is not valid";
	return walk.problem;
}
