/*
 * node_cache.c
 *		On which node executions were found, so that it is asked first.
 *
 * The ARN of an execution is made of names, and does not say where it is.  What was found or started somewhere is
 * remembered by a hash of its ARN.  An entry that is wrong, because another ARN has the same hash, or the execution
 * was moved, costs one call.
 */
#include "postgres_fe.h"

#include "common/hashfn.h"

#include "tools/sfgateway/nodes/gateway_nodes.h"

/* Entries of the cache: 16 bytes each */
#define ENTRIES	32768

/* An entry; hash 0: none */
typedef struct Entry
{
	uint64		hash;
	int			node_index;
} Entry;

static Entry entries[ENTRIES];

/* Hash an ARN. */
static uint64
hash_arn(const char *arn, size_t len)
{
	return hash_bytes_extended((const unsigned char *) arn, (int) len, 0) | 1;
}

/* Remember where an execution or a Map run is. */
void
sfg_node_cache_note(const char *arn, size_t len, int node_index)
{
	uint64		hash = hash_arn(arn, len);

	entries[(hash >> 1) % ENTRIES] = (Entry) {hash, node_index};
}

/* Where an execution or a Map run may be, or SFG_NO_NODE. */
int
sfg_node_cache_find(const char *arn, size_t len)
{
	uint64		hash = hash_arn(arn, len);
	const Entry *entry = &entries[(hash >> 1) % ENTRIES];

	return entry->hash == hash ? entry->node_index : SFG_NO_NODE;
}
