/*
 * shapes.c
 *		Find an operation in what shapes.py made of the models of AWS services.
 *
 * shapes.bin, which shapes.py describes, is part of the library: a list of services
 * and, for each of them, a text that is deflated (RFC 1951).  Only the text of the
 * service that is asked for is inflated.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "aws/services.h"
#include "aws/shapes.h"

__asm__(".section .rodata\n"
		".global sf_shapes_data\n"
		".hidden sf_shapes_data\n"
		"sf_shapes_data:\n"
		".incbin \"src/aws/shapes.bin\"\n"
		".byte 0\n"
		".previous\n");

extern const char sf_shapes_data[] __attribute__((visibility("hidden")));

/* --- inflating --- */

#define CODE_BITS_MAX 15		/* of a code */
#define LITERALS 288			/* bytes, the end of a block, lengths of copies */
#define DISTANCES 30
#define END_OF_BLOCK 256

/* Deflated bytes, and what has become of them */
typedef struct Inflation
{
	const uint8 *in;
	int			bit;			/* of the byte at in, the lowest is 0 */
	char	   *out;
	int			nout;
	int			size;			/* of out */
} Inflation;

/* A prefix code: how many codes have each length, and the symbols in the order of their codes */
typedef struct Code
{
	int			counts[CODE_BITS_MAX + 1];
	int			symbols[LITERALS];
} Code;

/* Take a number of bits, the lowest first. */
static int
take_bits(Inflation *inflation, int n)
{
	int			value = 0;

	for (int i = 0; i < n; i++)
	{
		value |= (*inflation->in >> inflation->bit & 1) << i;
		inflation->bit = (inflation->bit + 1) & 7;
		inflation->in += inflation->bit == 0;
	}
	return value;
}

/* Make a code of the lengths of its symbols' codes. */
static void
make_code(Code *code, const uint8 *lengths, int n)
{
	int			next[CODE_BITS_MAX + 2] = {0};

	memset(code->counts, 0, sizeof(code->counts));
	for (int i = 0; i < n; i++)
		code->counts[lengths[i]]++;
	code->counts[0] = 0;
	for (int len = 1; len <= CODE_BITS_MAX; len++)
		next[len + 1] = next[len] + code->counts[len];
	for (int i = 0; i < n; i++)
		if (lengths[i] != 0)
			code->symbols[next[lengths[i]]++] = i;
}

/* Take one symbol of a code: codes of one length are numbers in a row. */
static int
take_symbol(Inflation *inflation, const Code *code)
{
	int			value = 0;
	int			first = 0;
	int			index = 0;

	for (int len = 1; len <= CODE_BITS_MAX; len++)
	{
		value |= take_bits(inflation, 1);
		if (value - first < code->counts[len])
			return code->symbols[index + value - first];
		index += code->counts[len];
		first = (first + code->counts[len]) << 1;
		value <<= 1;
	}
	elog(ERROR, "shapes.bin is damaged");
}

/* Read the two codes of a block that brings its own. */
static void
read_codes(Inflation *inflation, Code *literals, Code *distances)
{
	static const uint8 order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
	uint8		lengths[LITERALS + 32] = {0};
	int			nliterals = take_bits(inflation, 5) + 257;
	int			ndistances = take_bits(inflation, 5) + 1;
	int			nlengths = take_bits(inflation, 4) + 4;
	int			n = 0;
	Code		code;

	for (int i = 0; i < nlengths; i++)
		lengths[order[i]] = take_bits(inflation, 3);
	make_code(&code, lengths, lengthof(order));
	while (n < nliterals + ndistances)
	{
		int			symbol = take_symbol(inflation, &code);
		int			times = symbol < 16 ? 1 : symbol == 16 ? take_bits(inflation, 2) + 3 :
			symbol == 17 ? take_bits(inflation, 3) + 3 : take_bits(inflation, 7) + 11;
		uint8		length = symbol < 16 ? symbol : symbol == 16 && n > 0 ? lengths[n - 1] : 0;

		if (n + times > nliterals + ndistances)
			elog(ERROR, "shapes.bin is damaged");
		memset(lengths + n, length, times);
		n += times;
	}
	make_code(literals, lengths, nliterals);
	make_code(distances, lengths + nliterals, ndistances);
}

