# Print the install script from its parts: awk -v features="hold …" -f assemble.awk HEADER… PART…
#
# @PHASE_RUN@, @STATUS_RUNNING@ and @TASK_QUEUED@ stand for numbers of C's enums, which the lists in the headers say, and
# @STATUS_NAMES@ for the names of all statuses in the order of their numbers. @SCHEMA_NUMBER@ is that of base/schema.h.
#
# The parts of features come first. They consist of sections, each below a line "--@into SLOT"; a numbered part has the
# sections of all features where it says "--@slot SLOT". What a numbered part has between "--@with FEATURE…" and "--@end" is
# left out if the library is built without the feature; what is below an "--@else" between them is there only then. So it
# is with what is written by hand of an update.

BEGIN {
	n = split(features, names, " ")
	for (i = 1; i <= n; i++)
		built[names[i]] = 1
}

# A list: #define SF_PHASE_LIST(X), then lines with X(RUN, 1).
/^#define SF_(PHASE|STATUS|TASK_STATUS)_LIST\(X\)/ {
	list = $2
	sub(/^SF_/, "", list)
	sub(/(_STATUS)?_LIST\(X\)$/, "", list)
	if ($2 ~ /^SF_STATUS_LIST/)
		list = "STATUS"
	next
}
/^#define SF_SCHEMA_NUMBER [0-9]+$/ {
	number["SCHEMA_NUMBER"] = $3
}
FILENAME ~ /\.h$/ {
	if (list != "" && match($0, /X\([A-Z_]+, [0-9]+\)/)) {
		split(substr($0, RSTART + 2, RLENGTH - 3), item, ", ")
		number[list "_" item[1]] = item[2]
		if (list == "STATUS")
			number["STATUS_NAMES"] = number["STATUS_NAMES"] (item[2] == 0 ? "" : ", ") "'" item[1] "'"
	}
	if ($0 !~ /\\$/)
		list = ""
	next
}
FNR == 1 {
	of_feature = FILENAME !~ /\/[0-9][^\/]*$/
	slot = ""
	out = 0
	if (!of_feature)
		print ""
}
/^--@slot / { slots[$2] = 1; printf "%s", section[$2]; next }
/^--@into / { slot = $2; first[slot] = FILENAME ":" FNR; next }
/^--@with / { out = 0; for (i = 2; i <= NF; i++) if (!($i in built)) out = 1; next }
/^--@else/ { out = !out; next }
/^--@end/ { out = 0; next }
out || of_feature && slot == "" { next }
{
	line = ""
	while (match($0, /@(PHASE|STATUS|TASK|SCHEMA)_[A-Z_]+@/)) {
		name = substr($0, RSTART + 1, RLENGTH - 2)
		if (!(name in number)) {
			print FILENAME ":" FNR ": @" name "@ is in no list" >"/dev/stderr"
			exit failed = 1
		}
		line = line substr($0, 1, RSTART - 1) number[name]
		$0 = substr($0, RSTART + RLENGTH)
	}
	if (of_feature)
		section[slot] = section[slot] line $0 "\n"
	else
		print line $0
}
END {
	if (failed)
		exit 1
	for (slot in section)
		if (!(slot in slots)) {
			print first[slot] ": no numbered part has a slot " slot >"/dev/stderr"
			exit 1
		}
}
