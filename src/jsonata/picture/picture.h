/*
 * picture.h
 *		Picture strings of integers and of times, as XPath 3.1 defines them
 *		(functions and operators, sections 4.6 and 9.8).
 */
#ifndef SF_JSONATA_PICTURE_H
#define SF_JSONATA_PICTURE_H

#include "lib/stringinfo.h"

#include "jsonata/evaluation/eval.h"

typedef enum SfJnLetterCase
{
	SF_JN_CASE_LOWER,
	SF_JN_CASE_UPPER,
	SF_JN_CASE_TITLE
} SfJnLetterCase;

typedef enum SfJnIntegerStyle
{
	SF_JN_STYLE_DECIMAL,
	SF_JN_STYLE_LETTERS,
	SF_JN_STYLE_ROMAN,
	SF_JN_STYLE_WORDS,
	SF_JN_STYLE_NUMBERING		/* another sequence, which is not supported */
} SfJnIntegerStyle;

typedef struct SfJnSeparator
{
	int			position;		/* digits to its right */
	uint32		character;
} SfJnSeparator;

typedef struct SfJnIntegerPicture
{
	SfJnIntegerStyle style;
	SfJnLetterCase letter_case;
	bool		ordinal;
	uint32		zero;			/* code point of the digit 0 */
	int			mandatory;		/* digits */
	int			optional;
	bool		regular;		/* one separator, repeated: separators[0] */
	SfJnSeparator *separators;
	int			nseparators;
	int			parse_width;	/* digits when parsed; 0: any number */
	SfJnValue  *token;			/* the picture without modifier */
} SfJnIntegerPicture;

/* integer.c */
extern void sf_jn_integer_picture(SfJnEval *ev, const char *picture, Size len,
								  SfJnIntegerPicture *out);
extern void sf_jn_append_integer(SfJnEval *ev, StringInfo buf, double value,
								 const SfJnIntegerPicture *picture);

extern int	sf_jn_regular_distance(SfJnEval *ev, const int *positions, int n);

/* integer_parse.c: NaN where it is no integer */
extern double sf_jn_parse_integer(SfJnEval *ev, const char *s, Size len,
								  const SfJnIntegerPicture *picture);
extern void sf_jn_integer_pattern(SfJnEval *ev, StringInfo buf,
								  const SfJnIntegerPicture *picture);

/* Words of English numbers: cardinals and ordinals 0..19, tens, magnitudes. */
extern const char *const sf_jn_few[20];
extern const char *const sf_jn_ordinals[20];
extern const char *const sf_jn_tens[8];
extern const char *const sf_jn_magnitudes[4];

/* Where a width of a part may stand: there is none */
#define SF_JN_NO_WIDTH		(-1)

/* Where a number of digits may stand: all are meant */
#define SF_JN_ALL_DIGITS	(-1)

/* A part of a date/time picture: a literal, or a component in brackets. */
typedef struct SfJnPicturePart
{
	char		component;		/* '\0': a literal */
	SfJnValue  *literal;
	char		modifier;		/* second presentation modifier, or '\0' */
	bool		has_names;
	SfJnLetterCase names;
	bool		has_integer;
	SfJnIntegerPicture integer;
	int			min_width;		/* or SF_JN_NO_WIDTH */
	int			max_width;
	int			year_digits;	/* the last ones that are shown, or SF_JN_ALL_DIGITS */
} SfJnPicturePart;

typedef struct SfJnTimePicture
{
	SfJnPicturePart *parts;
	int			n;
} SfJnTimePicture;

extern SfJnTimePicture *sf_jn_time_picture(SfJnEval *ev, const char *picture, Size len);
extern double sf_jn_utc(double year, double month, double day, double hour,
						double minute, double second, double milli);
extern double sf_jn_time_component(double millis, char component);

/* datetime.c, datetime_parse.c */
extern SfJnValue *sf_jn_format_datetime(SfJnEval *ev, double millis,
										SfJnValue *picture, SfJnValue *timezone);
extern SfJnValue *sf_jn_parse_datetime(SfJnEval *ev, SfJnValue *text,
									   SfJnValue *picture);
extern const char *const sf_jn_months[12];
extern const char *const sf_jn_days[8];

#endif							/* SF_JSONATA_PICTURE_H */
