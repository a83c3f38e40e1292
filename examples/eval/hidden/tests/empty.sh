# A test that the agent does not see.
: > empty.tmp
got=$(sh count.sh empty.tmp)
rm empty.tmp
if [ "$got" != 0 ]; then
	echo "got $got lines of an empty file, want 0"
	exit 1
fi
