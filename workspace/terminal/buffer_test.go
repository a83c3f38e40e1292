package terminal

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// However the output is cut, read from wherever in pieces of whatever size, the text is the same
// and positions count as the strings of clients do.
func TestBuffer_ReadsWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé€😀\n")), 0, 200, -1).Draw(t, "text")
		var b buffer
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			b.add(rest[:n])
			rest = rest[n:]
		}
		all := utf16.Encode([]rune(text))
		if start, end := b.bounds(); start != 0 || end != int64(len(all)) {
			t.Fatalf("%d to %d, not %d", start, end, len(all))
		}
		from := rapid.IntRange(0, len(all)).Draw(t, "from")
		want := all[from:]
		if len(want) > 0 && want[0] >= 0xdc00 && want[0] < 0xe000 { // the second of a pair
			want = want[1:]
		}
		var got strings.Builder
		limit := rapid.IntRange(2, 50).Draw(t, "limit")
		for at := int64(from); ; {
			p := b.read(at, limit)
			if p.Text == "" && p.Next >= int64(len(all)) {
				break
			}
			if n := len(utf16.Encode([]rune(p.Text))); n > limit || p.Next <= at {
				t.Fatalf("%d units of %d, %d after %d", n, limit, p.Next, at)
			}
			got.WriteString(p.Text)
			at = p.Next
		}
		if got.String() != string(utf16.Decode(want)) {
			t.Fatalf("%q, not %q", got.String(), string(utf16.Decode(want)))
		}
	})
}

// Only the end of a long output is kept, and positions stay those from the beginning.
func TestBuffer_ForgetsTheOldest(t *testing.T) {
	var b buffer
	line := []byte(strings.Repeat("x", 999) + "\n")
	const lines = 3 * BufferLimit / 1000
	for range lines {
		b.add(line)
	}
	start, end := b.bounds()
	if end != lines*1000 || end-start < BufferLimit || end-start > BufferLimit+2*chunkSize {
		t.Errorf("%d to %d", start, end)
	}
	if p := b.read(0, 10); p.Text != strings.Repeat("x", 10) && !strings.Contains(p.Text, "\n") || p.Next != start+10 {
		t.Errorf("%+v, start %d", p, start)
	}
}

func TestBuffer_BadBytesAndTheEnd(t *testing.T) {
	var b buffer
	b.add([]byte("a\xffb\xe2\x82"))
	if p := b.read(0, 100); p.Text != "a\ufffdb" || p.Next != 3 {
		t.Errorf("%+v", p)
	}
	p := b.read(3, 100)
	if p.Text != "" || p.More == nil || p.Ended {
		t.Errorf("%+v", p)
	}
	b.finish()
	<-p.More
	if p := b.read(3, 100); p.Text != "\ufffd" || p.Ended {
		t.Errorf("%+v", p)
	}
	if p := b.read(4, 100); !p.Ended {
		t.Errorf("%+v", p)
	}
}
