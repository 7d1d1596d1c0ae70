/*
 * ast.h
 *		The tree of a compiled JSONata expression.
 *
 * The parser makes it, process.c reshapes it, and from then on it is
 * immutable.  Which fields a node uses depends on its type:
 *
 *		PATH		steps; group; keep_singleton; tuple
 *		BINARY		op, lhs, rhs
 *		NEGATE		lhs
 *		ARRAY		items (cons: does not flatten)
 *		OBJECT		pairs: key, value, key, value …
 *		FUNCTION	lhs is the procedure, items the arguments (PARTIAL too)
 *		LAMBDA		items are the parameters, rhs the body, signature
 *		CONDITION	lhs ? rhs : third
 *		BLOCK		items
 *		BIND		name := rhs
 *		APPLY		lhs ~> rhs
 *		TRANSFORM	| lhs | rhs, third |
 *		SORT		items, of which some are descending (a step of a path)
 *		PARENT		sought
 */
#ifndef SF_JSONATA_AST_H
#define SF_JSONATA_AST_H

#include "jsonata/value/jsonata_value.h"

/*
 * Operators: symbol, text, how strongly it binds what stands left of it (0: it
 * does not follow an operand).  Order matters to the lexer only in that
 * two-character operators come first.
 */
#define SF_JN_OPERATOR_LIST(X) \
	X(RANGE, "..", 0) \
	X(ASSIGN, ":=", 10) \
	X(NE, "!=", 40) \
	X(GE, ">=", 40) \
	X(LE, "<=", 40) \
	X(DESCEND, "**", 0) \
	X(CHAIN, "~>", 40) \
	X(ELVIS, "?:", 40) \
	X(COALESCE, "??", 40) \
	X(DOT, ".", 75) \
	X(LBRACKET, "[", 80) \
	X(RBRACKET, "]", 0) \
	X(LBRACE, "{", 70) \
	X(RBRACE, "}", 0) \
	X(LPAREN, "(", 80) \
	X(RPAREN, ")", 0) \
	X(COMMA, ",", 0) \
	X(AT, "@", 80) \
	X(HASH, "#", 80) \
	X(SEMICOLON, ";", 0) \
	X(COLON, ":", 0) \
	X(QUESTION, "?", 20) \
	X(PLUS, "+", 50) \
	X(MINUS, "-", 50) \
	X(STAR, "*", 60) \
	X(SLASH, "/", 60) \
	X(PERCENT, "%", 60) \
	X(PIPE, "|", 0) \
	X(EQ, "=", 40) \
	X(LT, "<", 40) \
	X(GT, ">", 40) \
	X(CARET, "^", 40) \
	X(CONCAT, "&", 50) \
	X(BANG, "!", 0) \
	X(TILDE, "~", 0) \
	X(AND, "and", 30) \
	X(OR, "or", 25) \
	X(IN, "in", 40)

#define SF_JN_OP_ENUM(sym, text, power) SF_JN_OP_##sym,
typedef enum SfJnOp
{
	SF_JN_OPERATOR_LIST(SF_JN_OP_ENUM)
	SF_JN_OP_NONE
} SfJnOp;

/* Node types: symbol, the reference's name (it appears in messages) */
#define SF_JN_NODE_LIST(X) \
	X(PATH, "path") \
	X(BINARY, "binary") \
	X(NEGATE, "unary") \
	X(ARRAY, "unary") \
	X(OBJECT, "unary") \
	X(NAME, "name") \
	X(STRING, "string") \
	X(NUMBER, "number") \
	X(CONSTANT, "value") \
	X(WILDCARD, "wildcard") \
	X(DESCENDANT, "descendant") \
	X(PARENT, "parent") \
	X(CONDITION, "condition") \
	X(BLOCK, "block") \
	X(BIND, "bind") \
	X(REGEX, "regex") \
	X(FUNCTION, "function") \
	X(VARIABLE, "variable") \
	X(LAMBDA, "lambda") \
	X(PARTIAL, "partial") \
	X(PLACEHOLDER, "operator") \
	X(APPLY, "apply") \
	X(TRANSFORM, "transform") \
	X(SORT, "sort") \
	X(OPERATOR, "operator") \
	X(END, "(end)")

#define SF_JN_NODE_ENUM(sym, name) SF_JN_NODE_##sym,
typedef enum SfJnNodeType
{
	SF_JN_NODE_LIST(SF_JN_NODE_ENUM)
} SfJnNodeType;

typedef struct SfJnNode SfJnNode;
typedef struct SfJnSignature SfJnSignature;
typedef struct SfJnRegex SfJnRegex;

