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
sf_jn_arena_init(SfJnArena *a, MemoryContext context)
{
	memset(a, 0, sizeof(*a));
	a->context = context;
}

/* Take a new chunk; large requests get one of their own. */
void *
sf_jn_alloc_slow(SfJnArena *a, Size size)
{
	Size		chunk;

	if (a->limit > 0 && a->total + size > a->limit)
		a->on_limit(a->on_limit_arg, "memory");

	if (size >= MAX_CHUNK / 4)
	{
		a->total += size;
		return MemoryContextAllocHuge(a->context, size);
	}

	chunk = a->small ? SMALL_CHUNK : FIRST_CHUNK;
	chunk = Min(Max(chunk, a->total), (Size) MAX_CHUNK);
	chunk = Max(chunk, size);
	a->total += chunk;
	a->next = MemoryContextAlloc(a->context, chunk);
	a->room = chunk - size;
	a->next += size;
	return a->next - size;
}

/* Move n items of a size to room for capacity of them. */
void *
sf_jn_grow(SfJnArena *a, const void *items, Size n, Size capacity, Size size)
{
	void	   *room = sf_jn_alloc(a, capacity * size);

	if (n > 0)
		memcpy(room, items, n * size);
	return room;
}

/* Make a number. */
SfJnValue *
sf_jn_number(SfJnArena *a, double d)
{
	SfJnValue  *v = sf_jn_alloc(a, sizeof(SfJnValue));

	v->type = SF_JN_TYPE_NUMBER;
	v->flags = 0;
	v->len = 0;
	v->u.number = d;
	return v;
}

