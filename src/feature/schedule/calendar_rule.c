/*
 * calendar_rule.c
 *		Read the rule and the days of a calendar.
 *
 * A reader of a value gets its path: "rule" or "days", and the JSON pointer after
 * it.  An error names the path.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datetime.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "feature/schedule/calendar.h"

/* Elements of a list of dates, and of other lists, at most */
#define MAX_DATES		10000
#define MAX_ELEMENTS	1000
#define MAX_DAYS		366

#define A_DATE	"A date is \"2025-12-31\", or \"12-31\" for each year."

/* Read a field's value into the struct of its object */
typedef void (*FieldReader) (const JsonbValue *value, const char *at, void *out);

/* A field of an object */
typedef struct Field
{
	const char *name;
	FieldReader read;
} Field;

/* --- errors and plain values --- */

/* Raise the error that what stands at a path is not valid. */
static void pg_attribute_noreturn()
invalid(const char *at, const char *detail)
{
	const char *pointer = at + strcspn(at, "/");

	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_CALENDAR),
			 errmsg("invalid calendar: %.*s at \"%s\"", (int) (pointer - at), at, pointer),
			 errdetail("%s", detail)));
}

/* The path of a member of an object. */
static char *
path_of(const char *at, const JsonbValue *key)
{
	return psprintf("%s/%.*s", at, key->val.string.len, key->val.string.val);
}

/* Read an integer between two limits. */
static int
read_number(const JsonbValue *value, const char *at, int least, int most)
{
	int64		number;

	if (value->type != jbvNumeric || !sf_json_to_int64(value, &number) || number < least || number > most)
		invalid(at, psprintf("It takes an integer from %d to %d.", least, most));
	return (int) number;
}

/* Read an ordinal: an integer other than 0, counted from the end if negative. */
static int
read_ordinal(const JsonbValue *value, const char *at, int most)
{
	int			number = read_number(value, at, -most, most);

	if (number == 0)
		invalid(at, psprintf("It takes 1 to %d, or -1 to -%d counted from the end.", most, most));
	return number;
}

