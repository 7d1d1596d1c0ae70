/*
 * allow.c
 *		Which hosts and addresses requests may go to.
 *
 * A payload comes from any role that may start a workflow, so the URL in it is
 * not trusted.  There are two checks.  By name, before the name is resolved: is
 * the host in the allow-list, or is it a name by which clouds hand out
 * credentials?  By address, on the socket that is about to be connected: is it
 * an address that only this machine or its network segment can reach?  The
 * second check sees every notation of an address (0x7f.1, 2130706433,
 * ::ffff:127.0.0.1) as the same number.  A name that resolves to another address
 * the second time cannot evade it, because the name is resolved only once.
 *
 * A name in the list allows requests to that name, but not to every address that
 * it may resolve to: a special address is allowed only by an address in the
 * list.  With an empty list all other hosts are allowed, over https.
 */
#include "postgres_fe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

#include "tools/sfworker/http/allow.h"

/* Addresses as 16 bytes; those of IPv4 as ::ffff:a.b.c.d */
typedef struct Address
{
	unsigned char bytes[16];
} Address;

/* Where the bits of a range may stand: it is none */
#define NO_RANGE	(-1)

/* An entry of the list: a name, or (without a name) a range of addresses */
typedef struct Entry
{
	char	   *name;			/* "*.example.com", "*", or NULL */
	Address		address;
	int			bits;			/* of the address that count, or NO_RANGE */
	int			port;			/* 0: any */
	struct Entry *next;
} Entry;

static Entry *entries;

/*
 * Ranges of addresses.  The first range that contains an address decides.
 *
 * Those with a name are refused unless the list has the address.  They are the
 * rows of IANA's two registries of special-purpose addresses that are not
 * globally reachable, with the addresses of metadata services before the ranges
 * around them.  Addresses of NAT64 and 6to4 contain an address of IPv4 at an
 * offset, which decides.  The last ranges are in ordinary use: IPv4, global
 * unicast, and private networks (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16,
 * 100.64.0.0/10, fc00::/7).  Private networks are not special, because an
 * operator's own services are there, and only the operator knows which.  All
 * other addresses are reserved.
 */
static const struct
{
	const char *address;
	int			bits;
	const char *what;			/* NULL: in use */
	int			offset;			/* of the address of IPv4 in it, or 0 */
}			ranges[] = {
	{"100.100.100.200", 32, "a metadata address", 0},
	{"168.63.129.16", 32, "a metadata address", 0},
	{"192.0.0.192", 32, "a metadata address", 0},
	{"fd00:ec2::254", 128, "a metadata address", 0},
	{"fd20:ce::254", 128, "a metadata address", 0},
	{"0.0.0.0", 8, "an unspecified address", 0},
	{"127.0.0.0", 8, "a loopback address", 0},
	{"169.254.0.0", 16, "a link-local address", 0},
	{"192.0.0.0", 24, "a protocol's address", 0},
	{"192.0.2.0", 24, "a documentation address", 0},
	{"192.88.99.0", 24, "a relay's address", 0},
	{"198.18.0.0", 15, "a benchmarking address", 0},
	{"198.51.100.0", 24, "a documentation address", 0},
	{"203.0.113.0", 24, "a documentation address", 0},
	{"224.0.0.0", 4, "a multicast address", 0},
	{"240.0.0.0", 4, "a reserved address", 0},
	{"::", 128, "an unspecified address", 0},
	{"::1", 128, "a loopback address", 0},
	{"::ffff:0:0:0", 96, "a translated address", 0},
	{"64:ff9b:1::", 48, "a translated address", 0},
	{"100::", 64, "a discard address", 0},
	{"100:0:0:1::", 64, "a discard address", 0},
	{"2001::", 32, "a tunnel's address", 0},
	{"2001::", 23, "a protocol's address", 0},
	{"2001:db8::", 32, "a documentation address", 0},
	{"3fff::", 20, "a documentation address", 0},
	{"5f00::", 16, "a segment identifier", 0},
	{"fe80::", 10, "a link-local address", 0},
	{"fec0::", 10, "a site-local address", 0},
	{"ff00::", 8, "a multicast address", 0},
	{"64:ff9b::", 96, NULL, 12},
	{"2002::", 16, NULL, 2},
	{"0.0.0.0", 0, NULL, 0},
	{"2000::", 3, NULL, 0},
	{"fc00::", 7, NULL, 0},
};

