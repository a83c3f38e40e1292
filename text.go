package lathe

// UnquoteJSON reads a JSON string with its quotes. Broken UTF-8 and lone surrogates become
// U+FFFD. It is what the streams of models are read with, many times a second.
func UnquoteJSON(b []byte) (string, bool) { return unquote(b) }

// AppendJSONString writes a JSON string; broken UTF-8 becomes U+FFFD.
func AppendJSONString(dst []byte, s string) []byte { return appendString(dst, s) }
