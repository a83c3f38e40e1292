package markdown

func langGo() *language {
	return &language{
		words: words("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
			"any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
			"true false nil iota"),
		lines: slashes, blocks: starred, caps: true,
		strings: []quote{doubled, single, {open: "`", close: "`", long: true}},
	}
}

func langJS() *language {
	return &language{
		words: words("abstract as asserts async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let module namespace new of override package private protected public readonly return satisfies set static super switch this throw try type typeof var void while with yield",
			"any bigint boolean never number object string symbol unknown",
			"true false null undefined NaN Infinity"),
		lines: slashes, blocks: starred, caps: true, extra: "$", strings: []quote{doubled, single, backtick},
	}
}

func langPython() *language {
	return &language{
		words: words("and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try type while with yield",
			"bool bytearray bytes complex dict float frozenset int list object set str tuple",
			"True False None self cls NotImplemented Ellipsis"),
		lines: hash, caps: true, prefixes: "r b f u rb br fr rf R B F U", strings: []quote{tripled, tripled1, doubled, single},
	}
}

func langRust() *language {
	return &language{
		words: words("as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type union unsafe use where while yield",
			"bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Self",
			"true false self None Some Ok Err"),
		lines: slashes, blocks: nested, caps: true, bang: true,
		strings: []quote{
			{open: `r##"`, close: `"##`, long: true},
			{open: `r#"`, close: `"#`, long: true},
			{open: `r"`, close: `"`, long: true},
			{open: `"`, close: `"`, escape: true, long: true},
			oneChar,
		},
	}
}

func langC() *language {
	return &language{
		words: words("alignas alignof asm auto break case catch class co_await co_return co_yield concept const consteval constexpr constinit continue decltype default delete do else enum explicit export extern final for friend goto if inline mutable namespace new noexcept operator override private protected public register requires restrict return sizeof static static_assert static_cast struct switch template this throw try typedef typename union using virtual volatile while define include ifdef ifndef endif pragma undef elif import",
			"bool char char8_t char16_t char32_t double float int int8_t int16_t int32_t int64_t long short signed size_t ssize_t string uint8_t uint16_t uint32_t uint64_t unsigned void wchar_t FILE",
			"true false nullptr NULL"),
		lines: slashes, blocks: starred, caps: true,
		strings: []quote{{open: `R"(`, close: `)"`, long: true}, doubled, single},
	}
}

func langJava() *language {
	return &language{
		words: words("abstract assert break case catch class const continue def default do else enum extends final finally for given goto if implements implicit import instanceof interface lazy match native new non-sealed object override package permits private protected public record return sealed static strictfp super switch synchronized this throw throws trait transient try type val var volatile while with yield",
			"boolean byte char double float int long short void Any Unit",
			"true false null"),
		lines: slashes, blocks: starred, caps: true, strings: []quote{tripled, doubled, single},
	}
}

func langKotlin() *language {
	return &language{
		words: words("abstract actual annotation as break by catch class companion const constructor continue crossinline data do else enum expect external final finally for fun get if import in infix init inline inner interface internal is lateinit noinline object open operator out override package private protected public reified return sealed set super suspend tailrec this throw try typealias typeof val value var vararg when where while",
			"Any Boolean Byte Char Double Float Int Long Nothing Short String Unit", "true false null"),
		lines: slashes, blocks: nested, caps: true, strings: []quote{tripled, doubled, single},
	}
}

func langCSharp() *language {
	return &language{
		words: words("abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach from get goto group if implicit in init interface internal into is join let lock namespace new not operator or orderby out override params partial private protected public readonly record ref required return sealed select set sizeof stackalloc static struct switch this throw try typeof unchecked unsafe using value var virtual when where while with yield",
			"bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong ushort void",
			"true false null"),
		lines: slashes, blocks: starred, caps: true,
		strings: []quote{{open: `@"`, close: `"`, long: true}, {open: `"""`, close: `"""`, long: true}, {open: `$"`, close: `"`, escape: true}, doubled, single},
	}
}