/* Names by which clouds hand out credentials */
static const char *const metadata_names[] = {
	"metadata", "metadata.google.internal", "metadata.goog", "instance-data",
	"instance-data.ec2.internal", "metadata.tencentyun.com", "metadata.platformequinix.com",
};

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

/* Find the colon before the port of an entry, or NULL; an address of IPv6 without brackets has no port. */
static char *
find_port(char *text)
{
	char	   *colon = strrchr(text, ':');
	char	   *bracket = strchr(text, ']');

	if (colon != NULL && (bracket != NULL ? colon > bracket : strchr(text, ':') == colon))
		return colon;
	return NULL;
}

/* Read the number after a separator, which may be NULL, and cut both off; false when it is not valid. */
static bool
cut_number(char *separator, long least, long most, int *number)
{
	char	   *end;
	long		value;

	if (separator == NULL)
		return true;
	value = strtol(separator + 1, &end, 10);
	if (end == separator + 1 || *end != '\0' || value < least || value > most)
		return false;
	*number = (int) value;
	*separator = '\0';
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
	int			bits = 0;
	bool		good;

	entry->bits = NO_RANGE;
	good = cut_number(find_port(copy), 1, 65535, &entry->port) &&
		cut_number(strchr(copy, '/'), 0, 128, &entry->bits);
	len = strlen(host);
	if (len > 1 && host[0] == '[' && host[len - 1] == ']')
	{
		host[len - 1] = '\0';
		host++;
	}
	if (good && read_address(host, &entry->address, &bits))
	{
		entry->bits = entry->bits == NO_RANGE ? 128 : entry->bits + bits;
		good = entry->bits <= 128;
	}
	else
	{
		good = good && *host != '\0' && entry->bits == NO_RANGE && strpbrk(host, ":[]@?# ") == NULL;
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

/* Tell whether a host has a name, or with "*.example.com" one below it. */
bool
sfw_allow_matches(const char *pattern, const char *host)
{
	size_t		len = strlen(host);
	size_t		tail;

	if (len > 0 && host[len - 1] == '.')
		len--;
	if (strcmp(pattern, "*") == 0)
		return true;
	if (strncmp(pattern, "*.", 2) != 0)
		return strlen(pattern) == len && strncasecmp(pattern, host, len) == 0;
	tail = strlen(pattern) - 1;
	return len > tail && strncasecmp(pattern + 1, host + len - tail, tail) == 0;
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

/* Say what is special about an address; NULL: nothing. */
static const char *
special_kind(const Address *address)
{
	for (size_t i = 0; i < lengthof(ranges); i++)
	{
		Address		range;
		Address		carried = {.bytes = {[10] = 0xff,[11] = 0xff}};
		int			bits = ranges[i].bits;

		if (!read_address(ranges[i].address, &range, &bits) || !in_range(address, &range, bits))
			continue;
		if (ranges[i].offset == 0)
			return ranges[i].what;
		memcpy(carried.bytes + 12, address->bytes + ranges[i].offset, 4);
		return special_kind(&carried);
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

/* Check the scheme and the host's name of a URL; gives why it is refused, or NULL. */
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
		/* If the host is a special address, that is the better reason. */
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

/* Check an address that a host's name resolved to; gives why it is refused, or NULL. */
char *
sfw_allow_address(const char *host, const struct sockaddr *sa, int port)
{
	char	   *text = sfw_allow_print(sa);
	char	   *reason = NULL;
	const char *kind;
	Address		address;
	int			bits = 0;

	if (!read_address(text, &address, &bits))
		reason = psprintf("host \"%s\" is no internet address", host);
	else if (!is_numbered(&address, port))
	{
		kind = special_kind(&address);
		if (kind != NULL)
			reason = psprintf("host \"%s\" is %s: %s", host, kind, text);
		else if (entries != NULL && !is_named(host, port))
			reason = psprintf("host \"%s\" (%s) is not in the allow-list", host, text);
	}
	free(text);
	return reason;
}
