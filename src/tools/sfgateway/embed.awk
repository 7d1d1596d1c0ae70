# Write files as lists of bytes in C. The input is the name of each file, after the word "file", and what
# od prints of it.
/^file / {
	if (n++)
		print "};"
	printf "static const unsigned char asset_%d[] = {\n", n
	path[n] = $2
	sub(/^console/, "", path[n])
	next
}
{
	gsub(/ +/, ",")
	sub(/^,/, "")
	print $0 ","
}
END {
	print "};"
	print "static Asset assets[] = {"
	for (i = 1; i <= n; i++)
		printf "\t{\"%s\", asset_%d, sizeof(asset_%d), \"\"},\n", path[i], i, i
	print "};"
}
