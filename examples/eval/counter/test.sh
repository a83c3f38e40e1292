# The test of count.sh.
printf 'a\nb\nc\n' > lines.tmp
got=$(sh count.sh lines.tmp)
rm lines.tmp
if [ "$got" != 3 ]; then
	echo "got $got lines, want 3"
	exit 1
fi
