# Print the install script from its parts: awk -v features="hold …" -f assemble.awk HEADER… PART…
#
# @PHASE_RUN@, @STATUS_RUNNING@, @TASK_STATUS_QUEUED@ and the like stand for numbers of C's enums, which the lists in
# the headers say, @OBJECT_RULE@ and @PRIVILEGE_READ@ for letters, @OVERLAP_SKIP@ for the word of a list that has words
# in place of numbers, @OBJECT_RULE_WORD@ for the word beside a letter. What follows is to be written between
# parentheses. @LINE_PLACE_NUMBERS@, @OBJECT_LETTERS@ and
# @OVERLAP_WORDS@ stand for all of a list, @STATUS_NAMES@ for its symbols in the same order. @PHASES_ENDED@ stands for
# those that a header lists as SF_PHASES_ENDED, @OBJECTS_LIMITED_WORDS@ for their words. @PHASE_LAST@ is the greatest
# number of a list, @STATUS_ROWS@ rows of number and name, (0::smallint, 'RUNNING'::text). @BRANCH_ROOT@ and the like
# are those of base/name/work_key.h, @SCHEMA_NUMBER@ that of base/version/schema.h.
#
# The parts of features come first. They consist of sections, each below a line "--@into SLOT"; another part has the
# sections of all features where it says "--@slot SLOT". A section may have slots for other features, which are called
# FEATURE.SLOT: what is for a slot of a feature that is left out is left out, too. A section for such a slot may itself
# have one, FEATURE.FEATURE.SLOT. What an update, which is written by hand, has between "--@with FEATURE…" and "--@end" is left
# out if the library is built without the feature. The parts have no such lines: what is of a feature stands in its own.

BEGIN {
	n = split(features, names, " ")
	for (i = 1; i <= n; i++)
		built[names[i]] = 1
}

# A list: #define SF_PHASE_LIST(X), then lines with X(RUN, 1), with X(RULE, 'r', "rule"), or with X(SKIP, "skip").
/^#define SF_[A-Z_]+_LIST\(X\)/ {
	list = $2
	sub(/^SF_/, "", list)
	sub(/_LIST\(X\)$/, "", list)
	next
}
# Some of a list, on one line: #define SF_PHASES_ENDED SF_PHASE_DONE, SF_PHASE_FAILED.
/^#define SF_(PHASES|STATUSES|LINE_PLACES|DELIVERIES|EMISSIONS|OBJECTS)_[A-Z_]+[ \t]+SF_/ {
	some = substr($2, 4)
	for (i = 3; i <= NF; i++) {
		number[some] = number[some] (i == 3 ? "" : ", ") number_of(substr($i, 4))
		if (some ~ /^OBJECTS_/)
			number[some "_WORDS"] = number[some "_WORDS"] (i == 3 ? "" : ", ") word_of(substr($i, 4))
	}
}
/^#define SF_(SCHEMA_NUMBER|BRANCH_(ROOT|TIMEOUT|STOP))[ \t]+(\(-)?[0-9]+\)?$/ {
	gsub(/[()]/, "", $3)
	number[substr($2, 4)] = $3
}
FILENAME ~ /\.h$/ {
	if (list != "" && match($0, /X\([A-Z_]+, /))
		append(list "_NAMES", "'" substr($0, RSTART + 2, RLENGTH - 4) "'")
	if (list != "" && match($0, /X\([A-Z_]+, [0-9]+\)/)) {
		split(substr($0, RSTART + 2, RLENGTH - 3), item, ", ")
		number[list "_" item[1]] = item[2]
		append(list "_NUMBERS", item[2])
		append(list "_ROWS", "(" item[2] "::smallint, '" item[1] "'::text)")
		if (!(list "_LAST" in number) || item[2] + 0 > number[list "_LAST"])
			number[list "_LAST"] = item[2] + 0
	}
	if (list != "" && match($0, /X\([A-Z_]+, '.'/)) {
		split(substr($0, RSTART + 2, RLENGTH - 2), item, ", ")
		number[list "_" item[1]] = item[2]
		append(list "_LETTERS", item[2])
	}
	if (list != "" && match($0, /X\([A-Z_]+, ('.', )?"[^"]+"/)) {
		n = split(substr($0, RSTART + 2, RLENGTH - 3), item, /, "?/)
		word[list "_" item[1]] = "'" item[n] "'"
		number[list "_" item[1] (n == 2 ? "" : "_WORD")] = word[list "_" item[1]]
		append(list "_WORDS", word[list "_" item[1]])
	}
	if ($0 !~ /\\$/)
		list = ""
	next
}
FNR == 1 {
	withs = 0
	of_feature = FILENAME ~ /^sql\/parts\/feature\//
	slot = ""
	out = 0
	if (!of_feature)
		print ""
}
/^--@slot / && !of_feature { put($2); next }
/^--@into / {
	slot = $2
	first[slot] = FILENAME ":" FNR
	for (i = split(slot, of, ".") - 1; i > 0; i--)
		if (slot != "" && !(of[i] in built)) {
			delete first[slot]
			slot = ""
		}
	next
}
/^--@with / && FILENAME ~ /^sql\/parts\// {
	print FILENAME ":" FNR ": what is of a feature stands in its own part, --@into a slot" >"/dev/stderr"
	exit failed = 1
}
/^--@with / { around[++withs] = out; for (i = 2; i <= NF; i++) if (!($i in built)) out = 1; next }
/^--@end/ { out = around[withs--]; next }
out || of_feature && slot == "" { next }
{
	line = ""
	while (match($0, /@[A-Z_]+@/)) {
		line = line substr($0, 1, RSTART - 1) number_of(substr($0, RSTART + 1, RLENGTH - 2))
		$0 = substr($0, RSTART + RLENGTH)
	}
	if (of_feature)
		section[slot] = section[slot] line $0 "\n"
	else
		print line $0
}

# Print the sections of a slot.
function put(name,    lines, n, i)
{
	slots[name] = 1
	n = split(section[name], lines, "\n")
	for (i = 1; i < n; i++)
		if (lines[i] ~ /^--@slot /)
			put(substr(lines[i], 9))
		else
			print lines[i]
}

# Append to what a name stands for.
function append(name, text)
{
	number[name] = number[name] (number[name] == "" ? "" : ", ") text
}

# What a name stands for.
function number_of(name)
{
	sub(/,$/, "", name)
	if (!(name in number)) {
		print FILENAME ":" FNR ": @" name "@ is in no list" >"/dev/stderr"
		exit failed = 1
	}
	return number[name]
}

# The word of a member of a list.
function word_of(name)
{
	sub(/,$/, "", name)
	return word[name]
}

END {
	if (failed)
		exit 1
	for (slot in section)
		if (!(slot in slots)) {
			print first[slot] ": no part in sql/parts/order has a slot " slot >"/dev/stderr"
			exit 1
		}
}