/* Read a string. */
static char *
read_string(const JsonbValue *value, const char *at, const char *wanted)
{
	if (value->type != jbvString)
		invalid(at, wanted);
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/* --- lists and objects --- */

/* Have each element of a list read. */
static void
read_list(const JsonbValue *value, const char *at, int most, FieldReader reader, void *out)
{
	JsonbIterator *it = sf_json_elements(value);
	JsonbValue	element;
	int			n = 0;

	if (!sf_json_is_array(value))
		invalid(at, "It takes a list.");
	if (sf_json_count(value) > most)
		invalid(at, psprintf("The list has more than %d elements.", most));
	while (sf_json_next(&it, &element))
	{
		char	   *path = psprintf("%s/%d", at, n++);

		reader(&element, path, out);
		pfree(path);
	}
}

/* Find the field with a name; raise if there is none. */
static const Field *
find_field(const JsonbValue *key, const char *at, const Field *fields, int nfields)
{
	StringInfoData names;

	for (int i = 0; i < nfields; i++)
		if ((int) strlen(fields[i].name) == key->val.string.len &&
			strncmp(fields[i].name, key->val.string.val, key->val.string.len) == 0)
			return &fields[i];
	initStringInfo(&names);
	for (int i = 0; i < nfields; i++)
		appendStringInfo(&names, "%s%s", i == 0 ? "" : ", ", fields[i].name);
	invalid(path_of(at, key), psprintf("The fields here are %s.", names.data));
}

/* Have each member of an object read by its field. */
static void
read_object(const JsonbValue *v, const char *at, const Field *fields, int nfields, void *out)
{
	JsonbIterator *it;
	JsonbValue	key;
	JsonbValue	value;

	if (!sf_json_is_object(v))
		invalid(at, "It takes an object.");
	it = JsonbIteratorInit(v->val.binary.data);
	(void) JsonbIteratorNext(&it, &key, true);
	while (JsonbIteratorNext(&it, &key, true) == WJB_KEY)
	{
		char	   *path;

		CHECK_FOR_INTERRUPTS();
		(void) JsonbIteratorNext(&it, &value, true);
		path = path_of(at, &key);
		find_field(&key, at, fields, nfields)->read(&value, path, out);
		pfree(path);
	}
}

/* --- dates --- */

/* Dates while their list is read */
typedef struct DateList
{
	SfDateSet	set;
	int			size;
} DateList;

/* Read digits of a number of a fixed width; false: there are others. */
static bool
digits(const char *p, int width, int *value)
{
	*value = 0;
	for (int i = 0; i < width; i++)
	{
		if (!isdigit((unsigned char) p[i]))
			return false;
		*value = *value * 10 + (p[i] - '0');
	}
	return true;
}

/* Read "MM-DD" of a year. */
static void
read_month_and_day(const char *text, int year, const char *at, int *month, int *day)
{
	if (!digits(text, 2, month) || text[2] != '-' || !digits(text + 3, 2, day) || *day < 1 || *month < 1 || *month > 12 || text[5] != '\0' ||
		*day > day_tab[isleap(year)][*month - 1])
		invalid(at, A_DATE);
}

/* Read "YYYY-MM-DD". */
static int
read_full_date(const char *text, const char *at)
{
	int			year;
	int			month;
	int			day;

	if (!digits(text, 4, &year) || year < 1 || text[4] != '-')
		invalid(at, A_DATE);
	read_month_and_day(text + 5, year, at, &month, &day);
	return date2j(year, month, day);
}

/* Read a date of one year or, in a list, of every year. */
static void
read_date(const JsonbValue *value, const char *at, void *out)
{
	DateList   *list = out;
	char	   *text = read_string(value, at, A_DATE);
	int			month;
	int			day;

	if (strlen(text) != 5)
	{
		list->set.dates[list->set.ndates++] = read_full_date(text, at);
		return;
	}
	/* 29 February is a day of some years */
	read_month_and_day(text, 2000, at, &month, &day);
	list->set.yearly[month] |= 1U << day;
}

/* Order days. */
static int
compare_days(const void *a, const void *b)
{
	return *(const int *) a - *(const int *) b;
}

/* Read a list of dates. */
static void
read_dates(const JsonbValue *value, const char *at, void *out)
{
	DateList	list = {0};

	list.set.dates = palloc(sizeof(int) * Max(sf_json_count(value), 1));
	read_list(value, at, MAX_DATES, read_date, &list);
	qsort(list.set.dates, list.set.ndates, sizeof(int), compare_days);
	*(SfDateSet *) out = list.set;
}

/* Tell whether a day is among dates. */
bool
sf_date_set_has(const SfDateSet *set, int day)
{
	int			year;
	int			month;
	int			mday;

	j2date(day, &year, &month, &mday);
	return ((set->yearly[month] >> mday) & 1) != 0 ||
		(set->ndates > 0 &&
		 bsearch(&day, set->dates, set->ndates, sizeof(int), compare_days) != NULL);
}

/* Read a date of one year. */
static int
read_one_date(const JsonbValue *value, const char *at)
{
	return read_full_date(read_string(value, at, "It takes a date, as in \"2025-12-31\"."), at);
}

/* --- weekdays and months --- */

/* Add a weekday to a bit set. */
static void
read_weekday(const JsonbValue *value, const char *at, void *out)
{
	static const char *const names[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
	const char *wanted = "A weekday is one of MON, TUE, WED, THU, FRI, SAT, SUN.";
	char	   *name = read_string(value, at, wanted);

	for (size_t i = 0; i < lengthof(names); i++)
		if (pg_strcasecmp(name, names[i]) == 0)
		{
			*(uint32 *) out |= 1U << i;
			return;
		}
	invalid(at, wanted);
}

/* Read a list of weekdays. */
static uint32
read_weekdays(const JsonbValue *value, const char *at)
{
	uint32		weekdays = 0;

	read_list(value, at, 7, read_weekday, &weekdays);
	return weekdays;
}

/* Add a month to a bit set. */
static void
read_month(const JsonbValue *value, const char *at, void *out)
{
	*(uint32 *) out |= 1U << read_number(value, at, 1, 12);
}

/* --- the rule --- */

/* Read the first day of an exception. */
static void
read_exception_from(const JsonbValue *value, const char *at, void *out)
{
	((SfCalendarException *) out)->from = read_one_date(value, at);
}

/* Read the last day of an exception. */
static void
read_exception_to(const JsonbValue *value, const char *at, void *out)
{
	((SfCalendarException *) out)->to = read_one_date(value, at);
}

/* Read on which days of an exception something holds: true, or weekdays. */
static void
read_exception_days(const JsonbValue *value, const char *at, void *out)
{
	SfCalendarException *exception = out;

	if (exception->weekdays != 0)
		invalid(at, "An exception has either Open or Closed.");
	if (value->type == jbvBool && value->val.boolean)
		exception->weekdays = SF_EVERY_WEEKDAY;
	else if (sf_json_is_array(value))
		exception->weekdays = read_weekdays(value, at);
	if (exception->weekdays == 0)
		invalid(at, "It takes true, or a list of weekdays.");
}

/* Read on which days of an exception it is open. */
static void
read_exception_open(const JsonbValue *value, const char *at, void *out)
{
	read_exception_days(value, at, out);
	((SfCalendarException *) out)->open = true;
}

/* Read an exception. */
static void
read_exception(const JsonbValue *value, const char *at, void *out)
{
	static const Field fields[] = {
		{"From", read_exception_from},
		{"To", read_exception_to},
		{"Closed", read_exception_days},
		{"Open", read_exception_open},
	};
	SfCalendarException *exception = palloc0(sizeof(SfCalendarException));
	List	  **list = out;

	read_object(value, at, fields, lengthof(fields), exception);
	if (exception->from == 0 || exception->to == 0 || exception->weekdays == 0)
		invalid(at, "An exception has From, To, and Closed or Open.");
	if (exception->to < exception->from)
		invalid(at, "To is before From.");
	*list = lappend(*list, exception);
}

/* Read the name of the calendar that is extended. */
static void
read_extends(const JsonbValue *value, const char *at, void *out)
{
	((SfCalendarRule *) out)->extends = read_string(value, at, "It takes the name of a calendar.");
}

/* Read the weekdays that are open. */
static void
read_open_weekdays(const JsonbValue *value, const char *at, void *out)
{
	((SfCalendarRule *) out)->has_weekdays = true;
	((SfCalendarRule *) out)->weekdays = read_weekdays(value, at);
}

/* Read the dates that are closed. */
static void
read_closed(const JsonbValue *value, const char *at, void *out)
{
	read_dates(value, at, &((SfCalendarRule *) out)->closed);
}

/* Read the dates that are open. */
static void
read_open(const JsonbValue *value, const char *at, void *out)
{
	read_dates(value, at, &((SfCalendarRule *) out)->open);
}

/* Read the day on which months begin. */
static void
read_month_start(const JsonbValue *value, const char *at, void *out)
{
	((SfCalendarRule *) out)->month_start = read_number(value, at, 1, 28);
}

/* Read the list of exceptions. */
static void
read_exceptions(const JsonbValue *value, const char *at, void *out)
{
	read_list(value, at, MAX_ELEMENTS, read_exception, &((SfCalendarRule *) out)->exceptions);
}

/* Read the rule of a calendar, or raise SF051. */
SfCalendarRule *
sf_calendar_rule_parse(const Jsonb *rule)
{
	static const Field fields[] = {
		{"Extends", read_extends},
		{"Weekdays", read_open_weekdays},
		{"Closed", read_closed},
		{"Open", read_open},
		{"MonthStart", read_month_start},
		{"Exceptions", read_exceptions},
	};
	SfCalendarRule *result = palloc0(sizeof(SfCalendarRule));
	JsonbValue	root;

	sf_json_root(rule, &root);
	read_object(&root, "rule", fields, lengthof(fields), result);
	return result;
}

/* --- the days --- */

/* Note how an object picks its days; it says so once. */
static SfPick *
set_kind(void *out, SfPickKind kind, const char *at)
{
	static const char *const names[] = {
#define PICK_NAME(sym, name) name,
		SF_PICK_LIST(PICK_NAME)
	};
	SfPick	   *pick = out;

	if (pick->kind != SF_PICK_NONE)
		invalid(at, psprintf("This object has %s already. Several ways to pick days are a list of objects.",
							 names[pick->kind]));
	pick->kind = kind;
	return pick;
}

/* Read an interval in days. */
static void
read_every(const JsonbValue *value, const char *at, void *out)
{
	set_kind(out, SF_PICK_EVERY, at)->every = read_number(value, at, 1, 3660);
}

/* Read the first day of an interval. */
static void
read_from(const JsonbValue *value, const char *at, void *out)
{
	((SfPick *) out)->from = read_one_date(value, at);
}

/* Read the weekdays that are picked. */
static void
read_picked_weekdays(const JsonbValue *value, const char *at, void *out)
{
	set_kind(out, SF_PICK_WEEKDAYS, at)->weekdays = read_weekdays(value, at);
}

/* Add an ordinal to a bit set, or, counted from the end, to another. */
static void
add_ordinal(int number, uint32 *ordinals, uint32 *ordinals_back)
{
	if (number > 0)
		*ordinals |= 1U << number;
	else
		*ordinals_back |= 1U << -number;
}

/* Read which one of a weekday in a month is picked. */
static void
read_nth(const JsonbValue *value, const char *at, void *out)
{
	SfPick	   *pick = out;

	add_ordinal(read_ordinal(value, at, 5), &pick->nth, &pick->nth_back);
}

/* Add an ordinal to the bit sets of a pick. */
static void
read_day_ordinal(const JsonbValue *value, const char *at, void *out)
{
	SfPick	   *pick = out;

	add_ordinal(read_ordinal(value, at, 31), &pick->ordinals, &pick->ordinals_back);
}

/* Read days of the month. */
static void
read_month_days(const JsonbValue *value, const char *at, void *out)
{
	read_list(value, at, 62, read_day_ordinal, set_kind(out, SF_PICK_MONTH_DAYS, at));
}

/* Read open days of the month, by their ordinals. */
static void
read_open_days(const JsonbValue *value, const char *at, void *out)
{
	read_list(value, at, 62, read_day_ordinal, set_kind(out, SF_PICK_OPEN_DAYS, at));
}

/* Read closed days of the month, by their ordinals. */
static void
read_closed_days(const JsonbValue *value, const char *at, void *out)
{
	read_list(value, at, 62, read_day_ordinal, set_kind(out, SF_PICK_CLOSED_DAYS, at));
}

/* Read dates that are picked. */
static void
read_picked_dates(const JsonbValue *value, const char *at, void *out)
{
	read_dates(value, at, &set_kind(out, SF_PICK_DATES, at)->dates);
}

/* Read the months in which something is picked. */
static void
read_months(const JsonbValue *value, const char *at, void *out)
{
	uint32		months = 0;

	read_list(value, at, 12, read_month, &months);
	((SfPick *) out)->months = months;
}

/* Read by how many open days a pick is moved. */
static void
read_plus(const JsonbValue *value, const char *at, void *out)
{
	((SfPick *) out)->plus = read_number(value, at, -MAX_DAYS, MAX_DAYS);
}

static void read_simple_pick(const JsonbValue *value, const char *at, void *out);

/* Read the days that are taken away. */
static void
read_except(const JsonbValue *value, const char *at, void *out)
{
	SfPick	   *pick = out;

	if (sf_json_is_object(value))
		read_simple_pick(value, at, &pick->except);
	else
		read_list(value, at, MAX_ELEMENTS, read_simple_pick, &pick->except);
}

/* Fields of an object that picks days; the last two are not for days that are taken away. */
static const Field pick_fields[] = {
	{"Every", read_every},
	{"From", read_from},
	{"Weekdays", read_picked_weekdays},
	{"Nth", read_nth},
	{"MonthDays", read_month_days},
	{"OpenDays", read_open_days},
	{"ClosedDays", read_closed_days},
	{"Dates", read_picked_dates},
	{"Months", read_months},
	{"Plus", read_plus},
	{"Except", read_except},
};

#define OUTER_FIELDS	2

/* Raise unless the fields of an object go together. */
static void
check_pick(const SfPick *pick, const char *at)
{
	if (pick->kind == SF_PICK_NONE &&
		(pick->except == NIL || pick->from != SF_NO_FIRST_DAY || sf_pick_has_nth(pick) || pick->plus != 0 ||
		 pick->months != SF_EVERY_MONTH))
		invalid(at, "It takes one of Every, Weekdays, MonthDays, OpenDays, ClosedDays, Dates; or Except alone.");
	if (pick->kind == SF_PICK_EVERY && pick->every > 1 && pick->from == SF_NO_FIRST_DAY)
		invalid(at, "Every takes From, the first of the days.");
	if (pick->kind != SF_PICK_EVERY && pick->from != SF_NO_FIRST_DAY)
		invalid(at, "From goes with Every.");
	if (pick->kind != SF_PICK_WEEKDAYS && sf_pick_has_nth(pick))
		invalid(at, "Nth goes with Weekdays.");
}

/* Read an object that picks days, with some of the fields. */
static void
append_pick(const JsonbValue *value, const char *at, int nfields, List **list)
{
	SfPick	   *pick = palloc0(sizeof(SfPick));

	pick->kind = SF_PICK_NONE;
	pick->from = SF_NO_FIRST_DAY;
	pick->months = SF_EVERY_MONTH;
	read_object(value, at, pick_fields, nfields, pick);
	check_pick(pick, at);
	*list = lappend(*list, pick);
}

/* Read an object that picks days to be taken away. */
static void
read_simple_pick(const JsonbValue *value, const char *at, void *out)
{
	append_pick(value, at, lengthof(pick_fields) - OUTER_FIELDS, out);
}

/* Read an object that picks days. */
static void
read_pick(const JsonbValue *value, const char *at, void *out)
{
	append_pick(value, at, lengthof(pick_fields), out);
}

/* Read the days of a calendar, a list of SfPick, or raise SF051. */
List *
sf_calendar_days_parse(const Jsonb *days)
{
	List	   *picks = NIL;
	JsonbValue	root;

	sf_json_root(days, &root);
	if (sf_json_is_object(&root))
		read_pick(&root, "days", &picks);
	else
		read_list(&root, "days", MAX_ELEMENTS, read_pick, &picks);
	return picks;
}
