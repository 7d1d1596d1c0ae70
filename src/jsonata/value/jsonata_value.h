/*
 * jsonata_value.h
 *		Values of JSONata, and the memory that they live in.
 *
 * A value is a pointer to an SfJnValue; undefined is NULL (also as an element
 * of an array).  A value that an expression can refer to is immutable, with three
 * exceptions: arrays under construction, the flags of sequences, and the clone
 * that a transform edits.
 *
 * All memory comes from an SfJnArena, a bump allocator inside one memory context,
 * which is deleted after the evaluation.  Nothing is freed singly.
 */
#ifndef SF_JSONATA_JSONATA_VALUE_H
#define SF_JSONATA_JSONATA_VALUE_H

#include "postgres.h"

#include "lib/stringinfo.h"

typedef enum SfJnType
{
	SF_JN_TYPE_NULL,
	SF_JN_TYPE_BOOL,
	SF_JN_TYPE_NUMBER,
	SF_JN_TYPE_STRING,
	SF_JN_TYPE_ARRAY,
	SF_JN_TYPE_OBJECT,
	SF_JN_TYPE_FUNCTION
} SfJnType;

/* Flags of arrays, as the reference implementation has them */
#define SF_JN_SEQUENCE		0x01	/* collapses to its only element */
#define SF_JN_KEEP			0x02	/* … but not this one ([] was used) */
#define SF_JN_CONS			0x04	/* made by an array constructor in a path */
#define SF_JN_TUPLES		0x08	/* elements are tuples of bindings */
#define SF_JN_OUTER			0x10	/* wraps an input that is an array */
/* Flag of numbers: an integer past 2^53 whose exact value follows */
#define SF_JN_EXACT			0x20

typedef struct SfJnValue SfJnValue;

typedef struct SfJnMember
{
	const char *key;
	uint32		keylen;
	uint32		hash;
	SfJnValue  *value;
} SfJnMember;

struct SfJnValue
{
	uint8		type;			/* SfJnType */
	uint8		flags;
	uint32		len;			/* bytes, elements or members */
	union
	{
		double		number;
		bool		boolean;
		const char *str;		/* UTF-8, not terminated */
		SfJnValue **items;
		SfJnMember *members;
		struct SfJnFunction *function;
	}			u;
};

/* An array or object has room to grow. */
typedef struct SfJnContainer
{
	SfJnValue	v;
	uint32		cap;
	uint32		index_size;		/* power of two; 0: no index */
	uint32	   *index;			/* member number + 1, by hash; 0 is free */
} SfJnContainer;

/* A number whose exact integer value must survive (SF_JN_EXACT). */
typedef struct SfJnExact
{
	SfJnValue	v;
	int64		exact;
} SfJnExact;

typedef struct SfJnArena
{
	MemoryContext context;
	char	   *next;			/* free room in the current chunk */
	Size		room;
	Size		total;			/* bytes taken so far */
	Size		limit;			/* 0: none */
	bool		small;			/* begin with a small chunk */
	void		(*on_limit) (void *arg, const char *what);	/* does not return */
	void	   *on_limit_arg;

	/*
	 * The last buffers that $append and & have made, with spare room at the
	 * end.  When $reduce appends to the same value repeatedly, the value grows
	 * in place: earlier, shorter values share the beginning of the buffer.
	 */
	SfJnValue **tail_items;
	Size		tail_used;
	Size		tail_cap;
	char	   *tail_text;
	Size		text_used;
	Size		text_cap;
} SfJnArena;

extern SfJnValue sf_jn_null_value;
extern SfJnValue sf_jn_true_value;
extern SfJnValue sf_jn_false_value;

#define SF_JN_IS(v, t) ((v) != NULL && (v)->type == (t))
#define SF_JN_IS_ARRAY(v) SF_JN_IS(v, SF_JN_TYPE_ARRAY)
#define SF_JN_IS_STRING(v) SF_JN_IS(v, SF_JN_TYPE_STRING)
#define SF_JN_IS_OBJECT(v) SF_JN_IS(v, SF_JN_TYPE_OBJECT)
#define SF_JN_IS_NUMBER(v) SF_JN_IS(v, SF_JN_TYPE_NUMBER)
#define SF_JN_IS_FUNCTION(v) SF_JN_IS(v, SF_JN_TYPE_FUNCTION)
#define SF_JN_IS_SEQUENCE(v) (SF_JN_IS_ARRAY(v) && ((v)->flags & SF_JN_SEQUENCE) != 0)

/* Take the array out of the wrapper that an input has (sf_jn_wrap_input). */
static inline SfJnValue *
sf_jn_unwrap(SfJnValue *value)
{
	return SF_JN_IS_ARRAY(value) && (value->flags & SF_JN_OUTER) != 0 ? value->u.items[0] : value;
}