/* Make the two codes that the format defines. */
static void
make_fixed_codes(Code *literals, Code *distances)
{
	uint8		lengths[LITERALS];

	for (int i = 0; i < LITERALS; i++)
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	make_code(literals, lengths, LITERALS);
	memset(lengths, 5, DISTANCES);
	make_code(distances, lengths, DISTANCES);
}

/* Copy what has been inflated before; the copy may overlap with what it makes. */
static void
copy_before(Inflation *inflation, int symbol, const Code *distances)
{
	int			step = symbol - 257;
	int			length = step < 8 ? step + 3 : step == 28 ? 258 :
		((4 + (step & 3)) << (step / 4 - 1)) + 3 + take_bits(inflation, step / 4 - 1);
	int			far = take_symbol(inflation, distances);
	int			distance = far < 4 ? far + 1 :
		((2 + (far & 1)) << (far / 2 - 1)) + 1 + take_bits(inflation, far / 2 - 1);

	if (distance > inflation->nout || inflation->nout + length > inflation->size)
		elog(ERROR, "shapes.bin is damaged");
	for (; length > 0; length--, inflation->nout++)
		inflation->out[inflation->nout] = inflation->out[inflation->nout - distance];
}

/* Inflate one block; returns whether it was the last one. */
static bool
inflate_block(Inflation *inflation)
{
	bool		last = take_bits(inflation, 1);
	int			kind = take_bits(inflation, 2);
	Code		literals;
	Code		distances;
	int			symbol;

	if (kind == 1)
		make_fixed_codes(&literals, &distances);
	else if (kind == 2)
		read_codes(inflation, &literals, &distances);
	else
		elog(ERROR, "shapes.bin is damaged");	/* shapes.py stores nothing as it is */
	while ((symbol = take_symbol(inflation, &literals)) != END_OF_BLOCK)
	{
		if (symbol > END_OF_BLOCK)
			copy_before(inflation, symbol, &distances);
		else if (inflation->nout < inflation->size)
			inflation->out[inflation->nout++] = symbol;
		else
			elog(ERROR, "shapes.bin is damaged");
	}
	return last;
}

/* Inflate a text. */
static char *
inflate_text(const char *deflated, int size)
{
	Inflation	inflation = {.in = (const uint8 *) deflated,.out = palloc(size + 1),.size = size};

	while (!inflate_block(&inflation))
		CHECK_FOR_INTERRUPTS();
	inflation.out[inflation.nout] = '\0';
	return inflation.out;
}

/* --- looking up --- */

/* Tell whether a service is one of the names, which end with a blank. */
static bool
is_named(const char *names, const char *service)
{
	size_t		len = strlen(service);

	for (; *names != ' '; names += *names == ',')
	{
		size_t		part = strcspn(names, ", ");

		if (part == len && memcmp(names, service, len) == 0)
			return true;
		names += part;
	}
	return false;
}

/* Find the text of a service; NULL: there is none. */
static char *
find_service(const char *service)
{
	const char *line = strchr(sf_shapes_data, '\n') + 1;
	const char *entry = NULL;
	long		before = 0;		/* deflated bytes in front of its own */
	long		size = 0;

	for (; *line != '\n'; line = strchr(line, '\n') + 1)
	{
		char	   *end;
		long		raw = strtol(line + strcspn(line, " "), &end, 10);
		long		deflated = strtol(end, NULL, 10);

		if (entry == NULL && is_named(line, service))
		{
			entry = line;
			size = raw;
		}
		else if (entry == NULL)
			before += deflated;
	}
	return entry == NULL ? NULL : inflate_text(line + 1 + before, size);
}

