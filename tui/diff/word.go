package diff

// stretch is a piece of a line in bytes, from (inclusive) to (exclusive).
type stretch struct{ from, to int }

const (
	maxWords = 2000 // bytes of a line that are compared
	maxTable = 120  // words on each side that are compared one by one
)

// diffWords compares two lines word by word and returns what differs on each side; nothing where they have so
// little in common that marking it would not help. What it costs is bounded: of very different lines only the
// common beginning and end are found.
func diffWords(old, now string) (gone, come []stretch) {
	a, b := tokens(old), tokens(now)
	head := 0
	for head < len(a) && head < len(b) && word(old, a[head]) == word(now, b[head]) {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && word(old, a[len(a)-1-tail]) == word(now, b[len(b)-1-tail]) {
		tail++
	}
	ma, mb := a[head:len(a)-tail], b[head:len(b)-tail]
	keepA, keepB := common(old, now, ma, mb)
	gone, come = missing(ma, keepA), missing(mb, keepB)
	if old == "" || now == "" || tooMuch(gone, len(old)) && tooMuch(come, len(now)) {
		return nil, nil
	}
	return gone, come
}

func word(s string, t stretch) string { return s[t.from:t.to] }

func tooMuch(spans []stretch, size int) bool {
	n := 0
	for _, s := range spans {
		n += s.to - s.from
	}
	return n*10 > size*7
}

// tokens divides a line into words, runs of spaces and single signs.
func tokens(s string) []stretch {
	var out []stretch
	for i := 0; i < len(s); {
		k := classOf(s[i])
		n := 1
		for k != sign && i+n < len(s) && classOf(s[i+n]) == k {
			n++
		}
		out = append(out, stretch{i, i + n})
		i += n
	}
	return out
}

type class uint8

const (
	sign class = iota
	letter
	space
)

func classOf(c byte) class {
	switch {
	case c == ' ':
		return space
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c >= 0x80:
		return letter
	default:
		return sign
	}
}

// common finds the longest row of words that both have, by the usual table.
func common(old, now string, a, b []stretch) (keepA, keepB []bool) {
	keepA, keepB = make([]bool, len(a)), make([]bool, len(b))
	if len(a) > maxTable || len(b) > maxTable || len(a) == 0 || len(b) == 0 {
		return keepA, keepB
	}
	w := len(b) + 1
	table := make([]uint8, (len(a)+1)*w)
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if word(old, a[i]) == word(now, b[k]) {
				table[i*w+k] = table[(i+1)*w+k+1] + 1
			} else {
				table[i*w+k] = max(table[(i+1)*w+k], table[i*w+k+1])
			}
		}
	}
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case word(old, a[i]) == word(now, b[k]):
			keepA[i], keepB[k] = true, true
			i, k = i+1, k+1
		case table[(i+1)*w+k] >= table[i*w+k+1]:
			i++
		default:
			k++
		}
	}
	return keepA, keepB
}

// missing joins the words that were not kept. A space between two of them belongs to them.
func missing(words []stretch, keep []bool) []stretch {
	var out []stretch
	for i, w := range words {
		if keep[i] && !(w.to-w.from == 1 && i > 0 && !keep[i-1] && i+1 < len(words) && !keep[i+1]) {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].to == w.from {
			out[k].to = w.to
			continue
		}
		out = append(out, w)
	}
	return out
}
