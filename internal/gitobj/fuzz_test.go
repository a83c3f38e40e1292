package gitobj

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"testing"
)

// memory is a pack that is not in a file.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func inMemory(data []byte) memory { return memory{bytes.NewReader(data)} }

// packed makes a pack of raw entries, each a head and compressed data, and its index. The
// ids are 20 times the number of the entry, from 1.
func packed(t testing.TB, entries ...[]byte) *pack {
	t.Helper()
	data := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(entries)))
	var offsets []uint32
	for _, e := range entries {
		offsets = append(offsets, uint32(len(data)))
		data = append(data, e...)
	}
	return packAt(t, data, offsets)
}

func packAt(t testing.TB, data []byte, offsets []uint32) *pack {
	t.Helper()
	idx := indexOf(offsets)
	x, err := newIndex(bytes.NewReader(idx), int64(len(idx)), sha1Size)
	if err != nil {
		t.Fatal(err)
	}
	p := &pack{index: x, file: inMemory(data), size: int64(len(data))}
	p.once.Do(func() {})
	return p
}

func numbered(n int) ID { return rawID(bytes.Repeat([]byte{byte(n)}, sha1Size)) }

func indexOf(offsets []uint32) []byte {
	idx := []byte("\xfftOc\x00\x00\x00\x02")
	for i := range 256 {
		idx = binary.BigEndian.AppendUint32(idx, uint32(min(i, len(offsets))))
	}
	for i := range offsets {
		idx = append(idx, numbered(i+1).bytes()...)
	}
	idx = append(idx, make([]byte, 4*len(offsets))...)
	for _, o := range offsets {
		idx = binary.BigEndian.AppendUint32(idx, o)
	}
	return append(idx, make([]byte, 2*sha1Size)...)
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

// object is an entry of a pack with the size it claims.
func object(kind byte, claim int, middle, content []byte) []byte {
	head := []byte{kind<<4 | byte(claim&15)}
	for claim >>= 4; claim > 0; claim >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(claim&0x7f))
	}
	return append(append(head, middle...), deflate(content)...)
}

// delta writes a delta of raw instructions.
func delta(base, result int, ops ...byte) []byte {
	var out []byte
	for _, n := range []int{base, result} {
		for ; n > 0x7f; n >>= 7 {
			out = append(out, byte(n)|0x80)
		}
		out = append(out, byte(n))
	}
	return append(out, ops...)
}

func readPacked(p *pack, n int) (Kind, []byte, error) {
	r := &Repo{hash: sha1Size, packs: []*pack{p}, cache: newBaseCache()}
	r.pool.New = func() any { return &inflater{} }
	return r.Object(numbered(n))
}

func TestPack_Hostile(t *testing.T) {
	blob := object(3, 5, nil, []byte("hello"))
	whole := delta(5, 5, 0x90, 5)
	for _, c := range []struct {
		name    string
		entries [][]byte
		want    error
	}{
		{"sound", [][]byte{object(7, len(whole), numbered(2).bytes(), whole), blob}, nil},
		{"its own base", [][]byte{object(7, len(whole), numbered(1).bytes(), whole)}, ErrLimit},
		{"a circle", [][]byte{object(7, len(whole), numbered(2).bytes(), whole), object(7, len(whole), numbered(1).bytes(), whole)}, ErrLimit},
		{"base that is not there", [][]byte{object(7, len(whole), numbered(9).bytes(), whole)}, ErrCorrupt},
		{"base before the pack", [][]byte{object(6, len(whole), []byte{0x7f}, whole)}, ErrCorrupt},
		{"base at no distance", [][]byte{object(6, len(whole), []byte{0}, whole)}, ErrCorrupt},
		{"endless distance", [][]byte{object(6, 1, bytes.Repeat([]byte{0xff}, 30), nil)}, ErrCorrupt},
		{"longer than it says", [][]byte{object(3, 4, nil, []byte("hello"))}, ErrCorrupt},
		{"shorter than it says", [][]byte{object(3, 6, nil, []byte("hello"))}, ErrCorrupt},
		{"a terabyte", [][]byte{object(3, 1<<40, nil, []byte("hello"))}, ErrLimit},
		{"endless size", [][]byte{bytes.Repeat([]byte{0xff}, 40)}, ErrLimit},
		{"kind 0", [][]byte{object(0, 5, nil, []byte("hello"))}, ErrCorrupt},
		{"kind 5", [][]byte{object(5, 5, nil, []byte("hello"))}, ErrCorrupt},
		{"not compressed", [][]byte{append(object(3, 5, nil, nil)[:1], "hello, world"...)}, ErrCorrupt},
		{"breaks off", [][]byte{blob[:5]}, ErrCorrupt},
		{"wrong checksum", [][]byte{append(bytes.Clone(blob[:len(blob)-1]), blob[len(blob)-1]^1)}, ErrCorrupt},
		{"nothing", [][]byte{{}}, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind, data, err := readPacked(packed(t, c.entries...), 1)
			if !errors.Is(err, c.want) || c.want == nil && (kind != BlobKind || string(data) != "hello") {
				t.Errorf("got a %s %q, %v; want %v", kind, data, err, c.want)
			}
		})
	}
}

