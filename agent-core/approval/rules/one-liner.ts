/** Code on the command line: recognises harmless code, and scans other code for commands and paths. */
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
const PROJECT_FILE = /\brequire\((["'])\.{0,2}\/?[\w./-]+\.json\1\)/g;

/** `open` of one file for reading. */
const OPENED = /\bopen\((["'])([\w./-]+)\1(?:,\s*(["'])rb?\3)?(?:,\s*encoding=(["'])[\w-]+\4)?\)/g;
const READ_FILE =
  /\b(?:require\(["'](?:node:)?fs["']\)|fs)\.readFileSync\((["'])([\w./-]+)\1(?:,\s*(["'])[\w-]+\3)?\)/g;

/** Effects of code that only calculates, prints and reads files by name; undefined for any other code. */
export function harmlessOneLiner(code: string, language: Language): readonly CommandEffect[] | undefined {
  const files = [...code.matchAll(language === "python" ? OPENED : READ_FILE)].map((match) => match[2] ?? "");
  const rest = code.replace(language === "python" ? OPENED : READ_FILE, "0");
  return isHarmless(rest, language) ? reads(files.map(knownArg)) : undefined;
}

/** `s/a/b/g` of perl: a replacement that neither evaluates code nor reads another variable. */
const PERL_SUBSTITUTION =
  /^(?:\s*s([/|#,!])(?:(?!\1)[^\\$@{}()\n]|\\[\w./|#,!$@*+?()[\]{}^-]|\((?!\?)|\)|\$(?=[|)/])|\{\d+(?:,\d*)?\}|\$[1-9])*\1(?:(?!\1)[^\\$@{}\n]|\\[\w./|#,!$@]|\$[1-9&])*\1[gimsx]*\s*;?)+\s*$/;

/** True when every name in the code is on the list. */
function isHarmless(code: string, language: Language): boolean {
  if (language === "none") return false;
  if (language === "other") return code.length < 500 && PERL_SUBSTITUTION.test(code);
  if (code.length > 2000) return false;
  const names = language === "python" ? PYTHON_NAMES : JAVASCRIPT_NAMES;
  if (language === "python" && versionOf(code)) return true;
  const plain = code.replace(PROJECT_FILE, "0");
  // Templates and formatted strings hold code, so their text is read, too.
  const bare = plain.replace(/(?<![fF\w])(["'])(?:(?!\1)[^\\\n]|\\.)*\1/g, "0").replace(/["'`]/g, " ");
  if (/\brequire\b|\bimport\s*\(|\[[^\]]*["'][^\]]*\]\s*\(|\\/.test(bare) || hasMembersByText(plain)) return false;
  const own = new Set(
    [...bare.matchAll(/\b(?:for|const|let|var|as)\s+(\w+)|\b(\w+)\s*=(?!=)|\b(\w+)\s*=>/g)].flatMap((match) =>
      match.slice(1),
    ),
  );
  return [...bare.matchAll(/[A-Za-z_$][\w$]*/g)].every(
    ([name]) => names.has(name) || (own.has(name) && name.length < 12),
  );
}

/** `obj["constructor"]`: a member that is named by a text. */
function hasMembersByText(code: string): boolean {
  return (
    /[\w)\]]\s*\[\s*["'`]/.test(code) &&
    /["'`](?:constructor|__\w+|prototype|\w*exec\w*|\w*spawn\w*|mainModule|binding)["'`]/.test(code)
  );
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
