/*
 * allow.c
 *		Which hosts and addresses requests may go to.
 *
 * A payload comes from whoever may start a workflow, so the URL in it is not
 * trusted.  Two questions are asked.  By name, before anything is resolved:
 * is the host in the allow-list, is it a name by which clouds hand out
 * credentials?  By address, on the socket that is about to be connected: is
 * it one that only this machine or its network segment can reach?  The second
 * check cannot be deceived by a name that resolves differently the second
 * time, because there is no second time, and it sees every way of writing a
 * number (0x7f.1, 2130706433, ::ffff:127.0.0.1) as the number.
 *
 * A name in the list allows the name and says nothing about where it leads:
 * only an address in the list opens a special address.  With an empty list
 * every other host is allowed, over https.
 */
#include "postgres_fe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

#include "allow.h"

/* Addresses as 16 bytes; those of IPv4 as ::ffff:a.b.c.d */
typedef struct Address
{
	unsigned char bytes[16];
} Address;

/* An entry of the list: a name, or a range of addresses */
typedef struct Entry
{
	char	   *name;			/* "*.example.com", "*", or NULL */
	Address		address;
	int			bits;
	int			port;			/* 0: any */
	struct Entry *next;
} Entry;

static Entry *entries;

/*
 * Ranges that are refused unless the list has them: address, bits, what they
 * are.  They are the rows of IANA's two registries of special-purpose
 * addresses that are not globally reachable, with the addresses of metadata
 * services before the ranges around them.  Private networks (10.0.0.0/8,
 * 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, fc00::/7) are not among them:
 * services of one's own live there, and only the operator knows which.
 */
#define SPECIAL_LIST(X) \
	X("100.100.100.200", 32, "a metadata address") \
	X("168.63.129.16", 32, "a metadata address") \
	X("192.0.0.192", 32, "a metadata address") \
	X("fd00:ec2::254", 128, "a metadata address") \
	X("fd20:ce::254", 128, "a metadata address") \
	X("0.0.0.0", 8, "an unspecified address") \
	X("127.0.0.0", 8, "a loopback address") \
	X("169.254.0.0", 16, "a link-local address") \
	X("192.0.0.0", 24, "a protocol's address") \
	X("192.0.2.0", 24, "a documentation address") \
	X("192.88.99.0", 24, "a relay's address") \
	X("198.18.0.0", 15, "a benchmarking address") \
	X("198.51.100.0", 24, "a documentation address") \
	X("203.0.113.0", 24, "a documentation address") \
	X("224.0.0.0", 4, "a multicast address") \
	X("240.0.0.0", 4, "a reserved address") \
	X("::", 128, "an unspecified address") \
	X("::1", 128, "a loopback address") \
	X("::ffff:0:0:0", 96, "a translated address") \
	X("64:ff9b:1::", 48, "a translated address") \
	X("100::", 64, "a discard address") \
	X("100:0:0:1::", 64, "a discard address") \
	X("2001::", 32, "a tunnel's address") \
	X("2001::", 23, "a protocol's address") \
	X("2001:db8::", 32, "a documentation address") \
	X("3fff::", 20, "a documentation address") \
	X("5f00::", 16, "a segment identifier") \
	X("fe80::", 10, "a link-local address") \
	X("fec0::", 10, "a site-local address") \
	X("ff00::", 8, "a multicast address")

typedef struct Special
{
	const char *address;
	int			bits;
	const char *what;
} Special;

#define SPECIAL_ROW(address, bits, what) {address, bits, what},
static const Special specials[] = {SPECIAL_LIST(SPECIAL_ROW)};

/* Names by which clouds hand out credentials */
static const char *const metadata_names[] = {
	"metadata", "metadata.google.internal", "metadata.goog", "instance-data",
	"instance-data.ec2.internal", "metadata.tencentyun.com", "metadata.platformequinix.com",
};

/* Prefixes of IPv6 that carry an address of IPv4: NAT64, 6to4 */
static const struct
{
	const char *address;
	int			bits;
	int			offset;
}			carriers[] = {{"64:ff9b::", 96, 12}, {"2002::", 16, 2}};

/* What is in use beside them: IPv4, global unicast, private networks.  All else is reserved. */
static const struct
{
	const char *address;
	int			bits;
}			used[] = {{"0.0.0.0", 0}, {"2000::", 3}, {"fc00::", 7}};