/* Cut a text into the shapes that others refer to; returns the lines of the operations. */
static char *
cut_shared(char *text, SfOperationShape *shape)
{
	const char **lines = palloc(sizeof(char *) * 64);
	int			room = 64;

	while (*text != '\n')
	{
		char	   *end = strchr(text, '\n');

		if (shape->nshared == room)
			lines = repalloc(lines, sizeof(char *) * (room *= 2));
		lines[shape->nshared++] = text;
		*end = '\0';
		text = end + 1;
	}
	shape->shared = lines;
	return text + 1;
}

/* Find the operation that a resource names, without the pattern that it ends in. */
SfOperationShape
sf_shape_find(const SfResource *resource)
{
	SfOperationShape		shape = {0};
	size_t		len = strcspn(resource->action, ".");
	char	   *line;

	if (strstr(resource->text, ":states:::") == NULL || (line = find_service(resource->service)) == NULL)
		return shape;
	shape.service_known = true;
	for (line = cut_shared(line, &shape); *line != '\0'; line = strchr(line, '\0') + 1)
	{
		char	   *end = strchr(line, '\n');

		*end = '\0';
		if (strncmp(line, resource->action, len) != 0 || line[len] != ' ')
			continue;
		shape.patterns = line + len + 1;
		shape.text = strchr(shape.patterns, ' ') + 1;
		break;
	}
	return shape;
}

/* --- telling what there is --- */

/* Resources that read the items of a Map, or write its results */
static const char *const for_maps[] = {"s3:getObject", "s3:listObjectsV2", "s3:putObject"};

/* Tell whether Step Functions has an integration in the pattern that a resource asks for. */
static bool
has_pattern(const SfOperationShape *shape, const SfResource *resource)
{
	static const char letters[] = {
		[SF_INTEGRATION_REQUEST_RESPONSE] = 'r',
		[SF_INTEGRATION_SYNC] = 's',
		[SF_INTEGRATION_SYNC2] = '2',
		[SF_INTEGRATION_WAIT_FOR_TASK_TOKEN] = 't'
	};

	return memchr(shape->patterns, letters[resource->integration], strcspn(shape->patterns, " ")) != NULL;
}

/* Tell whether a resource of a Map is one that Step Functions has. */
static bool
is_for_maps(const char *text)
{
	const char *rest = strstr(text, ":states:::");

	for (size_t i = 0; rest != NULL && i < lengthof(for_maps); i++)
		if (strcmp(rest + strlen(":states:::"), for_maps[i]) == 0)
			return true;
	return false;
}

/*
 * Tell why Step Functions does not have a resource (SfResourceKnown).  Only ARNs of
 * integrations are looked at; those with placeholders can be any.
 */
char *
sf_shape_is_known(const SfResource *resource, bool for_items, bool all)
{
	SfOperationShape shape;
	MemoryContext scratch;
	MemoryContext old;
	bool		is_known;
	bool		has_it;

	if (strstr(resource->text, ":states:::") == NULL || strstr(resource->text, "${") != NULL ||
		(for_items && is_for_maps(resource->text)) ||
		(!all && strncmp(resource->service, "aws-sdk:", 8) == 0))
		return NULL;
	/* a definition can have thousands of resources, and a service has 150 kB */
	scratch = AllocSetContextCreate(CurrentMemoryContext, "sfflow shapes", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(scratch);
	shape = sf_shape_find(resource);
	is_known = shape.patterns != NULL;
	has_it = is_known && !for_items && has_pattern(&shape, resource);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	if (has_it || (!all && !is_known))
		return NULL;
	if (!all)
		return psprintf("Step Functions has no integration '%s:%s'.", resource->service, resource->action);
	return psprintf("The resource provided %s is not recognized. The value is not a valid resource ARN, or the resource is not available in this region.",
					resource->text);
}