/* See a value as a list: the elements of an array, or the value by itself. */
static inline uint32
sf_jn_items(SfJnValue **value, SfJnValue ***items)
{
	bool		is_array = SF_JN_IS_ARRAY(*value);

	*items = is_array ? (*value)->u.items : value;
	return is_array ? (*value)->len : 1;
}

/* --- memory --- */

extern void sf_jn_arena_init(SfJnArena *arena, MemoryContext context);
extern void *sf_jn_alloc_slow(SfJnArena *arena, Size size);

/* Room for size bytes, aligned; never NULL. */
static inline void *
sf_jn_alloc(SfJnArena *arena, Size size)
{
	size = MAXALIGN(size);
	if (likely(size <= arena->room))
	{
		void	   *p = arena->next;

		arena->next += size;
		arena->room -= size;
		return p;
	}
	return sf_jn_alloc_slow(arena, size);
}

extern void *sf_jn_grow(SfJnArena *arena, const void *items, Size n, Size capacity,
						Size size);

/* --- making values --- */

extern SfJnValue *sf_jn_number(SfJnArena *arena, double d);
extern SfJnValue *sf_jn_exact(SfJnArena *arena, int64 n);
extern SfJnValue *sf_jn_bool(bool b);
extern SfJnValue *sf_jn_null(void);

/* A string; str is kept, not copied (sf_jn_string_copy copies). */
extern SfJnValue *sf_jn_string(SfJnArena *arena, const char *str, Size len);
extern SfJnValue *sf_jn_string_copy(SfJnArena *arena, const char *str, Size len);
extern SfJnValue *sf_jn_cstring(SfJnArena *arena, const char *str);

extern SfJnValue *sf_jn_string_of(SfJnArena *arena, StringInfo buf);
extern SfJnValue *sf_jn_array(SfJnArena *arena, uint32 capacity);
extern SfJnValue *sf_jn_sequence(SfJnArena *arena, uint32 capacity);
extern void sf_jn_push_slow(SfJnArena *arena, SfJnValue *array, SfJnValue *item);

/* Append one element (may be NULL: undefined). */
static inline void
sf_jn_push(SfJnArena *arena, SfJnValue *array, SfJnValue *item)
{
	if (likely(array->len < ((SfJnContainer *) array)->cap))
		array->u.items[array->len++] = item;
	else
		sf_jn_push_slow(arena, array, item);
}

extern void sf_jn_push_all(SfJnArena *arena, SfJnValue *array, const SfJnValue *from);
extern SfJnValue *sf_jn_object(SfJnArena *arena, uint32 capacity);
extern uint32 sf_jn_hash(const char *key, Size len);

/* Set a member; key is kept, not copied.  A new key goes to the end. */
extern void sf_jn_set(SfJnArena *arena, SfJnValue *object, const char *key,
					  uint32 keylen, SfJnValue *value);
extern void sf_jn_set_hashed(SfJnArena *arena, SfJnValue *object, const char *key,
							 uint32 keylen, uint32 hash, SfJnValue *value);

/* Set a member with the key of another. */
static inline void
sf_jn_set_member(SfJnArena *arena, SfJnValue *object, const SfJnMember *like,
				 SfJnValue *value)
{
	sf_jn_set_hashed(arena, object, like->key, like->keylen, like->hash, value);
}

extern void sf_jn_set_c(SfJnArena *arena, SfJnValue *object, const char *key,
						SfJnValue *value);
extern void sf_jn_delete(SfJnArena *arena, SfJnValue *object, SfJnValue **keys, uint32 n);

/* The member of that name, or NULL when there is none. */
extern SfJnMember *sf_jn_find(const SfJnValue *object, const char *key,
							  uint32 keylen, uint32 hash);
extern SfJnValue *sf_jn_get(const SfJnValue *object, const char *key);

/* --- using values --- */

extern int	sf_jn_compare_strings(const SfJnValue *x, const SfJnValue *y);
extern SfJnValue *sf_jn_concat(SfJnArena *arena, SfJnValue *x, SfJnValue *y);
extern SfJnValue *sf_jn_append(SfJnArena *arena, SfJnValue *x, SfJnValue *y);

/* --- text (text.c) --- */

extern Size sf_jn_char_count(const char *s, Size len);
extern Size sf_jn_char_offset(const char *s, Size len, Size n);

/* Decode the code point at s (lone surrogates come out as themselves). */
extern int	sf_jn_decode(const char *s, const char *end, uint32 *cp);
extern int	sf_jn_encode(uint32 cp, char *out);

extern bool sf_jn_hex_value(const char *s, const char *end, int digits, int *value);
extern bool sf_jn_index_of(const SfJnValue *text, const SfJnValue *needle, Size from, Size *index);

/* A number as JavaScript prints it; returns the length (buffer of 32). */
#define SF_JN_NUMBER_LEN 32
extern int	sf_jn_print_number(double d, char *buf);

extern double sf_jn_round15(double d);
extern double sf_jn_parse_number(const char *s, Size len);

#endif							/* SF_JSONATA_JSONATA_VALUE_H */