/* Make a number from an integer that may need more than 53 bits. */
SfJnValue *
sf_jn_exact(SfJnArena *a, int64 n)
{
	SfJnExact  *v = sf_jn_alloc(a, sizeof(SfJnExact));

	v->v.type = SF_JN_TYPE_NUMBER;
	v->v.flags = SF_JN_EXACT;
	v->v.len = 0;
	v->v.u.number = (double) n;
	v->exact = n;
	return &v->v;
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
sf_jn_string(SfJnArena *a, const char *str, Size len)
{
	SfJnValue  *v;

	if (len > SF_JN_MAX_STRING && a->limit > 0)
		a->on_limit(a->on_limit_arg, "string");
	Assert(len <= MaxAllocSize);
	v = sf_jn_alloc(a, sizeof(SfJnValue));
	v->type = SF_JN_TYPE_STRING;
	v->flags = 0;
	v->len = (uint32) len;
	v->u.str = str;
	return v;
}

/* Make a string from a copy of bytes. */
SfJnValue *
sf_jn_string_copy(SfJnArena *a, const char *str, Size len)
{
	return sf_jn_string(a, sf_jn_grow(a, str, len, len, 1), len);
}

/* Make a string of what a buffer holds, and free the buffer. */
SfJnValue *
sf_jn_string_of(SfJnArena *a, StringInfo buf)
{
	SfJnValue  *v = sf_jn_string_copy(a, buf->data, buf->len);

	pfree(buf->data);
	return v;
}

/* Make a string from a C string that outlives the arena. */
SfJnValue *
sf_jn_cstring(SfJnArena *a, const char *str)
{
	return sf_jn_string(a, str, strlen(str));
}

/* Make an empty array or object with room for so many items of a size. */
static SfJnValue *
make_container(SfJnArena *a, SfJnType type, uint32 capacity, Size size)
{
	SfJnContainer *c = sf_jn_alloc(a, sizeof(SfJnContainer));

	c->v.type = type;
	c->v.flags = 0;
	c->v.len = 0;
	c->v.u.items = capacity > 0 ? sf_jn_alloc(a, capacity * size) : NULL;
	c->cap = capacity;
	c->index_size = 0;
	c->index = NULL;
	return &c->v;
}

/* Make an empty array. */
SfJnValue *
sf_jn_array(SfJnArena *a, uint32 capacity)
{
	return make_container(a, SF_JN_TYPE_ARRAY, capacity, sizeof(SfJnValue *));
}

/* Make an empty sequence. */
SfJnValue *
sf_jn_sequence(SfJnArena *a, uint32 capacity)
{
	SfJnValue  *v = sf_jn_array(a, capacity);

	v->flags = SF_JN_SEQUENCE;
	return v;
}

/* Give an array room for so many elements. */
static void
reserve(SfJnArena *a, SfJnValue *array, Size capacity)
{
	SfJnContainer *c = (SfJnContainer *) array;

	if (capacity <= c->cap)
		return;
	if (capacity > PG_INT32_MAX / 4)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array in a JSONata expression is too long")));
	array->u.items = sf_jn_grow(a, array->u.items, array->len, capacity,
								sizeof(SfJnValue *));
	c->cap = (uint32) capacity;
}

/* Append to an array that is full. */
void
sf_jn_push_slow(SfJnArena *a, SfJnValue *array, SfJnValue *item)
{
	reserve(a, array, array->len < 4 ? 4 : (Size) array->len * 2);
	array->u.items[array->len++] = item;
}

/* Append the elements of another array. */
void
sf_jn_push_all(SfJnArena *a, SfJnValue *array, const SfJnValue *from)
{
	Size		need = (Size) array->len + from->len;

	if (from->len == 0)
		return;
	if (need > ((SfJnContainer *) array)->cap)
		reserve(a, array, Max(need, (Size) array->len * 2));
	memcpy(array->u.items + array->len, from->u.items,
		   from->len * sizeof(SfJnValue *));
	array->len += from->len;
}

/* Make an empty object. */
SfJnValue *
sf_jn_object(SfJnArena *a, uint32 capacity)
{
	return make_container(a, SF_JN_TYPE_OBJECT, capacity, sizeof(SfJnMember));
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
index_member(SfJnContainer *c, uint32 n)
{
	uint32		mask = c->index_size - 1;
	uint32		slot = c->v.u.members[n].hash & mask;

	while (c->index[slot] != 0)
		slot = (slot + 1) & mask;
	c->index[slot] = n + 1;
}

/* Build the index of an object anew, with room for its capacity. */
static void
rebuild_index(SfJnArena *a, SfJnContainer *c)
{
	uint32		size = 16;

	while (size < c->cap * 2)
		size *= 2;
	c->index = sf_jn_alloc(a, size * sizeof(uint32));
	memset(c->index, 0, size * sizeof(uint32));
	c->index_size = size;
	for (uint32 i = 0; i < c->v.len; i++)
		index_member(c, i);
}

/* Find a member by key and hash. */
SfJnMember *
sf_jn_find(const SfJnValue *object, const char *key, uint32 keylen, uint32 hash)
{
	const SfJnContainer *c = (const SfJnContainer *) object;
	SfJnMember *members = object->u.members;

	if (c->index_size > 0)
	{
		uint32		mask = c->index_size - 1;

		for (uint32 i = hash & mask; c->index[i] != 0; i = (i + 1) & mask)
		{
			SfJnMember *m = &members[c->index[i] - 1];

			if (m->hash == hash && m->keylen == keylen &&
				memcmp(m->key, key, keylen) == 0)
				return m;
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
sf_jn_set_hashed(SfJnArena *a, SfJnValue *object, const char *key,
				 uint32 keylen, uint32 hash, SfJnValue *value)
{
	SfJnContainer *c = (SfJnContainer *) object;
	SfJnMember *m = sf_jn_find(object, key, keylen, hash);

	if (m != NULL)
	{
		m->value = value;
		return;
	}
	if (object->len >= c->cap)
	{
		c->cap = c->cap < 4 ? 4 : c->cap * 2;
		object->u.members = sf_jn_grow(a, object->u.members, object->len, c->cap,
									   sizeof(SfJnMember));
		c->index_size = 0;
	}
	/* one that was made with room for its members has no index before it has as many */
	if (c->index_size == 0 && object->len + 1 >= INDEX_FROM)
		rebuild_index(a, c);
	m = &object->u.members[object->len++];
	m->key = key;
	m->keylen = keylen;
	m->hash = hash;
	m->value = value;
	if (c->index_size > 0)
		index_member(c, object->len - 1);
}

/* Set a member. */
void
sf_jn_set(SfJnArena *a, SfJnValue *object, const char *key, uint32 keylen,
		  SfJnValue *value)
{
	sf_jn_set_hashed(a, object, key, keylen, sf_jn_hash(key, keylen), value);
}

/* Set a member named by a constant. */
void
sf_jn_set_c(SfJnArena *a, SfJnValue *object, const char *key, SfJnValue *value)
{
	sf_jn_set(a, object, key, (uint32) strlen(key), value);
}

/* Remove the members of some names, which are strings, keeping the order of the others. */
void
sf_jn_delete(SfJnArena *a, SfJnValue *object, SfJnValue **keys, uint32 n)
{
	SfJnContainer *c = (SfJnContainer *) object;
	SfJnMember *members = object->u.members;
	bool	   *gone = sf_jn_alloc(a, object->len);
	uint32		kept = 0;

	memset(gone, 0, object->len);
	for (uint32 i = 0; i < n; i++)
	{
		const SfJnMember *m = sf_jn_find(object, keys[i]->u.str, keys[i]->len,
										 sf_jn_hash(keys[i]->u.str, keys[i]->len));

		if (m != NULL)
			gone[m - members] = true;
	}
	for (uint32 i = 0; i < object->len; i++)
	{
		if (!gone[i])
			members[kept++] = members[i];
	}
	object->len = kept;
	if (c->index_size == 0)
		return;
	memset(c->index, 0, c->index_size * sizeof(uint32));
	for (uint32 i = 0; i < kept; i++)
		index_member(c, i);
}

/* Look a member up by a constant name. */
SfJnValue *
sf_jn_get(const SfJnValue *object, const char *key)
{
	uint32		len = (uint32) strlen(key);
	SfJnMember *m = sf_jn_find(object, key, len, sf_jn_hash(key, len));

	return m == NULL ? NULL : m->value;
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
sf_jn_concat(SfJnArena *a, SfJnValue *x, SfJnValue *y)
{
	Size		total = (Size) x->len + y->len;

	if (x->u.str != a->tail_text || x->len != a->text_used || total > a->text_cap)
	{
		/* What was the result of & once may be added to again. */
		Size		cap = x->u.str == a->tail_text ? total * 2 : total;
		char	   *text = sf_jn_alloc(a, cap);

		memcpy(text, x->u.str, x->len);
		a->tail_text = text;
		a->text_cap = cap;
	}
	memcpy(a->tail_text + x->len, y->u.str, y->len);
	a->text_used = total;
	return sf_jn_string(a, a->tail_text, total);
}

/* Concatenate two values into an array, leaving out undefined. */
SfJnValue *
sf_jn_append(SfJnArena *a, SfJnValue *x, SfJnValue *y)
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
	if (nleft == 0 || left != a->tail_items || nleft != a->tail_used ||
		nleft + nright > a->tail_cap)
	{
		Size		cap = nleft > 0 && left == a->tail_items ?
			(nleft + nright) * 2 : nleft + nright;
		SfJnValue **items = sf_jn_alloc(a, cap * sizeof(SfJnValue *));

		if (nleft > 0)
			memcpy(items, left, nleft * sizeof(SfJnValue *));
		a->tail_items = items;
		a->tail_cap = cap;
	}
	if (nright > 0)
		memcpy(a->tail_items + nleft, right, nright * sizeof(SfJnValue *));
	a->tail_used = nleft + nright;

	/* Its own capacity is what it holds, so that nothing else writes behind. */
	result = sf_jn_array(a, 0);
	result->u.items = a->tail_items;
	result->len = ((SfJnContainer *) result)->cap = (uint32) (nleft + nright);
	return result;
}
