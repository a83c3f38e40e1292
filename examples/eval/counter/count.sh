# Prints the number of lines of a file.
n=$(wc -l < "$1")
echo $((n - 1))
