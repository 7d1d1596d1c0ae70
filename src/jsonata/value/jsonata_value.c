/*
 * jsonata_value.c
 *		Making, growing and comparing values of JSONata.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "jsonata/evaluation/eval.h"
#include "jsonata/value/jsonata_value.h"

#define FIRST_CHUNK		8192
#define SMALL_CHUNK		1024	/* of programs */
#define MAX_CHUNK		(1024 * 1024)
#define INDEX_FROM		9		/* members from which an object is indexed */

SfJnValue	sf_jn_null_value = {.type = SF_JN_TYPE_NULL};
SfJnValue	sf_jn_true_value = {.type = SF_JN_TYPE_BOOL,.u.boolean = true};
SfJnValue	sf_jn_false_value = {.type = SF_JN_TYPE_BOOL,.u.boolean = false};

/* Prepare an arena whose chunks come from a memory context. */
void
sf_jn_arena_init(SfJnArena *arena, MemoryContext context)
{
	memset(arena, 0, sizeof(*arena));
	arena->context = context;
}

/* Take a new chunk; large requests get one of their own. */
void *
sf_jn_alloc_slow(SfJnArena *arena, Size size)
{
	Size		chunk;

	if (arena->limit > 0 && arena->total + size > arena->limit)
		arena->on_limit(arena->on_limit_arg, "memory");

	if (size >= MAX_CHUNK / 4)
	{
		arena->total += size;
		return MemoryContextAllocHuge(arena->context, size);
	}

	chunk = arena->small ? SMALL_CHUNK : FIRST_CHUNK;
	chunk = Min(Max(chunk, arena->total), (Size) MAX_CHUNK);
	chunk = Max(chunk, size);
	arena->total += chunk;
	arena->next = MemoryContextAlloc(arena->context, chunk);
	arena->room = chunk - size;
	arena->next += size;
	return arena->next - size;
}

/* Move n items of a size to room for capacity of them. */
void *
sf_jn_grow(SfJnArena *arena, const void *items, Size n, Size capacity, Size size)
{
	void	   *room = sf_jn_alloc(arena, capacity * size);

	if (n > 0)
		memcpy(room, items, n * size);
	return room;
}

/* Make a number. */
SfJnValue *
sf_jn_number(SfJnArena *arena, double d)
{
	SfJnValue  *value = sf_jn_alloc(arena, sizeof(SfJnValue));

	value->type = SF_JN_TYPE_NUMBER;
	value->flags = 0;
	value->len = 0;
	value->u.number = d;
	return value;
}

/* Make a number from an integer that may need more than 53 bits. */
SfJnValue *
sf_jn_exact(SfJnArena *arena, int64 n)
{
	SfJnExact  *exact = sf_jn_alloc(arena, sizeof(SfJnExact));

	exact->v.type = SF_JN_TYPE_NUMBER;
	exact->v.flags = SF_JN_EXACT;
	exact->v.len = 0;
	exact->v.u.number = (double) n;
	exact->exact = n;
	return &exact->v;
}

/* Return the one true, or the one false. */
SfJnValue *
sf_jn_bool(bool b)
{
	return b ? &sf_jn_true_value : &sf_jn_false_value;
}

/* Return null. */
SfJnValue *
sf_jn_null(void)
{
	return &sf_jn_null_value;
}

/* Make a string around bytes that stay where they are. */
SfJnValue *
sf_jn_string(SfJnArena *arena, const char *str, Size len)
{
	SfJnValue  *value;

	if (len > SF_JN_MAX_STRING && arena->limit > 0)
		arena->on_limit(arena->on_limit_arg, "string");
	Assert(len <= MaxAllocSize);
	value = sf_jn_alloc(arena, sizeof(SfJnValue));
	value->type = SF_JN_TYPE_STRING;
	value->flags = 0;
	value->len = (uint32) len;
	value->u.str = str;
	return value;
}

/* Make a string from a copy of bytes. */
SfJnValue *
sf_jn_string_copy(SfJnArena *arena, const char *str, Size len)
{
	return sf_jn_string(arena, sf_jn_grow(arena, str, len, len, 1), len);
}

/* Make a string of what a buffer holds, and free the buffer. */
SfJnValue *
sf_jn_string_of(SfJnArena *arena, StringInfo buf)
{
	SfJnValue  *value = sf_jn_string_copy(arena, buf->data, buf->len);

	pfree(buf->data);
	return value;
}

/* Make a string from a C string that outlives the arena. */
SfJnValue *
sf_jn_cstring(SfJnArena *arena, const char *str)
{
	return sf_jn_string(arena, str, strlen(str));
}

/* Make an empty array or object with room for so many items of a size. */
static SfJnValue *
make_container(SfJnArena *arena, SfJnType type, uint32 capacity, Size size)
{
	SfJnContainer *container = sf_jn_alloc(arena, sizeof(SfJnContainer));

	container->v.type = type;
	container->v.flags = 0;
	container->v.len = 0;
	container->v.u.items = capacity > 0 ? sf_jn_alloc(arena, capacity * size) : NULL;
	container->cap = capacity;
	container->index_size = 0;
	container->index = NULL;
	return &container->v;
}

