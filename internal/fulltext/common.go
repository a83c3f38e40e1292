package fulltext

// joint is between the words of a pair. No word has it.
const joint = "§"

// isCommon reports whether a word is in so many texts that the index must know its neighbors: without pairs, a phrase of such
// words has nearly all texts as candidates, and each must be read. The list is part of the index: a change of it needs a
// new one. Single characters count too.
func isCommon(word []byte) bool {
	if len(word) == 1 {
		return true
	}
	switch string(word) {
	case "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but", "by", "can",
		"could", "do", "does", "each", "first", "for", "from", "get", "had", "has", "have", "he", "here", "how", "if", "in", "into",
		"is", "it", "its", "last", "let", "like", "make", "may", "more", "must", "need", "new", "next", "no", "not", "now", "of",
		"on", "one", "only", "or", "other", "our", "out", "over", "see", "set", "should", "so", "some", "such", "than", "that",
		"the", "their", "them", "then", "there", "these", "they", "this", "to", "two", "up", "use", "used", "was", "way", "we",
		"were", "what", "when", "where", "which", "will", "with", "would", "you", "your":
		return true
	case "add", "bool", "break", "byte", "call", "case", "class", "code", "const", "continue", "data", "default", "def", "dir",
		"else", "end", "err", "error", "export", "false", "file", "func", "function", "go", "http", "id", "import", "int", "key",
		"len", "line", "list", "main", "name", "nil", "node", "none", "null", "number", "object", "ok", "package", "path", "print",
		"public", "range", "read", "result", "return", "returns", "run", "self", "size", "src", "start", "static", "string", "struct",
		"test", "text", "time", "true", "try", "type", "undefined", "user", "value", "var", "void", "write":
		return true
	default:
		return false
	}
}
