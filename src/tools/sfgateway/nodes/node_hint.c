/*
 * node_hint.c
 *		On which node executions were found, so that it is asked first.
 *
 * The ARN of an execution is made of names, and does not say where it is.  What was found or started somewhere is
 * remembered by a hash of its ARN.  A hint that is wrong, because another ARN has the same hash, or the execution was
 * moved, costs one call.
 */
#include "postgres_fe.h"

#include "common/hashfn.h"

#include "tools/sfgateway/nodes/gateway_nodes.h"

/* Hints that are kept: 16 bytes each */
#define HINTS	32768

/* A hint; hash 0: none */
typedef struct Hint
{
	uint64		hash;
	int			node_index;
} Hint;

static Hint hints[HINTS];

/* Hash an ARN. */
static uint64
hash_arn(const char *arn, size_t len)
{
	return hash_bytes_extended((const unsigned char *) arn, (int) len, 0) | 1;
}

/* Remember where an execution or a Map run is. */
void
sfg_hint_note(const char *arn, size_t len, int node_index)
{
	uint64		hash = hash_arn(arn, len);

	hints[(hash >> 1) % HINTS] = (Hint) {hash, node_index};
}

/* Where an execution or a Map run may be, or SFG_NO_NODE. */
int
sfg_hint_find(const char *arn, size_t len)
{
	uint64		hash = hash_arn(arn, len);
	const Hint *hint = &hints[(hash >> 1) % HINTS];

	return hint->hash == hash ? hint->node_index : SFG_NO_NODE;
}