/* Make an empty array. */
SfJnValue *
sf_jn_array(SfJnArena *arena, uint32 capacity)
{
	return make_container(arena, SF_JN_TYPE_ARRAY, capacity, sizeof(SfJnValue *));
}

/* Make an empty sequence. */
SfJnValue *
sf_jn_sequence(SfJnArena *arena, uint32 capacity)
{
	SfJnValue  *value = sf_jn_array(arena, capacity);

	value->flags = SF_JN_SEQUENCE;
	return value;
}

/* Give an array room for so many elements. */
static void
reserve(SfJnArena *arena, SfJnValue *array, Size capacity)
{
	SfJnContainer *container = (SfJnContainer *) array;

	if (capacity <= container->cap)
		return;
	if (capacity > PG_INT32_MAX / 4)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array in a JSONata expression is too long")));
	array->u.items = sf_jn_grow(arena, array->u.items, array->len, capacity,
								sizeof(SfJnValue *));
	container->cap = (uint32) capacity;
}

/* Append to an array that is full. */
void
sf_jn_push_slow(SfJnArena *arena, SfJnValue *array, SfJnValue *item)
{
	reserve(arena, array, array->len < 4 ? 4 : (Size) array->len * 2);
	array->u.items[array->len++] = item;
}

/* Append the elements of another array. */
void
sf_jn_push_all(SfJnArena *arena, SfJnValue *array, const SfJnValue *from)
{
	Size		need = (Size) array->len + from->len;

	if (from->len == 0)
		return;
	if (need > ((SfJnContainer *) array)->cap)
		reserve(arena, array, Max(need, (Size) array->len * 2));
	memcpy(array->u.items + array->len, from->u.items,
		   from->len * sizeof(SfJnValue *));
	array->len += from->len;
}

/* Make an empty object. */
SfJnValue *
sf_jn_object(SfJnArena *arena, uint32 capacity)
{
	return make_container(arena, SF_JN_TYPE_OBJECT, capacity, sizeof(SfJnMember));
}

/* Hash a key. */
uint32
sf_jn_hash(const char *key, Size len)
{
	uint32		h = 2166136261u;

	/* Names are short; for long ones the better function pays. */
	if (len > 32)
		return hash_bytes((const unsigned char *) key, (int) len);
	for (Size i = 0; i < len; i++)
		h = (h ^ (unsigned char) key[i]) * 16777619u;
	return h ^ (h >> 15);
}

/* Enter member number n into the index of an object. */
static void
index_member(SfJnContainer *container, uint32 n)
{
	uint32		mask = container->index_size - 1;
	uint32		slot = container->v.u.members[n].hash & mask;

	while (container->index[slot] != 0)
		slot = (slot + 1) & mask;
	container->index[slot] = n + 1;
}

/* Build the index of an object anew, with room for its capacity. */
static void
rebuild_index(SfJnArena *arena, SfJnContainer *container)
{
	uint32		size = 16;

	while (size < container->cap * 2)
		size *= 2;
	container->index = sf_jn_alloc(arena, size * sizeof(uint32));
	memset(container->index, 0, size * sizeof(uint32));
	container->index_size = size;
	for (uint32 i = 0; i < container->v.len; i++)
		index_member(container, i);
}

/* Find a member by key and hash. */
SfJnMember *
sf_jn_find(const SfJnValue *object, const char *key, uint32 keylen, uint32 hash)
{
	const SfJnContainer *container = (const SfJnContainer *) object;
	SfJnMember *members = object->u.members;

	if (container->index_size > 0)
	{
		uint32		mask = container->index_size - 1;

		for (uint32 i = hash & mask; container->index[i] != 0; i = (i + 1) & mask)
		{
			SfJnMember *member = &members[container->index[i] - 1];

			if (member->hash == hash && member->keylen == keylen &&
				memcmp(member->key, key, keylen) == 0)
				return member;
		}
		return NULL;
	}
	for (uint32 i = 0; i < object->len; i++)
	{
		if (members[i].hash == hash && members[i].keylen == keylen &&
			memcmp(members[i].key, key, keylen) == 0)
			return &members[i];
	}
	return NULL;
}

/* Set a member whose key's hash is known. */
void
sf_jn_set_hashed(SfJnArena *arena, SfJnValue *object, const char *key,
				 uint32 keylen, uint32 hash, SfJnValue *value)
{
	SfJnContainer *container = (SfJnContainer *) object;
	SfJnMember *member = sf_jn_find(object, key, keylen, hash);

	if (member != NULL)
	{
		member->value = value;
		return;
	}
	if (object->len >= container->cap)
	{
		container->cap = container->cap < 4 ? 4 : container->cap * 2;
		object->u.members = sf_jn_grow(arena, object->u.members, object->len, container->cap,
									   sizeof(SfJnMember));
		container->index_size = 0;
	}
	/* one that was made with room for its members has no index before it has as many */
	if (container->index_size == 0 && object->len + 1 >= INDEX_FROM)
		rebuild_index(arena, container);
	member = &object->u.members[object->len++];
	member->key = key;
	member->keylen = keylen;
	member->hash = hash;
	member->value = value;
	if (container->index_size > 0)
		index_member(container, object->len - 1);
}

