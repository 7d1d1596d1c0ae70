/*
 * encoding.h
 *		Digests of bytes, by the names that Step Functions has for them.
 */
#ifndef SF_BASE_ENCODING_H
#define SF_BASE_ENCODING_H

extern char *sf_digest_hex(const char *algorithm, Size algorithm_len,
						   const void *bytes, Size len);

extern uint64 sf_digest_64(const void *bytes, Size len);

/* --- bytes as base64 text --- */

extern char *sf_base64_encode(const void *bytes, int n);

/*
 * Numbers in as few bytes as they need: seven bits per byte, the lowest first.
 * All bytes of a number but the last one have the high bit set.
 */

/* The most bytes that a number takes */
#define SF_VARINT_MAX	10

/* Write a number, and return the position after it. */
static inline uint8 *
sf_varint_write(uint8 *at, uint64 number)
{
	while (number >= 0x80)
	{
		*at++ = (uint8) (number | 0x80);
		number >>= 7;
	}
	*at++ = (uint8) number;
	return at;
}

/*
 * Read a number, and move *at to the position after it.  False: the bytes end before
 * the number does, or it has more than 64 bits.
 */
static inline bool
sf_varint_read(const uint8 **at, const uint8 *end, uint64 *number)
{
	*number = 0;
	for (int shift = 0; *at < end && shift < 64; shift += 7)
	{
		uint8		byte = *(*at)++;

		*number |= (uint64) (byte & 0x7F) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

#endif							/* SF_BASE_ENCODING_H */
