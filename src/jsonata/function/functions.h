/*
 * functions.h
 *		The list of the functions of JSONata.
 *
 * The table of the library and the declarations are generated from it, and
 * test/lint/docs compares it with the documentation.
 */
#ifndef SF_JSONATA_FUNCTIONS_H
#define SF_JSONATA_FUNCTIONS_H

#include "jsonata/evaluation/eval.h"

/*
 * name, signature, how many arguments it takes, how many of the first have to be
 * given (else the result is undefined), where it exists
 */
#define SF_JN_FUNCTION_LIST(X) \
	X(abs, "<n-:n>", 1, 1, SF_JN_EVERYWHERE) \
	X(append, "<xx:a>", 2, 0, SF_JN_EVERYWHERE) \
	X(assert, "<bs?:x>", 2, 0, SF_JN_EVERYWHERE) \
	X(average, "<a<n>:n>", 1, 1, SF_JN_EVERYWHERE) \
	X(base64decode, "<s-:s>", 1, 1, SF_JN_EVERYWHERE) \
	X(base64encode, "<s-:s>", 1, 1, SF_JN_EVERYWHERE) \
	X(boolean, "<x-:b>", 1, 1, SF_JN_EVERYWHERE) \
	X(ceil, "<n-:n>", 1, 1, SF_JN_EVERYWHERE) \
	X(clone, "<(oa)-:o>", 1, 1, SF_JN_EVERYWHERE) \
	X(contains, "<s-(sf):b>", 2, 2, SF_JN_EVERYWHERE) \
	X(count, "<a:n>", 1, 0, SF_JN_EVERYWHERE) \
	X(decodeUrl, "<s-:s>", 1, 1, SF_JN_EVERYWHERE) \
	X(decodeUrlComponent, "<s-:s>", 1, 1, SF_JN_EVERYWHERE) \
	X(distinct, "<x:x>", 1, 0, SF_JN_EVERYWHERE) \
	X(each, "<o-f:a>", 2, 0, SF_JN_EVERYWHERE) \
	X(encodeUrl, "<s-:s>", 1, 1, SF_JN_EVERYWHERE) \
	X(encodeUrlComponent, "<s-:s>", 1, 1, SF_JN_EVERYWHERE) \
	X(error, "<s?:x>", 1, 0, SF_JN_EVERYWHERE) \
	X(eval, "<sx?:x>", 2, 1, SF_JN_IN_QUERY) \
	X(exists, "<x:b>", 1, 0, SF_JN_EVERYWHERE) \
	X(filter, "<af>", 2, 1, SF_JN_EVERYWHERE) \
	X(floor, "<n-:n>", 1, 1, SF_JN_EVERYWHERE) \
	X(formatBase, "<n-n?:s>", 2, 1, SF_JN_EVERYWHERE) \
	X(formatInteger, "<n-s:s>", 2, 2, SF_JN_EVERYWHERE) \
	X(formatNumber, "<n-so?:s>", 3, 2, SF_JN_EVERYWHERE) \
	X(fromMillis, "<n-s?s?:s>", 3, 1, SF_JN_EVERYWHERE) \
	X(hash, "<s-s?:s>", 2, 2, SF_JN_EVERYWHERE) \
	X(join, "<a<s>s?:s>", 2, 1, SF_JN_EVERYWHERE) \
	X(keys, "<x-:a<s>>", 1, 0, SF_JN_EVERYWHERE) \
	X(length, "<s-:n>", 1, 1, SF_JN_EVERYWHERE) \
	X(lookup, "<x-s:x>", 2, 2, SF_JN_EVERYWHERE) \
	X(lowercase, "<s-:s>", 1, 1, SF_JN_EVERYWHERE) \
	X(map, "<af>", 2, 1, SF_JN_EVERYWHERE) \
	X(match, "<s-f<s:o>n?:a<o>>", 3, 1, SF_JN_EVERYWHERE) \
	X(max, "<a<n>:n>", 1, 1, SF_JN_EVERYWHERE) \
	X(merge, "<a<o>:o>", 1, 1, SF_JN_EVERYWHERE) \
	X(millis, "<:n>", 0, 0, SF_JN_EVERYWHERE) \
	X(min, "<a<n>:n>", 1, 1, SF_JN_EVERYWHERE) \
	X(not, "<x-:b>", 1, 1, SF_JN_EVERYWHERE) \
	X(now, "<s?s?:s>", 2, 0, SF_JN_EVERYWHERE) \
	X(number, "<(nsb)-:n>", 1, 1, SF_JN_EVERYWHERE) \
	X(pad, "<s-ns?:s>", 3, 1, SF_JN_EVERYWHERE) \
	X(parse, "<s-:x>", 1, 1, SF_JN_EVERYWHERE) \
	X(parseInteger, "<s-s:n>", 2, 2, SF_JN_EVERYWHERE) \
	X(partition, "<a-n?:a>", 2, 1, SF_JN_EVERYWHERE) \
	X(power, "<n-n:n>", 2, 1, SF_JN_EVERYWHERE) \
	X(random, "<n?:n>", 0, 0, SF_JN_EVERYWHERE) \
	X(range, "<n-n?n?:a>", 3, 3, SF_JN_EVERYWHERE) \
	X(reduce, "<afj?:j>", 3, 1, SF_JN_EVERYWHERE) \
	X(replace, "<s-(sf)(sf)n?:s>", 4, 1, SF_JN_EVERYWHERE) \
	X(reverse, "<a:a>", 1, 1, SF_JN_EVERYWHERE) \
	X(round, "<n-n?:n>", 2, 1, SF_JN_EVERYWHERE) \
	X(shuffle, "<a:a>", 1, 1, SF_JN_EVERYWHERE) \
	X(sift, "<o-f?:o>", 2, 0, SF_JN_EVERYWHERE) \
	X(single, "<af?>", 2, 1, SF_JN_EVERYWHERE) \
	X(sort, "<af?:a>", 2, 1, SF_JN_EVERYWHERE) \
	X(split, "<s-(sf)n?:a<s>>", 3, 1, SF_JN_EVERYWHERE) \
	X(spread, "<x-:a<o>>", 1, 0, SF_JN_EVERYWHERE) \
	X(sqrt, "<n-:n>", 1, 1, SF_JN_EVERYWHERE) \
	X(string, "<x-b?:s>", 1, 0, SF_JN_EVERYWHERE) \
	X(substring, "<s-nn?:s>", 3, 1, SF_JN_EVERYWHERE) \
	X(substringAfter, "<s-s:s>", 2, 1, SF_JN_EVERYWHERE) \
	X(substringBefore, "<s-s:s>", 2, 1, SF_JN_EVERYWHERE) \
	X(sum, "<a<n>:n>", 1, 1, SF_JN_EVERYWHERE) \
	X(toMillis, "<s-s?:n>", 2, 1, SF_JN_EVERYWHERE) \
	X(trim, "<s-:s>", 1, 1, SF_JN_EVERYWHERE) \
	X(type, "<x:s>", 1, 1, SF_JN_EVERYWHERE) \
	X(uppercase, "<s-:s>", 1, 1, SF_JN_EVERYWHERE) \
	X(uuid, "<:s>", 0, 0, SF_JN_EVERYWHERE) \
	X(zip, "<a+>", 0, 0, SF_JN_EVERYWHERE)

#define SF_JN_FUNCTION_DECL(name, signature, arity, given, modes) \
	extern SfJnValue *sf_jn_fn_##name(SfJnEval *ev, SfJnValue **args, int nargs);
SF_JN_FUNCTION_LIST(SF_JN_FUNCTION_DECL)

#define SF_JN_LIBRARY_FUNCTION(name) \
	SfJnValue *sf_jn_fn_##name(SfJnEval *ev, SfJnValue **args, int nargs)

extern SfJnValue *sf_jn_library_function(const SfJnName *name, SfJnMode mode);
extern Oid	sf_jn_case_collation(void);
extern double sf_jn_round(double d, int decimals);
extern int64 sf_jn_now(SfJnEval *ev);

#endif							/* SF_JSONATA_FUNCTIONS_H */
