/*
 * random.c
 *		UUIDs of version 4 and 7.
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "base/value/random.h"

/* Random bytes are drawn for this many UUIDs at once, which is cheaper */
#define DRAW_SIZE	32

/* Fill a UUID with random bytes. */
static void
draw(unsigned char *b)
{
	static unsigned char drawn[DRAW_SIZE][16];
	static int	left = 0;

	if (left == 0)
	{
		if (!pg_strong_random(drawn, sizeof(drawn)))
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not generate random values")));
		left = DRAW_SIZE;
	}
	memcpy(b, drawn[--left], 16);
}

/* Set version and variant, and print. */
static char *
print(unsigned char *b, int version)
{
	b[6] = (b[6] & 0x0f) | (version << 4);
	b[8] = (b[8] & 0x3f) | 0x80;
	return DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum((pg_uuid_t *) b)));
}

/* Make a random UUID (version 4). */
char *
sf_uuid_v4(void)
{
	unsigned char b[16];

	draw(b);
	return print(b, 4);
}

/* Make a UUID whose first 48 bits are the time in milliseconds (version 7). */
char *
sf_uuid_v7(void)
{
	unsigned char b[16];
	uint64		ms = (uint64) ((GetCurrentTimestamp() +
								((POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) *
								 USECS_PER_DAY)) / 1000);

	draw(b);
	for (int i = 0; i < 6; i++)
		b[i] = (unsigned char) (ms >> (40 - 8 * i));
	return print(b, 7);
}