typedef struct SfJnNodeList
{
	SfJnNode  **at;
	int			n;
	int			cap;
} SfJnNodeList;

/* A name with its hash: "!0" for parents, "x" for $x. */
typedef struct SfJnName
{
	const char *str;
	uint32		len;
	uint32		hash;
} SfJnName;

/* The step in which a parent operator finds its value: a label that it binds. */
typedef struct SfJnAncestor
{
	SfJnName	label;
	int			level;
	int			index;			/* of the PARENT node that it belongs to */
} SfJnAncestor;

/* A filter [expr] (expr set) or a position binding #$name of a step. */
typedef struct SfJnStage
{
	SfJnNode   *expr;
	SfJnName	index;
	int			position;
} SfJnStage;

typedef struct SfJnStages
{
	SfJnStage  *at;
	int			n;
} SfJnStages;

typedef struct SfJnGroup
{
	SfJnNodeList pairs;
	int			position;
} SfJnGroup;

struct SfJnNode
{
	SfJnNodeType type;
	SfJnOp		op;
	int			position;		/* in UTF-16 units, after the token */
	SfJnName	name;			/* NAME, VARIABLE, BIND, token of others */
	SfJnValue  *value;			/* STRING, NUMBER, CONSTANT */
	SfJnNode   *lhs;
	SfJnNode   *rhs;
	SfJnNode   *third;
	SfJnNodeList items;			/* steps, arguments, pairs, expressions */
	SfJnStages	stages;			/* of a step in a path */
	SfJnStages	predicates;		/* of anything else */
	SfJnGroup  *group;
	SfJnSignature *signature;
	SfJnRegex  *regex;

	/* bindings that this step makes */
	SfJnName	focus;			/* @$name; str NULL: none */
	SfJnName	index;			/* #$name */
	SfJnAncestor *ancestor;		/* a later % refers to this step */
	SfJnAncestor *sought;		/* PARENT */
	SfJnAncestor **seeking;		/* parents not yet found */
	int			nseeking;
	int			seeking_cap;

	bool		keep_array;
	bool		keep_singleton;
	bool		cons;
	bool		tuple;
	bool		thunk;			/* LAMBDA that stands for a tail call */
	bool		descending;		/* a term of SORT */
};

/* Is the value of a CONDITION what it tests: a ?: b, a ?? b?  Then a stands in it twice. */
#define SF_JN_TESTS_VALUE(node) \
	((node)->op == SF_JN_OP_ELVIS || (node)->op == SF_JN_OP_COALESCE)

/* Everything that compiling needs; lives in the program's context. */
typedef struct SfJnCompile
{
	SfJnArena  *arena;
	struct SfJnThrow *thrower;
	const char *text;
	Size		len;
	Size		pos;			/* bytes read */
	Size		counted;		/* bytes counted in units */
	int			units;			/* UTF-16 units up to there */
	SfJnNode   *node;			/* the current token */
	SfJnOp		token;			/* its operator, or NONE */
	SfJnNode  **ancestry;		/* PARENT nodes, by the index of what they seek */
	int			nancestry;
	int			ancestry_cap;
	int			depth;
} SfJnCompile;

extern const char *const sf_jn_operator_text[];
extern const int sf_jn_operator_power[];
extern const char *const sf_jn_node_name[];

/* lex.c: read the next token into c->node and c->token. */
extern void sf_jn_next_token(SfJnCompile *compile, bool infix);
extern SfJnNode *sf_jn_node(SfJnCompile *compile, SfJnNodeType type, int position);
extern SfJnName sf_jn_name(const char *str, Size len);

/* parser.c: the whole text as a tree, processed. */
extern SfJnNode *sf_jn_parse(SfJnArena *arena, struct SfJnThrow *thrower,
							 const char *text, Size len);
extern void sf_jn_list_add(SfJnCompile *compile, SfJnNodeList *list, SfJnNode *item);

/* process.c */
extern SfJnNode *sf_jn_process(SfJnCompile *compile, SfJnNode *node);

/* signature.c */
extern SfJnSignature *sf_jn_signature_parse(SfJnArena *arena, struct SfJnThrow *thrown,
											const char *text, int position);

/* regex_pattern.c */
extern SfJnRegex *sf_jn_regex_compile(SfJnArena *arena, struct SfJnThrow *thrown,
									  const char *pattern, Size len,
									  bool ignore_case, bool multiline,
									  int position);

#endif							/* SF_JSONATA_AST_H */