/* Set a member. */
void
sf_jn_set(SfJnArena *arena, SfJnValue *object, const char *key, uint32 keylen,
		  SfJnValue *value)
{
	sf_jn_set_hashed(arena, object, key, keylen, sf_jn_hash(key, keylen), value);
}

/* Set a member named by a constant. */
void
sf_jn_set_c(SfJnArena *arena, SfJnValue *object, const char *key, SfJnValue *value)
{
	sf_jn_set(arena, object, key, (uint32) strlen(key), value);
}

/* Remove the members of some names, which are strings, keeping the order of the others. */
void
sf_jn_delete(SfJnArena *arena, SfJnValue *object, SfJnValue **keys, uint32 n)
{
	SfJnContainer *container = (SfJnContainer *) object;
	SfJnMember *members = object->u.members;
	bool	   *gone = sf_jn_alloc(arena, object->len);
	uint32		kept = 0;

	memset(gone, 0, object->len);
	for (uint32 i = 0; i < n; i++)
	{
		const SfJnMember *member = sf_jn_find(object, keys[i]->u.str, keys[i]->len,
											  sf_jn_hash(keys[i]->u.str, keys[i]->len));

		if (member != NULL)
			gone[member - members] = true;
	}
	for (uint32 i = 0; i < object->len; i++)
	{
		if (!gone[i])
			members[kept++] = members[i];
	}
	object->len = kept;
	if (container->index_size == 0)
		return;
	memset(container->index, 0, container->index_size * sizeof(uint32));
	for (uint32 i = 0; i < kept; i++)
		index_member(container, i);
}

/* Look a member up by a constant name. */
SfJnValue *
sf_jn_get(const SfJnValue *object, const char *key)
{
	uint32		len = (uint32) strlen(key);
	SfJnMember *member = sf_jn_find(object, key, len, sf_jn_hash(key, len));

	return member == NULL ? NULL : member->value;
}

/*
 * Order two strings as JavaScript does: by UTF-16 code unit.  That differs
 * from the order of UTF-8 bytes only between U+E000..U+FFFF and what lies
 * beyond the basic plane.
 */
int
sf_jn_compare_strings(const SfJnValue *x, const SfJnValue *y)
{
	uint32		n = Min(x->len, y->len);

	for (uint32 i = 0; i < n; i++)
	{
		unsigned char a = (unsigned char) x->u.str[i];
		unsigned char b = (unsigned char) y->u.str[i];

		if (a == b)
			continue;
		if (a >= 0xee && b >= 0xee && (a >= 0xf0) != (b >= 0xf0))
			return a >= 0xf0 ? -1 : 1;
		return a < b ? -1 : 1;
	}
	return x->len == y->len ? 0 : (x->len < y->len ? -1 : 1);
}

/* Concatenate two strings. */
SfJnValue *
sf_jn_concat(SfJnArena *arena, SfJnValue *x, SfJnValue *y)
{
	Size		total = (Size) x->len + y->len;

	if (x->u.str != arena->tail_text || x->len != arena->text_used || total > arena->text_cap)
	{
		/* What was the result of & once may be added to again. */
		Size		cap = x->u.str == arena->tail_text ? total * 2 : total;
		char	   *text = sf_jn_alloc(arena, cap);

		memcpy(text, x->u.str, x->len);
		arena->tail_text = text;
		arena->text_cap = cap;
	}
	memcpy(arena->tail_text + x->len, y->u.str, y->len);
	arena->text_used = total;
	return sf_jn_string(arena, arena->tail_text, total);
}

/* Concatenate two values into an array, leaving out undefined. */
SfJnValue *
sf_jn_append(SfJnArena *arena, SfJnValue *x, SfJnValue *y)
{
	SfJnValue **left;
	SfJnValue **right;
	Size		nleft = sf_jn_items(&x, &left);
	Size		nright = sf_jn_items(&y, &right);
	SfJnValue  *result;

	if (x == NULL)
		return y;
	if (y == NULL)
		return x;
	if (nleft == 0 || left != arena->tail_items || nleft != arena->tail_used ||
		nleft + nright > arena->tail_cap)
	{
		Size		cap = nleft > 0 && left == arena->tail_items ?
			(nleft + nright) * 2 : nleft + nright;
		SfJnValue **items = sf_jn_alloc(arena, cap * sizeof(SfJnValue *));

		if (nleft > 0)
			memcpy(items, left, nleft * sizeof(SfJnValue *));
		arena->tail_items = items;
		arena->tail_cap = cap;
	}
	if (nright > 0)
		memcpy(arena->tail_items + nleft, right, nright * sizeof(SfJnValue *));
	arena->tail_used = nleft + nright;

	/* Its own capacity is what it holds, so that nothing else writes behind. */
	result = sf_jn_array(arena, 0);
	result->u.items = arena->tail_items;
	result->len = ((SfJnContainer *) result)->cap = (uint32) (nleft + nright);
	return result;
}
