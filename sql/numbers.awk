# Put the numbers of C's enums into the install script. Reads headers of src/store, then parts of the
# script, in which @PHASE_RUN@, @STATUS_RUNNING@ and @TASK_QUEUED@ stand for what the lists of those headers
# say, and @STATUS_NAMES@ for the names of all statuses in the order of their numbers.

# A list: #define SF_PHASE_LIST(X), then lines with X(RUN, 1).
/^#define SF_(PHASE|STATUS|TASK_STATUS)_LIST\(X\)/ {
	list = $2
	sub(/^SF_/, "", list)
	sub(/(_STATUS)?_LIST\(X\)$/, "", list)
	if ($2 ~ /^SF_STATUS_LIST/)
		list = "STATUS"
	next
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
FNR == 1 { print "" }
{
	line = ""
	while (match($0, /@(PHASE|STATUS|TASK)_[A-Z_]+@/)) {
		name = substr($0, RSTART + 1, RLENGTH - 2)
		if (!(name in number)) {
			print FILENAME ":" FNR ": @" name "@ is in no list" >"/dev/stderr"
			exit 1
		}
		line = line substr($0, 1, RSTART - 1) number[name]
		$0 = substr($0, RSTART + RLENGTH)
	}
	print line $0
}
