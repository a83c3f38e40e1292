package patch

import "strings"

// The thresholds of similarity, as in OpenCode.
const (
	leastSimilar = 0.65
	leastEqual   = 0.5
)

// block is a run of lines between two anchors.
type block struct{ first, n int }

// blocks returns, for each line that equals the first one quoted, the run up to the next line
// that equals the last one.
func (s *search) blocks() []block {
	n := len(s.want)
	if n < 2 {
		return nil
	}
	open, end := strings.TrimSpace(s.want[0]), strings.TrimSpace(s.want[n-1])
	if open == "" || end == "" {
		return nil
	}
	if !s.work.spend(8 * len(s.trimmed)) {
		return nil
	}
	var out []block
	next := -1 // the line that ends a block which starts two lines above
	for i := len(s.trimmed) - 1; i >= 0; i-- {
		if i+2 < len(s.trimmed) && s.trimmed[i+2] == end {
			next = i + 2
		}
		if next >= 0 && s.trimmed[i] == open {
			out = append(out, block{i, next - i + 1})
		}
	}
	return out
}

// blockAnchors finds blocks of about the right size whose middle is similar. Of several that are,
// one wins only if it alone has all the same words: the best of a few guesses is still a guess.
func (s *search) blockAnchors() []hit {
	if strings.Count(s.old, "\n") < 2 {
		return nil
	}
	tolerance := max(1, len(s.want)/4)
	normal := collapse(s.old)
	var alike, same []hit
	for _, b := range s.blocks() {
		if d := b.n - len(s.want); d > tolerance || -d > tolerance {
			continue
		}
		if s.work.spent() || len(alike) > maxHits {
			return nil
		}
		if s.middle(b) < leastSimilar {
			continue
		}
		h := s.window(b.first, b.n)
		alike = append(alike, h)
		if s.work.spend(8*(h.end-h.start)) && collapse(s.src.slice(h.whole)) == normal {
			same = append(same, h)
		}
	}
	if len(same) == 1 {
		return same
	}
	return alike
}

// middle is how similar the lines between the anchors are, as a mean.
func (s *search) middle(b block) float64 {
	count := min(b.n, len(s.want)) - 2
	if count <= 0 {
		return 1
	}
	sum := 0.0
	for i := 1; i <= count; i++ {
		have, want := s.trimmed[b.first+i], strings.TrimSpace(s.want[i])
		if have == "" && want == "" {
			continue
		}
		sum += similarity(have, want, s.work)
		if s.work.spent() {
			return 0
		}
	}
	return sum / float64(count)
}

// context finds blocks of the same number of lines, half of them equal.
func (s *search) context() []hit {
	if len(s.want) < 3 {
		return nil
	}
	var out []hit
	for _, b := range s.blocks() {
		if b.n != len(s.want) || !s.work.spend(4*b.n) {
			continue
		}
		filled, equal := 0, 0
		for i := 1; i < b.n-1; i++ {
			have, want := s.trimmed[b.first+i], strings.TrimSpace(s.want[i])
			if have == "" && want == "" {
				continue
			}
			filled++
			if have == want {
				equal++
			}
		}
		if filled == 0 || float64(equal) >= leastEqual*float64(filled) {
			out = append(out, s.window(b.first, b.n))
		}
	}
	return out
}