func TestPatch(t *testing.T) {
	base := []byte("hello")
	for _, c := range []struct {
		name  string
		delta []byte
		want  string
		err   error
	}{
		{"copy and add", delta(5, 7, 0x91, 1, 3, 4, 'a', 'b', 'c', 'd'), "ellabcd", nil},
		{"nothing", delta(5, 0), "", nil},
		{"another base", delta(4, 5, 0x90, 5), "", ErrCorrupt},
		{"behind the base", delta(5, 5, 0x91, 1, 5), "", ErrCorrupt},
		{"offset of four bytes", delta(5, 5, 0x9f, 255, 255, 255, 255, 5), "", ErrCorrupt},
		{"too much", delta(5, 4, 0x90, 5), "", ErrCorrupt},
		{"too little", delta(5, 6, 0x90, 5), "", ErrCorrupt},
		{"reserved", delta(5, 5, 0), "", ErrCorrupt},
		{"new bytes break off", delta(5, 5, 5, 'a'), "", ErrCorrupt},
		{"copy breaks off", delta(5, 5, 0xff, 1), "", ErrCorrupt},
		{"size without end", bytes.Repeat([]byte{0xff}, 20), "", ErrCorrupt},
		{"larger than the limit", delta(5, 1<<30, 0x90, 5), "", ErrLimit},
		{"empty", nil, "", ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := patch(base, c.delta, 1000)
			if !errors.Is(err, c.err) || string(got) != c.want {
				t.Errorf("got %q, %v; want %q, %v", got, err, c.want, c.err)
			}
		})
	}
}

func TestLoose_Hostile(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"sound", deflate([]byte("blob 5\x00hello")), nil},
		{"a gigabyte", deflate([]byte("blob 1073741824\x00hello")), ErrLimit},
		{"negative", deflate([]byte("blob -5\x00hello")), ErrCorrupt},
		{"many digits", deflate([]byte("blob 99999999999999999999999\x00")), ErrCorrupt},
		{"no size", deflate([]byte("blob\x00hello")), ErrCorrupt},
		{"no zero", deflate([]byte(strings.Repeat("blob 5", 100))), ErrCorrupt},
		{"unknown kind", deflate([]byte("blub 5\x00hello")), ErrCorrupt},
		{"longer", deflate([]byte("blob 4\x00hello")), ErrCorrupt},
		{"shorter", deflate([]byte("blob 6\x00hello")), ErrCorrupt},
		{"not compressed", []byte("blob 5\x00hello"), ErrCorrupt},
		{"empty", nil, ErrCorrupt},
		{"with a dictionary", []byte{0x78, 0xbb, 0, 0, 0, 0, 1, 2, 3}, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind, data, err := inflateLoose(&inflater{}, bytes.NewReader(c.file), maxObject)
			if !errors.Is(err, c.want) || c.want == nil && (kind != BlobKind || string(data) != "hello") {
				t.Errorf("got a %s %q, %v; want %v", kind, data, err, c.want)
			}
		})
	}
}

func TestIndex_Hostile(t *testing.T) {
	sound := indexOf([]uint32{12, 34})
	unsorted := bytes.Clone(sound)
	unsorted[8] = 1
	crowded := bytes.Clone(sound)
	for i := range 256 {
		binary.BigEndian.PutUint32(crowded[8+4*i:], 1<<31)
	}
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"sound", sound, nil},
		{"short", sound[:len(sound)-1], ErrCorrupt},
		{"long", append(bytes.Clone(sound), 0), ErrCorrupt},
		{"version 3", append([]byte("\xfftOc\x00\x00\x00\x03"), sound[8:]...), ErrCorrupt},
		{"out of order", unsorted, ErrCorrupt},
		{"two milliards", crowded, ErrLimit},
		{"empty", nil, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := newIndex(bytes.NewReader(c.file), int64(len(c.file)), sha1Size); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
	lost := indexOf([]uint32{0x80000007})
	x, err := newIndex(bytes.NewReader(lost), int64(len(lost)), sha1Size)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.offset(0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a long offset that is not there: %v", err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add(indexOf([]uint32{12, 34, 0x80000000}), []byte{1, 2, 3})
	f.Add(indexOf(nil)[8:], []byte{0})
	f.Fuzz(func(t *testing.T, file, ids []byte) {
		for _, hash := range []int{sha1Size, sha256Size} {
			x, err := newIndex(bytes.NewReader(file), int64(len(file)), hash)
			if err != nil {
				continue
			}
			for _, b := range ids {
				pos, ok, err := x.find(rawID(bytes.Repeat([]byte{b}, hash)))
				if err != nil {
					t.Fatal(err) // a sound frame has room for every id
				}
				if ok && pos >= x.count {
					t.Fatalf("position %d of %d", pos, x.count)
				}
			}
			for pos := range min(x.count, 50) {
				if off, err := x.offset(pos); err == nil && off < 0 {
					t.Fatalf("offset %d", off)
				}
			}
		}
	})
}

func FuzzPack(f *testing.F) {
	f.Add(object(3, 5, nil, []byte("hello")), object(7, 9, numbered(1).bytes(), delta(5, 5, 0x90, 5)))
	f.Add(object(1, 5, nil, []byte("hello")), object(6, 9, []byte{14}, delta(5, 5, 0x90, 5)))
	f.Add([]byte{0xff, 0xff}, []byte{0x70})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		p := packed(t, first, second)
		for n := 1; n <= 2; n++ {
			kind, data, err := readPacked(p, n)
			if err == nil && (kind < CommitKind || kind > TagKind || int64(len(data)) > maxObject) {
				t.Fatalf("got a %s of %d bytes", kind, len(data))
			}
		}
	})
}

