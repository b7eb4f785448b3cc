/** Code on the command line: recognises harmless code, and scans other code for commands and paths. */
import { builtinModules } from "node:module";
import { type CommandEffect, reads } from "../command-effect.ts";
import { knownArg, TOKEN, UNKNOWN } from "../shell/arg.ts";

/** `none`: no code of the language is recognised. */
export type Language = "python" | "javascript" | "other" | "none";

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Names that a harmless one-liner may use, keywords and members included. Any other name asks. */
const PYTHON_NAMES =
  words(`print len str int float bool list dict set tuple sorted sum min max abs round range enumerate zip map
 filter any all repr ord chr hex bin oct isinstance type reversed divmod pow format True False None and or not in is if else
 elif for while import from as lambda return def pass break continue try except finally with assert
 sys json math re platform datetime time random string itertools functools collections statistics decimal fractions
 textwrap version version_info argv stdin stdout read readline readlines splitlines split strip lstrip rstrip
 join replace lower upper title startswith endswith find index count encode decode items keys values get append
 dumps loads load indent sort_keys ensure_ascii now today isoformat strftime timedelta date year month day hour minute
 second pi e sqrt floor ceil log log2 log10 sin cos tan exp factorial gcd prod python_version system machine release
 node processor architecture maxsize byteorder path end sep key reverse default Counter defaultdict
 namedtuple deque most_common mean median stdev Decimal Fraction match search findall sub compile group groups finditer
 randint choice choices sample seed uniform digits ascii_letters ascii_lowercase ascii_uppercase punctuation
 __version__ __file__ __name__ major minor micro write flush Exception ValueError KeyError`);
const JAVASCRIPT_NAMES =
  words(`console log error table info JSON stringify parse Math PI max min round floor ceil abs random sqrt
 pow Object keys values entries Array from isArray map filter reduce forEach join split length slice sort reverse
 concat flat find some every includes indexOf Number String Boolean parseInt parseFloat toFixed toString toUpperCase
 toLowerCase trim padStart padEnd replace Date now toISOString process version versions platform arch argv memoryUsage uptime
 node v8 hrtime cwd pid const let var if else for of in return true false null undefined new typeof Set Map size has get
 require name scripts dependencies devDependencies main engines test build repeat charAt charCodeAt fromCharCode
 Buffer byteLength encodeURIComponent decodeURIComponent btoa atob Intl x y a b c i j k n s v e arr obj data pkg`);

