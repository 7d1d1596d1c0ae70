/*
 * lock_tag.c
 *		Tags of locks of texts.
 *
 * A role that may create objects, or emit events, chooses texts, and may keep their locks in an open transaction.
 * So it must not be possible to find two texts that have the same lock: the role would block what is of another.
 * A tag has only 64 bits for a text, of which collisions can be computed where the hash is known.  It is therefore
 * keyed with a secret of the cluster, which no user can read: the nonce that PostgreSQL makes with each cluster,
 * to answer who logs in as a role that does not exist.  It is in pg_control, the same in all processes, and none
 * of the functions that show pg_control has it; locks need it no longer than the cluster runs.  Thus no two texts
 * are found to collide but by trying, each time with an object.  SHA-256 tells nothing of the secret, and has no
 * collisions that hold for all secrets, as those of hash_bytes_extended() and its like may.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_control.h"
#include "lib/stringinfo.h"

#include "base/value/encoding.h"
#include "db/lock_tag.h"

/* The tag of the lock of a text and of a number that belongs to it, among those of one kind (SF_LOCK_OF_…). */
LOCKTAG
sf_lock_tag_of_text(uint16 of, uint32 number, const char *text)
{
	StringInfoData all;
	uint64		hash;
	LOCKTAG		tag;

	initStringInfo(&all);
	appendBinaryStringInfo(&all, GetMockAuthenticationNonce(), MOCK_AUTH_NONCE_LEN);
	appendBinaryStringInfo(&all, (const char *) &number, sizeof(number));
	appendStringInfoString(&all, text);
	hash = sf_digest_64(all.data, all.len);
	pfree(all.data);
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (hash >> 32), (uint32) hash, of);
	return tag;
}