/* Read a number of IPv4 or IPv6; bits counts from the first of 128. */
static bool
read_address(const char *text, Address *address, int *bits)
{
	static const unsigned char mapped[12] = {[10] = 0xff,[11] = 0xff};

	if (inet_pton(AF_INET6, text, address->bytes) == 1)
		return true;
	if (inet_pton(AF_INET, text, address->bytes + 12) != 1)
		return false;
	memcpy(address->bytes, mapped, sizeof(mapped));
	*bits += 96;
	return true;
}

/* Tell whether the first bits of two addresses agree. */
static bool
in_range(const Address *address, const Address *range, int bits)
{
	int			whole = bits / 8;

	if (memcmp(address->bytes, range->bytes, (size_t) whole) != 0)
		return false;
	return bits % 8 == 0 ||
		((address->bytes[whole] ^ range->bytes[whole]) >> (8 - bits % 8)) == 0;
}

/* Turn a socket's address into 16 bytes. */
static bool
from_sockaddr(const struct sockaddr *sa, Address *address)
{
	if (sa->sa_family == AF_INET6)
		memcpy(address->bytes, &((const struct sockaddr_in6 *) sa)->sin6_addr, 16);
	else if (sa->sa_family == AF_INET)
	{
		memset(address->bytes, 0, 10);
		memset(address->bytes + 10, 0xff, 2);
		memcpy(address->bytes + 12, &((const struct sockaddr_in *) sa)->sin_addr, 4);
	}
	else
		return false;
	return true;
}

/* Give a socket's address as text in memory of its own. */
char *
sfw_allow_print(const struct sockaddr *address)
{
	char		text[INET6_ADDRSTRLEN] = "?";

	if (address->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *) address)->sin6_addr, text, sizeof(text));
	else if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *) address)->sin_addr, text, sizeof(text));
	return pg_strdup(text);
}

/* Cut a port off an entry; false when it is none. */
static bool
split_port(char *text, int *port)
{
	char	   *colon = strrchr(text, ':');
	char	   *bracket = strchr(text, ']');
	char	   *end;
	long		number;

	*port = 0;
	if (colon == NULL || (bracket != NULL && colon < bracket))
		return true;
	/* Several colons without brackets: IPv6. */
	if (bracket == NULL && strchr(text, ':') != colon)
		return true;
	number = strtol(colon + 1, &end, 10);
	if (end == colon + 1 || *end != '\0' || number < 1 || number > 65535)
		return false;
	*port = (int) number;
	*colon = '\0';
	return true;
}

/* Read the bits after a slash and cut them off; false when they are none. */
static bool
split_bits(char *text, int *bits)
{
	char	   *slash = strchr(text, '/');
	char	   *end;
	long		number;

	*bits = -1;
	if (slash == NULL)
		return true;
	number = strtol(slash + 1, &end, 10);
	if (end == slash + 1 || *end != '\0' || number < 0 || number > 128)
		return false;
	*bits = (int) number;
	*slash = '\0';
	return true;
}

/*
 * Add an entry to the list: "example.com", "*.example.com", "10.0.0.0/8",
 * "[::1]", each with ":port" to allow that port alone.
 */
bool
sfw_allow_add(const char *text, char **problem)
{
	char	   *copy = pg_strdup(text);
	char	   *host = copy;
	size_t		len;
	Entry	   *entry = pg_malloc0(sizeof(Entry));
	bool		good = split_port(copy, &entry->port) && split_bits(copy, &entry->bits);
	int			bits = 0;

	len = strlen(host);
	if (len > 1 && host[0] == '[' && host[len - 1] == ']')
	{
		host[len - 1] = '\0';
		host++;
	}
	if (good && read_address(host, &entry->address, &bits))
	{
		entry->bits = entry->bits < 0 ? 128 : entry->bits + bits;
		good = entry->bits <= 128;
	}
	else
	{
		good = good && *host != '\0' && entry->bits < 0 && strpbrk(host, ":[]@?# ") == NULL;
		entry->name = pg_strdup(host);
	}
	free(copy);
	if (!good)
	{
		*problem = psprintf("\"%s\" is not a host, an address or a range, with or without port", text);
		free(entry->name);
		free(entry);
		return false;
	}
	entry->next = entries;
	entries = entry;
	return true;
}

/* Tell whether a host has the name of an entry; *.x is every name below x. */
static bool
name_matches(const char *pattern, const char *host, size_t len)
{
	size_t		tail;

	if (strcmp(pattern, "*") == 0)
		return true;
	if (strncmp(pattern, "*.", 2) != 0)
		return strlen(pattern) == len && strncasecmp(pattern, host, len) == 0;
	tail = strlen(pattern) - 1;
	return len > tail && strncasecmp(pattern + 1, host + len - tail, tail) == 0;
}

