/*
 * assemble.c
 *		Arrays and objects put together from finished parts.
 *
 * PostgreSQL's builder copies a container of another document value by value.
 * Inside jsonb a container is self-contained, because its offsets count from its
 * own beginning.  So the parts are copied here as a whole, after a header that
 * utils/jsonb.h describes:
 *
 *		header (count and flags) | one JEntry for each child | the children
 *
 * A JEntry holds its child's type and length, or, each JB_OFFSET_STRIDE
 * entries, where the child ends.  Numbers and containers are aligned to four
 * bytes, and the padding before them counts as theirs.  An object's children
 * are all its keys, shorter ones first, equally long ones by their bytes, and
 * then all its values.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "json/json.h"

/* A container being written */
typedef struct Assembly
{
	JEntry	   *entries;
	char	   *base;			/* where the children begin */
	Size		offset;			/* behind the last child, from base */
	Size		nentries;
} Assembly;

/* Count the bytes of a child that begins at an offset, padding included. */
static Size
child_size(const JsonbValue *value, Size offset)
{
	Size		padding = INTALIGN(offset) - offset;

	switch (value->type)
	{
		case jbvNull:
		case jbvBool:
			return 0;
		case jbvString:
			return value->val.string.len;
		case jbvNumeric:
			return padding + VARSIZE_ANY(value->val.numeric);
		case jbvBinary:
			return padding + value->val.binary.len;
		default:
			elog(ERROR, "unexpected jsonb value of type %d", (int) value->type);
	}
}

/* Add the size of some children to an offset, and stop at jsonb's limit. */
static Size
add_sizes(Size offset, const JsonbValue *values, Size n)
{
	for (Size i = 0; i < n; i++)
	{
		offset += child_size(&values[i], offset);
		if (offset > JENTRY_OFFLENMASK)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("total size of jsonb array elements exceeds the maximum of %u bytes",
							JENTRY_OFFLENMASK)));
	}
	return offset;
}

/* Write one child. */
static void
write_child(Assembly *assembly, const JsonbValue *value)
{
	Size		size = child_size(value, assembly->offset);
	char	   *target = assembly->base + assembly->offset;
	char	   *aligned = assembly->base + INTALIGN(assembly->offset);
	JEntry		type = 0;

	switch (value->type)
	{
		case jbvNull:
			type = JENTRY_ISNULL;
			break;
		case jbvBool:
			type = value->val.boolean ? JENTRY_ISBOOL_TRUE : JENTRY_ISBOOL_FALSE;
			break;
		case jbvString:
			type = JENTRY_ISSTRING;
			memcpy(target, value->val.string.val, value->val.string.len);
			break;
		case jbvNumeric:
			type = JENTRY_ISNUMERIC;
			memset(target, 0, aligned - target);
			memcpy(aligned, value->val.numeric, VARSIZE_ANY(value->val.numeric));
			break;
		default:
			type = JENTRY_ISCONTAINER;
			memset(target, 0, aligned - target);
			memcpy(aligned, value->val.binary.data, value->val.binary.len);
			break;
	}
	assembly->offset += size;
	assembly->entries[assembly->nentries] = type |
		(assembly->nentries % JB_OFFSET_STRIDE == 0 ?
		 JENTRY_HAS_OFF | (JEntry) assembly->offset : (JEntry) size);
	assembly->nentries++;
}

/* Make room for a container of so many entries and bytes of children. */
static Jsonb *
begin_assembly(Assembly *assembly, uint32 header, Size nentries, Size nbytes)
{
	Size		size = offsetof(Jsonb, root) + sizeof(uint32) +
		nentries * sizeof(JEntry) + nbytes;
	Jsonb	   *document;

	if (size > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("jsonb of %zu elements is too large", nentries)));
	document = palloc(size);
	SET_VARSIZE(document, size);
	document->root.header = header;
	assembly->entries = document->root.children;
	assembly->base = (char *) &document->root.children[nentries];
	assembly->offset = 0;
	assembly->nentries = 0;
	return document;
}

/* Refuse more children than a header can count. */
static void
check_count(Size n)
{
	if (n > JB_CMASK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("number of jsonb elements exceeds the maximum of %u",
						JB_CMASK)));
}

/* Make an array of scalars and of containers from any documents. */
Jsonb *
sf_json_array_of(const JsonbValue *values, Size n)
{
	Assembly	assembly;
	Jsonb	   *document;

	check_count(n);
	document = begin_assembly(&assembly, (uint32) n | JB_FARRAY, n, add_sizes(0, values, n));
	for (Size i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_child(&assembly, &values[i]);
	}
	return document;
}

/* Order keys as jsonb does: by length, then by bytes. */
static int
compare_keys(const JsonbValue *a, const JsonbValue *b)
{
	if (a->val.string.len != b->val.string.len)
		return a->val.string.len < b->val.string.len ? -1 : 1;
	return memcmp(a->val.string.val, b->val.string.val, a->val.string.len);
}

/* Order members by their keys, and those with one key as they were given. */
static int
compare_members(const void *a, const void *b)
{
	const SfJsonMember *left = a;
	const SfJsonMember *right = b;
	int			cmp = compare_keys(&left->key, &right->key);

	return cmp != 0 ? cmp : left->order - right->order;
}

/* Sort members; of those with one key the last stays. */
static int
sort_members(SfJsonMember *members, int n)
{
	bool		sorted = true;
	int			kept = 0;

	for (int i = 0; i < n; i++)
		members[i].order = i;
	for (int i = 1; i < n && sorted; i++)
		sorted = compare_keys(&members[i - 1].key, &members[i].key) < 0;
	if (sorted)
		return n;
	qsort(members, n, sizeof(SfJsonMember), compare_members);
	for (int i = 0; i < n; i++)
	{
		if (kept > 0 && compare_keys(&members[kept - 1].key, &members[i].key) == 0)
			kept--;
		members[kept++] = members[i];
	}
	return kept;
}

/*
 * Make an object of members in any order, which are sorted in place.  Of
 * members with the same key the last one stays.
 */
Jsonb *
sf_json_object_of(SfJsonMember *members, int n)
{
	Assembly	assembly;
	Jsonb	   *document;
	Size		nbytes = 0;

	check_count((Size) n * 2);
	n = sort_members(members, n);
	for (int i = 0; i < n; i++)
		nbytes = add_sizes(nbytes, &members[i].key, 1);
	for (int i = 0; i < n; i++)
		nbytes = add_sizes(nbytes, &members[i].value, 1);
	document = begin_assembly(&assembly, (uint32) n | JB_FOBJECT, (Size) n * 2, nbytes);
	for (int i = 0; i < n; i++)
		write_child(&assembly, &members[i].key);
	for (int i = 0; i < n; i++)
		write_child(&assembly, &members[i].value);
	return document;
}

/*
 * Append the members of an object, sf_json_count() of them, to an array that
 * has room for them; how many there are.
 */
int
sf_json_list_members(const JsonbValue *object, SfJsonMember *members)
{
	JsonbIterator *it = JsonbIteratorInit(object->val.binary.data);
	JsonbIteratorToken token;
	JsonbValue	value;
	int			n = 0;

	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			members[n].key = value;
		else if (token == WJB_VALUE)
			members[n++].value = value;
	}
	return n;
}

/* The members of an object, as a new array of *n. */
SfJsonMember *
sf_json_members(const JsonbValue *object, int *n)
{
	SfJsonMember *members = palloc(sizeof(SfJsonMember) * Max(sf_json_count(object), 1));

	*n = sf_json_list_members(object, members);
	return members;
}
