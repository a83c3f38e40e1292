package jsonrepair

import "fmt"

// text reads a string in the given quotes and writes it in double ones. It ends at the
// first quote that is not escaped: where that was a quote meant as text, what follows
// makes no sense and the whole is refused.
func (p *parser) text(quote byte) error {
	p.out = append(p.out, '"')
	i := p.pos + 1
	from := i // start of the text not yet copied
	for ; i < len(p.src); i++ {
		c := p.src[i]
		if c >= ' ' && c != '"' && c != '\'' && c != '\\' {
			continue
		}
		if c == quote {
			p.out = append(append(p.out, p.src[from:i]...), '"')
			p.pos = i + 1
			return nil
		}
		if c == '\'' {
			continue
		}
		p.out = append(p.out, p.src[from:i]...)
		n := 1
		switch {
		case c == '"':
			p.out = append(p.out, '\\', '"')
		case c == '\\':
			var err error
			if n, err = p.escape(i); err != nil {
				return err
			}
		default:
			p.out = appendControl(p.out, c)
		}
		i += n - 1
		from = i + 1
	}
	return p.cut("the last string is not closed")
}

// escape copies the escape at i and returns its length.
func (p *parser) escape(i int) (int, error) {
	rest := p.src[i:]
	if len(rest) < 2 {
		return 0, p.cut("the last string is not closed")
	}
	n := 2
	switch rest[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
	case '\'': // no escape in JSON, and nothing else can be meant
		p.out = append(p.out, '\'')
		return n, nil
	case 'u':
		if n = 6; len(rest) < n {
			return 0, p.cut("the last string is not closed")
		}
		for _, c := range rest[2:n] {
			if !isHex(c) {
				p.pos = i
				return 0, p.fail(`\u needs four hexadecimal digits`)
			}
		}
	default:
		p.pos = i
		return 0, p.fail(fmt.Sprintf(`no such escape; a back-slash is written \\%s`, printable(rest[1])))
	}
	p.out = append(p.out, rest[:n]...)
	return n, nil
}

func printable(c byte) string {
	if c > ' ' && c < 0x7f {
		return string(rune(c))
	}
	return ""
}

// appendControl writes a control character, which JSON wants escaped.
func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return fmt.Appendf(dst, `\u%04x`, c)
	}
}

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
