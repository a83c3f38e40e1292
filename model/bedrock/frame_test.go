package bedrock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/lathe-agent/lathe"
)

// message is a frame as Amazon's own code writes it.
func message(t testing.TB, payload string, headers ...eventstream.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, eventstream.Message{Headers: headers, Payload: []byte(payload)}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func named(name, value string) eventstream.Header {
	return eventstream.Header{Name: name, Value: eventstream.StringValue(value)}
}

func event(t testing.TB, kind, payload string) []byte {
	t.Helper()
	return message(t, payload, named(":event-type", kind), named(":content-type", "application/json"), named(":message-type", "event"))
}

// Headers of every type are stepped over, and those that count are found among them.
func TestFrame_Headers(t *testing.T) {
	all := message(t, "payload",
		eventstream.Header{Name: "a", Value: eventstream.BoolValue(true)}, eventstream.Header{Name: "b", Value: eventstream.BoolValue(false)},
		eventstream.Header{Name: "c", Value: eventstream.Int8Value(1)}, eventstream.Header{Name: "d", Value: eventstream.Int16Value(1)},
		eventstream.Header{Name: "e", Value: eventstream.Int32Value(1)}, eventstream.Header{Name: "f", Value: eventstream.Int64Value(1)},
		eventstream.Header{Name: "g", Value: eventstream.BytesValue("bytes")}, eventstream.Header{Name: "h", Value: eventstream.TimestampValue(time.Unix(1, 0))},
		eventstream.Header{Name: "i", Value: eventstream.UUIDValue{1}}, named(":event-type", "kind"), named(":message-type", "event"),
		named(":exception-type", "x"), named(":error-code", "c"), named(":error-message", "m"), eventstream.Header{Name: ":event-type", Value: eventstream.Int8Value(7)},
	)
	f, err := newFrames(bytes.NewReader(all)).next()
	if err != nil || string(f.event) != "kind" || string(f.message) != "event" || string(f.exception) != "x" || string(f.code) != "c" || string(f.text) != "m" || string(f.payload) != "payload" {
		t.Errorf("%q %v", f, err)
	}
}

func TestFrame_Large(t *testing.T) {
	words := strings.Repeat("x", 20<<20)
	body := message(t, "small", named(":event-type", "a"))
	// Amazon's own code writes no payload of more than 16 MB; the frame is the same.
	big := binary.BigEndian.AppendUint32(nil, uint32(preludeSize+len(words)+sumSize))
	big = binary.BigEndian.AppendUint32(big, 0)
	big = binary.BigEndian.AppendUint32(big, crc32.ChecksumIEEE(big))
	big = append(big, words...)
	big = binary.BigEndian.AppendUint32(big, crc32.ChecksumIEEE(big))
	frames := newFrames(iotest.DataErrReader(io.MultiReader(bytes.NewReader(big), bytes.NewReader(body))))
	if f, err := frames.next(); err != nil || string(f.payload) != words {
		t.Fatal(len(f.payload), err)
	}
	if f, err := frames.next(); err != nil || string(f.payload) != "small" {
		t.Fatalf("%q %v", f.payload, err)
	}
	if _, err := frames.next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// prelude makes the head of a frame, with the right checksum.
func prelude(total, headers uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, total)
	b = binary.BigEndian.AppendUint32(b, headers)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// headed makes a frame of nothing but headers, right or wrong, with the right checksums.
func headed(headers []byte) []byte {
	b := append(prelude(uint32(preludeSize+len(headers)+sumSize), uint32(len(headers))), headers...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func TestFrame_Damaged(t *testing.T) {
	good := event(t, "metadata", `{"usage":{}}`)
	change := func(at int) []byte {
		b := bytes.Clone(good)
		b[at] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"a bit of the length":            {change(3), "wrong checksum of a frame header"},
		"a bit of the head's checksum":   {change(9), "wrong checksum of a frame header"},
		"a bit of a header":              {change(14), "wrong checksum of a frame"},
		"a bit of the payload":           {change(len(good) - 8), "wrong checksum of a frame"},
		"a bit of the checksum":          {change(len(good) - 1), "wrong checksum of a frame"},
		"larger than anything":           {prelude(64<<20+1, 0), "a frame is larger than 67108864 bytes"},
		"shorter than its own parts":     {prelude(15, 0), "invalid frame lengths"},
		"headers longer than the frame":  {prelude(20, 5), "invalid frame lengths"},
		"headers longer than they may":   {prelude(1<<20, 200<<10), "invalid frame lengths"},
		"a header without a type":        {headed([]byte{1, 'a'}), "invalid header"},
		"a name longer than the headers": {headed([]byte{9, 'a', 0}), "invalid header"},
		"a type that is none":            {headed([]byte{1, 'a', 10}), "invalid header"},
		"a text without its length":      {headed([]byte{1, 'a', 7, 0}), "truncated header"},
		"a text that is cut":             {headed([]byte{1, 'a', 7, 0, 5, 'b'}), "truncated header"},
		"a number that is cut":           {headed([]byte{1, 'a', 4, 0, 0}), "truncated header"},
	} {
		_, err := newFrames(bytes.NewReader(c.body)).next()
		if err == nil || err.Error() != "the provider's stream is damaged: "+c.want {
			t.Errorf("%s: %v", name, err)
		}
		_, err = drain(bytes.NewReader(c.body))
		var known *lathe.Error
		if !errors.As(err, &known) || known.Code != lathe.Unavailable || !known.Fault.(*lathe.APIFault).Retryable || !strings.Contains(known.Message, "damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A frame that is cut is no end of the stream.
func TestFrame_Cut(t *testing.T) {
	good := event(t, "metadata", `{"usage":{}}`)
	for i := 1; i < len(good); i++ {
		if _, err := newFrames(bytes.NewReader(good[:i])).next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}