/** `require` of a JSON file of the project. */
const PROJECT_FILE = /\brequire\((["'])(\.{0,2}\/?[\w./-]+\.json)\1\)/g;

/** `open` of one file for reading. */
const OPENED = /\bopen\((["'])([\w./-]+)\1(?:,\s*(["'])rb?\3)?(?:,\s*encoding=(["'])[\w-]+\4)?\)/g;
const READ_FILE =
  /\b(?:require\(["'](?:node:)?fs["']\)|fs)\.readFileSync\((["'])([\w./-]+)\1(?:,\s*(["'])[\w-]+\3)?\)/g;

/** Effects of code that only calculates, prints and reads files by name; undefined for any other code. */
export function harmlessOneLiner(code: string, language: Language): readonly CommandEffect[] | undefined {
  const patterns = language === "python" ? [OPENED] : [READ_FILE, PROJECT_FILE];
  const files = patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[2] ?? ""));
  const rest = patterns.reduce((left, pattern) => left.replace(pattern, "0"), code);
  if (!isHarmless(rest, language)) return undefined;
  const modules = language === "python" ? importedModules(rest) : [];
  return [...reads(files.map(knownArg)), ...(modules.length > 0 ? [{ kind: "imports", modules } as const] : [])];
}

/** `s/a/b/g` of perl: a replacement that neither evaluates code nor reads another variable. */
const PERL_SUBSTITUTION =
  /^(?:\s*s([/|#,!])(?:(?!\1)[^\\$@{}()\n]|\\[\w./|#,!$@*+?()[\]{}^-]|\((?!\?)|\)|\$(?=[|)/])|\{\d+(?:,\d*)?\}|\$[1-9])*\1(?:(?!\1)[^\\$@{}\n]|\\[\w./|#,!$@]|\$[1-9&])*\1[gimsx]*\s*;?)+\s*$/;

/** True when every name in the code is on the list, or a variable of its own that hides nothing. */
function isHarmless(code: string, language: Language): boolean {
  if (language === "none") return false;
  if (language === "other") return code.length < 500 && PERL_SUBSTITUTION.test(code);
  if (code.length > 2000) return false;
  if (language === "python" && versionOf(code)) return true;
  const bare = withoutStrings(language === "python" ? code.replace(SHOWN_PATH, "$1 0") : code, language);
  if (bare === undefined || bare.includes("\\")) return false;
  const isSound =
    language === "python" ? importsOnlyListed(bare) : !REACHES_MEMBERS.test(bare) && !NAMES_MEMBERS.test(code);
  const names = language === "python" ? PYTHON_NAMES : JAVASCRIPT_NAMES;
  const own = new Set(
    [...bare.matchAll(/\b(?:for|const|let|var|as)\s+(\w+)|\b(\w+)\s*=(?!=)|\b(\w+)\s*=>/g)].flatMap((match) =>
      match.slice(1),
    ),
  );
  const isOwn = (name: string): boolean =>
    own.has(name) && name.length < 12 && !RESERVED.has(name) && !name.startsWith("_");
  // A member is never a variable: `os = platform.os`.
  return (
    isSound &&
    [...bare.matchAll(/(\.\s*)?(?<![\w$])[A-Za-z_$][\w$]*/g)].every(([word, dot = ""]) => {
      const name = word.slice(dot.length);
      return names.has(name) || (dot === "" && isOwn(name));
    })
  );
}

/** Reads of `sys.path`, whose changes would change what an import loads. */
const SHOWN_PATH = /(\bprint\(|\bin|\bjoin\()\s*sys\.path\b(?!\s*[.[=+])/g;
const MODULES = words(
  "sys json math re platform datetime time random string itertools functools collections statistics decimal fractions textwrap",
);

/** Modules that Python code imports. */
function importedModules(code: string): readonly string[] {
  return [...code.matchAll(/\b(?:import|from)\s+([\w.]+(?:\s*(?:as\s+\w+)?\s*,\s*[\w.]+)*)/g)].flatMap(
    ([, list = ""]) => list.split(",").map((one) => one.trim().split(/\s+as\s+/)[0] ?? ""),
  );
}

function importsOnlyListed(bare: string): boolean {
  if (/\bpath\b/.test(bare)) return false;
  const lines = bare.split(/[\n;]/).filter((line) => /\b(?:import|from)\b/.test(line));
  return lines.every((line) => {
    const [, from] = /^\s*from\s+(\w+)\s+import\s+[\w, ]+$/.exec(line) ?? [];
    if (from !== undefined) return MODULES.has(from);
    const [, list] = /^\s*import\s+([\w, ]+)$/.exec(line) ?? [];
    return list !== undefined && importedModules(line).every((name) => MODULES.has(name));
  });
}

/**
 * Ways to members without their names: an index that is not a number, `process` as a value, the modules of Node. From any of
 * them code reaches the function constructor.
 */
const REACHES_MEMBERS =
  /(?:[)\]?.]|(?<!\b(?:of|in|return))(?<=\w))\s*\[(?!\s*\d*\s*\])|\bprocess\b(?!\s*\.)|\brequire\b|\bimport\b/;
const NAMES_MEMBERS = /["'`](?:constructor|__\w+|prototype|\w*exec\w*|\w*spawn\w*|mainModule|binding)["'`]|\\[ux0-7]/;

/** Names that a variable would hide only in a part of the code. */
const RESERVED: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...Object.getOwnPropertyNames(process),
  ...builtinModules,
  ..."constructor prototype caller callee arguments module exports eval exec open compile input breakpoint globals".split(
    " ",
  ),
  ..."locals vars getattr setattr delattr help exit quit dir object super memoryview copyright credits license".split(
    " ",
  ),
]);

/** Words before a slash that begins a regular expression. */
const BEFORE_PATTERN = /(?:^|[^\w\]\s]|\b(?:return|typeof|in|of|case|do|else|void))\s*$/;

type Syntax = "python" | "javascript";
/** Part of the code without texts: `text` follows, after the last `drops` characters are taken away. */
type Piece = { readonly text: string; readonly length: number; readonly drops: number };

/** The code with `0` in place of its texts. Code within a text stays. Undefined where the end of a text is not certain. */
function withoutStrings(code: string, syntax: Syntax): string | undefined {
  let out = "";
  for (let at = 0; at < code.length; ) {
    const piece = pieceAt(code, at, out, syntax);
    if (piece === undefined) return undefined;
    out = out.slice(0, out.length - piece.drops) + piece.text;
    at += piece.length;
  }
  return out;
}

function pieceAt(code: string, at: number, before: string, syntax: Syntax): Piece | undefined {
  const char = code[at] ?? "";
  if (/["'`]/.test(char)) return textPiece(code, at, before, syntax);
  if (syntax === "python" && char === "#") {
    const end = code.indexOf("\n", at);
    return { text: "", length: (end < 0 ? code.length : end) - at, drops: 0 };
  }
  if (syntax === "javascript" && char === "/" && BEFORE_PATTERN.test(before)) return undefined;
  return { text: char, length: 1, drops: 0 };
}

function textPiece(code: string, at: number, before: string, syntax: Syntax): Piece | undefined {
  const char = code[at] ?? "";
  const isPython = syntax === "python";
  const quote = isPython && code.startsWith(char.repeat(3), at) ? char.repeat(3) : char;
  let end = at + quote.length;
  while (end < code.length && !code.startsWith(quote, end)) end += code[end] === "\\" ? 2 : 1;
  if (end >= code.length || (isPython && char === "`")) return undefined;
  const prefix = isPython ? (/[A-Za-z]*$/.exec(before)?.[0] ?? "") : "";
  const content = code.slice(at + quote.length, end);
  const inner = char === "`" || /f/i.test(prefix) ? codeInText(content, syntax) : "0";
  return inner === undefined
    ? undefined
    : { text: ` ${inner} `, length: end + quote.length - at, drops: prefix.length };
}

/** Expressions in a text: `{x:.2f}` in Python, `${x}` in JavaScript. */
function codeInText(content: string, syntax: Syntax): string | undefined {
  const isPython = syntax === "python";
  const pattern = isPython ? /\{([^{}]*)\}/g : /\$\{([^{}]*)\}/g;
  const text = isPython ? content.replace(/\{\{|\}\}/g, "") : content;
  // A brace that is left belongs to an expression with braces of its own.
  if (isPython ? /[{}]/.test(text.replace(pattern, "")) : text.replace(pattern, "").includes("${")) return undefined;
  const codes = [...text.matchAll(pattern)].map(([, part = ""]) =>
    withoutStrings(withoutFormat(part, isPython), syntax),
  );
  return codes.every((each) => each !== undefined) ? `(${codes.join(", ")})` : undefined;
}

/** `{x!r:>10.2f}` */
function withoutFormat(part: string, isPython: boolean): string {
  return isPython ? part.replace(/(?:![rsa])?(?::[<>=^+\- #0-9.,_]*[bcdeEfFgGnosxX%]?)?$/, "") : part;
}

/** `import x; print(x.__version__)`. */
function versionOf(code: string): boolean {
  return /^\s*import (\w+)(?:\.\w+)*\s*[;\n]\s*print\(\1(?:\.\w+)*\.__(?:version|file)__\)\s*;?\s*$/.test(code);
}

const DELETES =
  /rmtree|rmSync|rmdirSync|unlink|rm_rf?|remove_(?:tree|entry)|FileUtils|deltree|\bremove\(|File\.delete|Deno\.remove|RemoveAll|\brimraf\b|rmdir/;
const BOMBS =
  /\bfork\b[\s(){};&|:]*(?:while|until|for|\|\||&&|if)?[\s\S]{0,20}\b(?:fork|1|true|while)\b|(?:while|for|until|loop)[\s\S]{0,40}\bfork\b/i;
/** Texts at which a command in several pieces may start. */
const MAX_STARTS = 8;
const NEAR_HOME = /expanduser|homedir\(|Path\.home|\$HOME|ENV\[.HOME|os\.environ|process\.env\.HOME/;

/**
 * Effects that may hide in code that asks anyway: its strings are judged as shell commands and as paths. They only
 * escalate a verdict.
 */
export function scanCode(code: string): readonly CommandEffect[] {
  const effects: CommandEffect[] = [];
  if (BOMBS.test(code))
    effects.push({ kind: "block", reason: "Starts copies of itself without end, which halts the machine" });
  // An editor's way out to a shell: `:!rm x`.
  const wayOut = /^[\s:]*(?:silent!?\s+)?!(.*)/.exec(code)?.[1];
  if (wayOut !== undefined) effects.push(raised(wayOut));
  const texts = textsOf(code);
  const recursive = DELETES.test(code);
  for (const text of texts) {
    effects.push(raised(text));
    if (/^(?=.*[/.~])\S{1,200}$/.test(text)) effects.push(...pathEffects(text, recursive));
  }
  // Lists of words (`["rm", "-rf", "/"]`) and joined pieces, from each possible start.
  for (const at of texts.slice(0, MAX_STARTS).keys()) {
    const rest = texts.slice(at);
    if (rest.length > 1) effects.push(raised(rest.join(" ")), raised(rest.join("")));
  }
  const homeless = NEAR_HOME.test(code);
  if (homeless && recursive) effects.push({ kind: "opaque", reason: "Deletes files below your home folder from code" });
  return effects;
}

function raised(code: string): CommandEffect {
  return { kind: "shell", code, escalateOnly: true };
}

/** A path in code is judged as if the code wrote or deleted it. */
function pathEffects(text: string, deletes: boolean): readonly CommandEffect[] {
  const path = text.startsWith("~") ? undefined : knownArg(text);
  if (!path) return [{ kind: "opaque", reason: `Names the file ${text} of your home folder` }];
  if (!deletes) return [{ kind: "write", path }];
  return [{ kind: "delete", path: { ...path, glob: /[*?[]/.test(text) }, recursive: true }];
}

function textsOf(code: string): readonly string[] {
  const texts: string[] = [];
  for (const match of code.matchAll(
    /"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'|`((?:[^`\\]|\\[\s\S])*)`|%x[({[]([^)}\]]*)/g,
  )) {
    const text = match.slice(1).find((group) => group !== undefined) ?? "";
    const plain = text
      .replace(/\\(["'`\\])/g, "$1")
      .replaceAll(UNKNOWN, " ")
      .replaceAll(TOKEN, "0");
    if (plain !== "" && texts.length < 40) texts.push(plain);
  }
  return texts;
}
