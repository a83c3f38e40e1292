// Colors for code: comments, strings, numbers, keywords and names of calls. It is a scanner for families of languages, not a
// parser for each; what it does not know stays plain.

export interface Token { kind: string; text: string }

interface Family { line?: string[]; block?: [string, string]; quotes: string; raw?: string[]; words: Set<string>; caseless?: boolean }

const words = (s: string): Set<string> => new Set(s.split(" "))
const c = "auto break case catch char class const constexpr continue default delete do double else enum explicit export extern false final float for friend goto if inline int long namespace new noexcept nullptr operator override private protected public register return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while bool NULL include define ifdef ifndef endif"
const js = "abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new null number of package private protected public readonly return satisfies set static string super switch symbol this throw true try type typeof undefined unknown var void while with yield"
const families: Record<string, Family> = {
  go: { line: ["//"], block: ["/*", "*/"], quotes: "\"'`", raw: ["`"], words: words("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota string int int64 int32 uint8 byte rune bool error any float64 uint64 make new append len cap panic recover") },
  js: { line: ["//"], block: ["/*", "*/"], quotes: "\"'`", raw: ["`"], words: words(js) },
  c: { line: ["//"], block: ["/*", "*/"], quotes: "\"'", words: words(c) },
  java: { line: ["//"], block: ["/*", "*/"], quotes: "\"'", words: words(c + " abstract assert boolean byte extends finally implements import instanceof interface native null package strictfp super synchronized throws transient var val fun when object data sealed override suspend internal companion lateinit string foreach in is out ref async await namespace record get set func let guard protocol extension nil self init deinit") },
  rust: { line: ["//"], block: ["/*", "*/"], quotes: "\"", words: words("as async await box break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type union unsafe use where while i32 i64 u8 u32 u64 usize isize bool str String Vec Option Some None Ok Err Result f64 f32 char") },
  py: { line: ["#"], quotes: "\"'", raw: ["\"\"\"", "'''"], words: words("and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case self print") },
  rb: { line: ["#"], quotes: "\"'", words: words("alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require attr_accessor puts") },
  sh: { line: ["#"], quotes: "\"'", words: words("if then else elif fi for while until do done case esac in function return break continue exit export local readonly set unset shift source alias cd echo printf test true false sudo") },
  sql: { line: ["--"], block: ["/*", "*/"], quotes: "'\"", caseless: true, words: words("select from where insert into values update set delete create table index view drop alter add column primary key foreign references not null unique default and or in is like between exists join left right inner outer full on group by order having limit offset union all distinct as case when then else end begin commit rollback with recursive returning conflict do nothing pragma explain integer text real blob") },
  conf: { line: ["#", "//", ";"], quotes: "\"'", words: words("true false null yes no on off") },
  css: { block: ["/*", "*/"], quotes: "\"'", words: words("important media supports import keyframes root hover focus active before after") },
}
const names: Record<string, string> = {
  golang: "go", javascript: "js", jsx: "js", ts: "js", tsx: "js", typescript: "js", mjs: "js", cjs: "js", cpp: "c", "c++": "c", h: "c", hpp: "c", cc: "c", objc: "c",
  kotlin: "java", kt: "java", swift: "java", cs: "java", csharp: "java", scala: "java", dart: "java", php: "js", zig: "rust", rs: "rust", python: "py", ruby: "rb", lua: "sql",
  bash: "sh", shell: "sh", zsh: "sh", console: "sh", fish: "sh", dockerfile: "sh", makefile: "sh", make: "sh", json: "conf", jsonc: "conf", yaml: "conf", yml: "conf",
  toml: "conf", ini: "conf", scss: "css", less: "css", sqlite: "sql", postgres: "sql",
}

// languageOf is the language of a file by its name.
export const languageOf = (path: string): string => (/\.([a-z0-9+]+)$/i.exec(path)?.[1] ?? path.replace(/^.*\//, "")).toLowerCase()

const most = 60_000 // characters that get colors; longer texts stay plain

// highlight returns the tokens of a code; joined, they are the code.
export function highlight(code: string, language: string): Token[] {
  const name = language.toLowerCase()
  const f = families[names[name] ?? name]
  if (!f || code.length > most) return [{ kind: "", text: code }]
  const out: Token[] = []
  const add = (kind: string, text: string): void => {
    const top = out[out.length - 1]
    if (top && top.kind === kind) top.text += text
    else out.push({ kind, text })
  }
  const word = /[A-Za-z_$][\w$]*/y, number = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\w*/y
  for (let i = 0; i < code.length;) {
    const n = comment(code, i, f) || quoted(code, i, f)
    if (n) {
      add(code[i] === "/" || code[i] === "#" || code[i] === "-" || code[i] === ";" ? "c" : "s", code.slice(i, i + n))
      i += n
      continue
    }
    word.lastIndex = number.lastIndex = i
    const w = word.exec(code)
    if (w) {
      const t = w[0]
      add(f.words.has(f.caseless ? t.toLowerCase() : t) ? "k" : code[i + t.length] === "(" ? "f" : "", t)
      i += t.length
      continue
    }
    const d = number.exec(code)
    if (d) { add("n", d[0]); i += d[0].length; continue }
    add("", code[i]!)
    i++
  }
  return out
}

function comment(code: string, i: number, f: Family): number {
  if (f.block && code.startsWith(f.block[0], i)) {
    const end = code.indexOf(f.block[1], i + 2)
    return (end < 0 ? code.length : end + f.block[1].length) - i
  }
  for (const mark of f.line ?? []) {
    if (!code.startsWith(mark, i) || mark === "#" && i > 0 && /[\w$]/.test(code[i - 1]!) || mark === ";" && i > 0 && code[i - 1] !== "\n") continue
    const end = code.indexOf("\n", i)
    return (end < 0 ? code.length : end) - i
  }
  return 0
}

function quoted(code: string, i: number, f: Family): number {
  for (const mark of f.raw ?? []) {
    if (code.startsWith(mark, i)) {
      const end = code.indexOf(mark, i + mark.length)
      return (end < 0 ? code.length : end + mark.length) - i
    }
  }
  const q = code[i]!
  if (!f.quotes.includes(q)) return 0
  for (let j = i + 1; j < code.length && code[j] !== "\n"; j++) {
    if (code[j] === "\\") j++
    else if (code[j] === q) return j + 1 - i
  }
  return 0
}