/* Tell whether a host has a name, or with "*.example.com" one below it. */
bool
sfw_allow_matches(const char *pattern, const char *host)
{
	size_t		len = strlen(host);

	if (len > 0 && host[len - 1] == '.')
		len--;
	return name_matches(pattern, host, len);
}

/* Tell whether the list has this host by name. */
static bool
is_named(const char *host, int port)
{
	for (const Entry *entry = entries; entry != NULL; entry = entry->next)
	{
		if (entry->name != NULL && (entry->port == 0 || entry->port == port) &&
			sfw_allow_matches(entry->name, host))
			return true;
	}
	return false;
}

/* Tell whether the list has this address by number. */
static bool
is_numbered(const Address *address, int port)
{
	for (const Entry *entry = entries; entry != NULL; entry = entry->next)
	{
		if (entry->name == NULL && (entry->port == 0 || entry->port == port) &&
			in_range(address, &entry->address, entry->bits))
			return true;
	}
	return false;
}

/* Tell whether an address lies in a range that is written as text. */
static bool
in_written_range(const Address *address, const char *text, int bits)
{
	Address		range;

	return read_address(text, &range, &bits) && in_range(address, &range, bits);
}

/* Say what is special about an address; NULL: nothing. */
static const char *
special_kind(const Address *address)
{
	for (size_t i = 0; i < lengthof(specials); i++)
	{
		if (in_written_range(address, specials[i].address, specials[i].bits))
			return specials[i].what;
	}
	for (size_t i = 0; i < lengthof(carriers); i++)
	{
		Address		carried = {.bytes = {[10] = 0xff,[11] = 0xff}};

		if (!in_written_range(address, carriers[i].address, carriers[i].bits))
			continue;
		memcpy(carried.bytes + 12, address->bytes + carriers[i].offset, 4);
		return special_kind(&carried);
	}
	for (size_t i = 0; i < lengthof(used); i++)
	{
		if (in_written_range(address, used[i].address, used[i].bits))
			return NULL;
	}
	return "a reserved address";
}

/* Tell whether the list has addresses, so that a name may still be allowed by its number. */
static bool
has_numbers(void)
{
	for (const Entry *entry = entries; entry != NULL; entry = entry->next)
	{
		if (entry->name == NULL)
			return true;
	}
	return false;
}

/* Refuse a URL for its scheme or its host's name; NULL: it may be resolved. */
char *
sfw_allow_name(const char *scheme, const char *host, int port)
{
	if (strcasecmp(scheme, "https") != 0 && strcasecmp(scheme, "http") != 0)
		return psprintf("scheme \"%s\" is neither https nor http", scheme);
	if (is_named(host, port))
		return NULL;
	for (size_t i = 0; i < lengthof(metadata_names); i++)
	{
		if (sfw_allow_matches(metadata_names[i], host))
			return psprintf("host \"%s\" is a metadata service", host);
	}
	if (entries == NULL && strcasecmp(scheme, "http") == 0)
	{
		/* Say the worse of it where a number shows. */
		Address		address;
		int			bits = 0;
		const char *kind = read_address(host, &address, &bits) ? special_kind(&address) : NULL;

		if (kind != NULL)
			return psprintf("host \"%s\" is %s", host, kind);
		return psprintf("http without TLS needs host \"%s\" in the allow-list", host);
	}
	if (entries != NULL && !has_numbers())
		return psprintf("host \"%s\" is not in the allow-list", host);
	return NULL;
}

/* Refuse an address that a host's name led to; NULL: it may be connected. */
char *
sfw_allow_address(const char *host, const struct sockaddr *sa, int port)
{
	Address		address;
	const char *kind;
	char	   *text;
	char	   *reason;

	if (!from_sockaddr(sa, &address))
		return psprintf("host \"%s\" is no internet address", host);
	if (is_numbered(&address, port))
		return NULL;
	kind = special_kind(&address);
	if (kind == NULL && (entries == NULL || is_named(host, port)))
		return NULL;
	text = sfw_allow_print(sa);
	if (kind != NULL)
		reason = psprintf("host \"%s\" is %s: %s", host, kind, text);
	else
		reason = psprintf("host \"%s\" (%s) is not in the allow-list", host, text);
	free(text);
	return reason;
}