func langSwift() *language {
	return &language{
		words: words("actor as associatedtype async await break case catch class continue convenience default defer deinit didSet do dynamic else enum extension fallthrough fileprivate final for func get guard if import in indirect init inout internal is isolated lazy let mutating nonisolated open operator optional override private protocol public repeat required rethrows return set some static struct subscript super switch throw throws try typealias unowned var weak where while willSet",
			"Any Bool Character Double Float Int String UInt Void Self", "true false nil self"),
		lines: slashes, blocks: nested, caps: true, strings: []quote{tripled, doubled},
	}
}

func langRuby() *language {
	return &language{
		words: words("alias and begin BEGIN break case class def defined? do else elsif end END ensure for if in module next not or redo rescue retry return super then undef unless until when while yield require require_relative include extend attr_accessor attr_reader attr_writer private protected public raise",
			"", "true false nil self __FILE__ __LINE__"),
		lines: hash, blocks: []block{{open: "=begin", close: "=end", first: true}}, caps: true, dollar: true, spaced: true,
		extra: "?", strings: []quote{doubled, single, {open: "`", close: "`", escape: true}},
	}
}

func langPHP() *language {
	return &language{
		words: words("abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface isset list match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield php",
			"bool float int iterable mixed never object string void", "true false null TRUE FALSE NULL self parent"),
		lines: []string{"//", "#"}, blocks: starred, caps: true, dollar: true,
		strings: []quote{{open: `"`, close: `"`, escape: true, long: true}, {open: "'", close: "'", escape: true, long: true}},
	}
}

func langShell() *language {
	return &language{
		words: words("alias break case cd continue declare do done elif else esac eval exec exit export fi for function if in let local readonly return select set shift source test then trap unset until while begin end and or not",
			"awk cat chmod cp curl cut echo find git grep head kill ls make mkdir mv printf read rm sed sleep sort sudo tail tar tee touch tr wc xargs",
			"true false"),
		lines: hash, spaced: true, dollar: true, extra: "-",
		strings: []quote{{open: `"`, close: `"`, escape: true, long: true}, {open: "'", close: "'", long: true}, {open: "`", close: "`", escape: true}},
	}
}

func langSQL() *language {
	return &language{
		words: words("add all alter analyze and as asc attach begin between by cascade case check column commit conflict constraint create cross database default deferrable delete desc distinct do drop else end except exists explain foreign from full function grant group having if ignore in index inner insert intersect into is join key lateral left like limit materialized natural not nothing nulls of offset on or order outer over partition pragma primary procedure recursive references release rename replace returning revoke right rollback row rows savepoint select set table then to transaction trigger truncate union unique update using vacuum values view when where window with",
			"bigint blob boolean char date datetime decimal double float int integer interval json jsonb numeric real serial smallint text time timestamp timestamptz tinyint uuid varchar", "true false null current_timestamp"),
		lines: []string{"--"}, blocks: starred, folds: true,
		strings: []quote{{open: "'", close: "'", long: true}, {open: `"`, close: `"`}, {open: "`", close: "`"}},
	}
}

func langZig() *language {
	return &language{
		words: words("align allowzero and anyframe anytype asm async await break catch comptime const continue defer else enum errdefer error export extern fn for if inline noalias nosuspend opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while",
			"anyerror bool f16 f32 f64 i8 i16 i32 i64 isize type u8 u16 u32 u64 usize void noreturn", "true false null undefined"),
		lines: []string{"//", "\\\\"}, caps: true, strings: []quote{doubled, single},
	}
}

func langElixir() *language {
	return &language{
		words: words("after alias and case catch cond def defdelegate defexception defguard defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue super throw try unless unquote use when with",
			"", "true false nil"),
		lines: hash, caps: true, extra: "?", strings: []quote{tripled, doubled, single},
	}
}

func langLua() *language {
	return &language{
		words: words("and break continue do else elseif end export for function goto if in local not or repeat return then type until while", "", "true false nil self"),
		lines: []string{"--"}, blocks: []block{{open: "--[[", close: "]]"}, {open: "--[=[", close: "]=]"}},
		strings: []quote{{open: "[[", close: "]]", long: true}, doubled, single},
	}
}