func FuzzPatch(f *testing.F) {
	f.Add([]byte("hello"), delta(5, 7, 0x91, 1, 3, 4, 'a', 'b', 'c', 'd'))
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		out, err := patch(base, delta, 1<<16)
		if err == nil && len(out) > 1<<16 {
			t.Fatalf("%d bytes", len(out))
		}
	})
}

func FuzzLoose(f *testing.F) {
	f.Add([]byte("blob 5\x00hello"), true)
	f.Add([]byte("tree 0\x00"), true)
	f.Add([]byte{0x78, 0x9c}, false)
	f.Fuzz(func(t *testing.T, file []byte, compress bool) {
		if compress {
			file = deflate(file)
		}
		_, data, err := inflateLoose(&inflater{}, bytes.NewReader(file), 1<<16)
		if err == nil && len(data) > 1<<16 {
			t.Fatalf("%d bytes", len(data))
		}
	})
}

func FuzzRefs(f *testing.F) {
	id := strings.Repeat("ab", sha1Size)
	f.Add([]byte("# pack-refs with: peeled fully-peeled sorted \n" + id + " refs/heads/main\n^" + id + "\n"))
	f.Add([]byte(id + " refs/heads/../../x\n" + id + " HEAD\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		refs, err := parsePacked(text, sha1Size)
		if err != nil {
			t.Fatal(err)
		}
		for name, id := range refs {
			if id.IsZero() || !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") || strings.ContainsAny(name, "\x00\n\\") {
				t.Fatalf("%q %s", name, id)
			}
		}
	})
}

func FuzzCommit(f *testing.F) {
	id := strings.Repeat("ab", sha1Size)
	f.Add([]byte("tree " + id + "\nparent " + id + "\nparent " + id + "\nauthor A <a> 1 +0000\ncommitter A <a> 2 +0000\n\nx"))
	f.Add([]byte("object " + id + "\ntype commit\ntag x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if parents, err := parseCommit(data, sha1Size); err == nil && len(parents) > len(data)/sha1Size {
			t.Fatalf("%+v", parents)
		}
		if id, err := parseTag(data, sha1Size); err == nil && id.IsZero() {
			t.Fatal("a tag on nothing")
		}
	})
}

func TestParsePacked_Limit(t *testing.T) {
	var b bytes.Buffer
	for i := range maxRefs + 1 {
		b.WriteString("0123456789012345678901234567890123456789 refs/heads/b")
		b.WriteString(strconv.Itoa(i))
		b.WriteByte('\n')
	}
	if refs, err := parsePacked(b.Bytes(), sha1Size); !errors.Is(err, ErrLimit) {
		t.Errorf("%d refs, %v", len(refs), err)
	}
}

// Many deltas upon each other end at the limit, and before that when no caller waits.
func TestPack_LongChain(t *testing.T) {
	whole := delta(5, 5, 0x90, 5)
	base := object(3, 5, nil, []byte("hello"))
	first := object(6, len(whole), []byte{byte(len(base))}, whole)
	more := object(6, len(whole), []byte{byte(len(first))}, whole)
	data := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), 2)
	at := []uint32{uint32(len(data))} // of the object with so many deltas below it
	data = append(data, base...)
	for next := first; len(at) < maxChain+2; next = more {
		at = append(at, uint32(len(data)))
		data = append(data, next...)
	}
	if kind, got, err := readPacked(packAt(t, data, []uint32{at[maxChain]}), 1); err != nil || kind != BlobKind || string(got) != "hello" {
		t.Errorf("%d deltas: %s %q, %v", maxChain, kind, got, err)
	}
	p := packAt(t, data, []uint32{at[maxChain+1]})
	if _, _, err := readPacked(p, 1); !errors.Is(err, ErrLimit) {
		t.Errorf("%d deltas: %v", maxChain+1, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := p.read(ctx, &inflater{}, newBaseCache(), int64(at[3]), maxObject); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
