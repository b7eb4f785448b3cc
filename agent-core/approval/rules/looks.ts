/** Rules for programs that read files, text or the state of the system. A few of their options write or run. */
import { ask, askForCode, type Call, type CommandEffect, type Program, reads } from "../command-effect.ts";
import type { NameFilter } from "../reached-secrets.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN, UNKNOWN_ARG } from "../shell/arg.ts";
import { has, type Options } from "./options.ts";
import { byLine, type Rule, ruleTable } from "./rule.ts";

/**
 * Options of the programs that only read, whatever their options. One program a line, and its aliases: letters of its options,
 * then long names, in the notation of `Rule`. A program with another option belongs elsewhere.
 */
const FILE_READERS = `
cat | AbeEnstTuv | show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting
head | c:n:qvz0123456789 | bytes= lines= quiet silent verbose zero-terminated
tail | c:f::Fn:qs:vz0123456789rb: | bytes= follow=? lines= max-unchanged-stats= pid= quiet silent retry sleep-interval= verbose zero-terminated
wc | cmlLw | bytes chars lines files0-from= max-line-length words
ls | aAbBcCdDfF::gGhHiI:klLmnNop:qQrRsStT:uUvw:xXZ1@eOPW | all almost-all author escape block-size= ignore-backups color=? directory dired classify=? file-type format= full-time group-directories-first no-group human-readable si dereference-command-line dereference-command-line-symlink-to-dir hide= hyperlink=? indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize= width= context zero
stat | Lftc:xrsF | dereference file-system cached= printf= terse format=
du | 0aB:bcDd:HhkLlmPSst:X:xg | null all apparent-size block-size= bytes total dereference-args max-depth= files0-from= human-readable inodes dereference count-links no-dereference separate-dirs si summarize threshold= time=? time-style= exclude-from= exclude= one-file-system
df | aB:hHiklPt:Tx:vcmgY | all block-size= human-readable si inodes local no-sync output=? portability sync total type= print-type exclude-type=
cut | b:c:d:f:nszM | bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated
paste | d:sz | delimiters= serial zero-terminated
comm | 123zi | check-order nocheck-order output-delimiter= total zero-terminated
diff colordiff difft delta | qsc::C::u::U::enyW:pF:tTlNx:X:S:iEZbwBI:aD:dv0123456789 | normal brief report-identical-files context=? unified=? ed rcs side-by-side width= left-column suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize= suppress-blank-empty paginate no-dereference new-file unidirectional-new-file ignore-file-name-case no-ignore-file-name-case exclude= exclude-from= starting-file= from-file= to-file= ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= text strip-trailing-cr ifdef= GTYPE-group-format= line-format= LTYPE-line-format= minimal horizon-lines= speed-large-files color=? palette= no-color word-diff
od | A:j:N:S::t:vw::abcdfilosxh | address-radix= endian= skip-bytes= read-bytes= strings=? format= output-duplicates width=? traditional
hexdump | bcCdoxL::e:f:n:s:vhV | one-byte-octal one-byte-char canonical two-bytes-decimal two-bytes-octal two-bytes-hex color=? format= format-file= length= skip= no-squeezing
strings | adfn:t:w:oT:e:Us:hvV0123456789 | all data print-file-name bytes= radix= include-all-whitespace= target= encoding= unicode= output-separator=
md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum sum md5 | bctzwa:0UpqrsU | binary check tag text zero ignore-missing quiet status strict warn algorithm=
readlink | femnqsvz | canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero
realpath | emLPqsz | canonicalize-existing canonicalize-missing logical physical quiet relative-to= relative-base= strip no-symlinks zero
tac | brs: | before regex separator=
rev | hV
nl | b:d:f:h:i:l:n:ps:v:w:
fold | bsw: | bytes spaces width=
grep egrep fgrep zgrep zegrep zfgrep ack ag | EFGPe:f:iwxzsvVm:bnHhoqaId:D:rLlcTZB:A:C:N:U0123456789y | extended-regexp fixed-strings basic-regexp perl-regexp regexp= file= ignore-case no-ignore-case word-regexp line-regexp null-data no-messages invert-match max-count= byte-offset line-number line-buffered with-filename no-filename label= only-matching quiet silent binary-files= text directories= devices= recursive include= exclude= exclude-from= exclude-dir= files-without-match files-with-matches count initial-tab null before-context= after-context= context= group-separator= no-group-separator color=? colour=? binary include-dir=
jq | cnesrRCMSajf:L: | tab arg argjson slurpfile rawfile args jsonargs null-input raw-input slurp compact-output raw-output raw-output0 join-output ascii-output sort-keys color-output monochrome-output indent= unbuffered stream stream-errors seq exit-status from-file= library-path= slurpfile= rawfile=
rg | A:B:bsC:cE:e:f:lFg:hivnxM:m:UIN0oPpqr:Saj:t:T:uVHwd:. | after-context= before-context= binary case-sensitive color= colors= column context= context-separator= count count-matches encoding= engine= field-context-separator= field-match-separator= file= files files-with-matches files-without-match fixed-strings glob= heading hidden iglob= ignore-case ignore-file= invert-match json line-buffered line-number line-regexp max-columns= max-columns-preview max-count= max-depth= multiline multiline-dotall no-config no-filename no-heading no-ignore no-ignore-vcs no-line-number no-messages null only-matching passthru pcre2 quiet regexp= replace= smart-case sort= sortr= stats text threads= trace trim type= type-add= type-clear= type-list type-not= unrestricted vimgrep with-filename word-regexp version
file | bF:iklLhnN0prsv | brief separator= mime extension mime-type mime-encoding keep-going list dereference no-dereference print0 raw special-files
zcat bzcat xzcat | fqvkdcl | force quiet verbose
cmp | bi:ln:s | print-bytes ignore-initial= verbose bytes= quiet silent
column | tnexs:c:o:N:R:H:J | table separator= output-separator= table-columns= table-right= json
nm | aACDgnoprSuPlt:f: | debug-syms demangle=? dynamic extern-only defined-only line-numbers no-sort numeric-sort print-size undefined-only size-sort
objdump | dDsSxtTrRhpCfgj:M: | disassemble disassemble-all full-contents source all-headers syms reloc section= demangle=? no-show-raw-insn
readelf | haldrsSWeVnAIgtx:p: | all file-header segments sections symbols syms dyn-syms notes relocs dynamic wide version-info
size | Adoxt | format= totals common
javap | cplsv |
`;

/** The same for programs that print facts about the system; a few options of them open files or change something. */
const STATE_READERS = `
lsof | aAbcCdeEfFgi::KlLMnNoOpPqQrRs::tTuUvVwxXz: |
pgrep | d:lavwcfg:G:inoO:P:s:t:u:U:xF:Lr:AhV | delimiter= list-name list-full inverse lightweight count full pgroup= group= ignore-case newest oldest older= parent= session= terminal= euid= uid= exact pidfile= logpidfile runstates= ignore-ancestors cgroup= ns= nslist=
ss | nalremopiusbtxw460hHOMSEzZNKf:A: | numeric resolve all listening options extended memory processes info summary ipv4 ipv6 tcp udp unix family= query= no-header oneline
top | bn:d:u:p:cHio: |
journalctl | u:n:fbkp:S:U:eo:rxqg: | unit= lines= follow boot=? priority= since= until= no-pager output= reverse dmesg grep= user quiet
`;

/** Programs that print facts, whatever their options and operands: none opens a file, starts a program or changes something. */
const PRINTERS =
  "echo printf expr test [ seq basename dirname true false free uptime nproc uname id who w whoami logname hostid tty pwd yes sleep reset clear users groups ps which whereis type netstat printenv locale lscpu lsblk vmstat iostat";

/** Every word may be a path: operands, values behind `=`, and values attached to a letter (`-f/etc/shadow`). */
const readAll = ({ name, args }: Call, { operands }: Options): readonly CommandEffect[] => {
  const paths = args.flatMap(pathsIn);
  // The value of an option may name a list of files, which the program prints.
  if (FACTS.test(name) && args.every((arg) => arg.text.startsWith("-") || operands.includes(arg)))
    return [
      ...reads(operands, "facts"),
      ...reads(args.filter((arg) => !operands.includes(arg)).flatMap(pathsIn), "names"),
    ];
  if (NAMES.test(name)) return reads(paths, "names");
  const searches = GREPS.test(name) || /^(?:rg|ack|ag)$/.test(name);
  const isPattern = searches && !args.some(({ text }) => /^-\w*[ef]|^--(?:regexp|file)/.test(text));
  const files = isPattern ? operands.slice(1) : operands;
  // zgrep hands each file to grep as its input, so that a recursive grep searches the working folder.
  const folders = files.length === 0 || /^z\w*grep$/.test(name) ? [knownArg("."), ...files] : files;
  return [
    // The pattern is judged as a path too, unless it is one word that is not known.
    ...reads(
      isPattern && operands[0]?.splits === false
        ? paths.filter((path) => path !== operands[0] || isKnown(path))
        : paths,
    ),
    ...(isRecursive(name, args) ? reads(DIFFS.test(name) ? paths : folders, "below", filterOf(args)) : []),
  ];
};

const NAMES = /^(?:ls|stat|du|df|readlink|realpath|wc|file)$/;
const FACTS = /^(?:ls|stat|readlink|realpath)$/;
const DIFFS = /^(?:diff|colordiff|difft|delta)$/;
const GREPS = /^z?[ef]?grep$/;

/** True when the program prints what is in all files below a folder, hidden ones too. */
function isRecursive(name: string, args: readonly Arg[]): boolean {
  const has = (pattern: RegExp) => args.some(({ text }) => pattern.test(text));
  if (GREPS.test(name)) return has(/^-[A-Za-z0-9]*[rR]|^--(?:rec|der)|^--dir.*=r|^r$|^re(?:c(?:ur?s?e?)?)?$/);
  if (name === "rg") return has(/^-[A-Za-z0-9]*[u.g]|^--(?:hid|no-ig|unr|gl|ig|type-add)/);
  // Of two folders `diff` also prints files without `-r`, and with `-N` those that only one of them has.
  return DIFFS.test(name) || name === "ack" || name === "ag";
}

function filterOf(args: readonly Arg[]): NameFilter {
  const only: string[] = [];
  const without: string[] = [];
  for (const [at, { text }] of args.entries()) {
    const [, option = "", attached] = /^(--(?:include|exclude|i?glob)|-g)(?:=?(.+))?$/.exec(text) ?? [];
    const value = attached ?? args[at + 1]?.text ?? "";
    if (option === "") continue;
    if (option === "--exclude" || value.startsWith("!")) without.push(value.replace(/^!/, ""));
    else only.push(value);
  }
  return { only, without };
}

function pathsIn(arg: Arg): readonly Arg[] {
  // Some programs take their words from a file after `@`.
  if (!arg.text.startsWith("-")) return arg.text.startsWith("@") ? [arg, afterPrefix(arg, 1)] : [arg];
  const equals = arg.text.indexOf("=");
  if (equals > 0) return [afterPrefix(arg, equals + 1)];
  return /^-\w[/~.]/.test(arg.text) ? [afterPrefix(arg, 2)] : [];
}

const fileReaders = linesOf(FILE_READERS);
const stateReaders = linesOf(STATE_READERS);

/** Programs that only read, whatever their options and operands: an unknown word is harmless. */
export const plainReaders: ReadonlySet<string> = new Set(
  [...fileReaders, ...stateReaders].flatMap(([names = ""]) => names.split(" ")).concat(PRINTERS.split(" ")),
);

function linesOf(table: string): readonly (readonly string[])[] {
  const lines = table.trim().split("\n");
  return lines.map((line) => line.split("|").map((part) => part.trim()));
}

/** An option that the table does not list asks, and may print all files; an unknown word is judged as a path. */
function readerRules(table: readonly (readonly string[])[], rule: NonNullable<Rule["effects"]>) {
  const effects: Rule["effects"] = (call, options) => {
    const odd = options.strange.filter(({ text }) => !text.startsWith(UNKNOWN));
    const asks = odd.map((arg) => askForCode(`Runs ${call.name} with ${shown(arg)}, an option that is not known`));
    return [...rule(call, options), ...asks, ...reads(odd.length > 0 ? [knownArg(".")] : [], "below")];
  };
  return Object.fromEntries(
    table.map(([names = "", short = "", long = ""]) => [names, { short, long, unlisted: [], effects } satisfies Rule]),
  );
}

const UNPACKS = ask("Packs, or unpacks over the files that an archive names");
/** One statement that reads, without functions that reach files. */
const QUERY =
  /^\s*(?:select\b(?!.*(?:file|load_extension|edit|tokenizer)\s*\()[^;]*;?|\.(?:tables|schema|indexes)[\s\w]*)$/is;
const PLAIN_OPENSSL =
  /^(?:x509|version|rand|dgst|verify)(?: (?!-)[^\0 ]+| -(?:in|inform|noout|text|dates|startdate|enddate|subject|issuer|serial|fingerprint|pubkey|modulus|purpose|ext|hex|base64|sha\d+|a))*$/;
const OPERANDS: Program = ({ args }) => reads(args.filter(({ text }) => !text.startsWith("-")));

/** Readers that cannot run a program or write a file, and the shell's own words for small steps. */
export const textFilters: ReadonlySet<string> = new Set(
  "cat head tail grep wc cut tr uniq jq echo printf true cd pwd ls date sleep test [".split(" "),
);

export const readers: ReadonlyMap<string, Program> = ruleTable({
  ...readerRules(fileReaders, readAll),
  ...readerRules(stateReaders, () => []),
  [PRINTERS]: { operandLike: /^/, unlisted: [] },
  base64: {
    short: "dDibw:",
    long: "decode ignore-garbage wrap=",
    options: { "o: output=": "write" },
    effects: readAll,
  },
  xxd: { short: "abCdeEhipPruvg:c:l:n:o:s:R:", operands: "in-out" },
  tree: {
    short: "adflxL:RNqpsugDhiACSnvtcrUJXI:P:H:T:QF",
    long: "dirsfirst filesfirst filelimit= noreport gitignore prune charset= du si sort=",
    options: { "o:": "write" },
    operands: "read",
  },
  date: {
    short: "d:I::nRuvjz:",
    long: "date= debug iso-8601=? resolution rfc-email rfc-3339= utc",
    options: { "f: file= r: reference=": "read", "s: set=": ask("Sets the clock of the system") },
    effects: (_, { operands }) =>
      operands.some(({ text }) => /^\d{8,}/.test(text)) ? [ask("Sets the clock of the system")] : [],
  },
  sort: {
    short: "bdfghiMnRrVcCmsuzk:S:t:",
    long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort month-sort human-numeric-sort numeric-sort random-sort reverse version-sort stable unique zero-terminated merge check=? key= buffer-size= field-separator= parallel= sort=",
    options: { "files0-from= random-source=": "read", "o: output= T: temporary-directory=": "write" },
    unlisted: ask("Runs sort with {option}, which may write a file or run a program"),
    // It prints the files that a list names.
    effects: (_, options) => reads([...options.operands, ...(has(options, "files0-from") ? [UNKNOWN_ARG] : [])]),
  },
  uniq: {
    short: "cdDf:is:uzw:",
    long: "count repeated all-repeated=? skip-fields= group=? ignore-case skip-chars= unique zero-terminated check-chars=",
    operands: "in-out",
  },
  /** Lists the names in an archive. */
  unzip: {
    short: "lvtZ12hqopnj",
    options: { "d:": "write" },
    operands: "read",
    effects: ({ args }) => (args.some(({ text }) => /^-\w*[lvtZ]/.test(text)) ? [] : [UNPACKS]),
  },
  jar: byLine([/^-?t[fv]+ /, OPERANDS], [/^/, UNPACKS]),
  openssl: byLine(
    [PLAIN_OPENSSL, OPERANDS],
    [/^/, askForCode("Runs openssl with words that may write or run something")],
  ),
  sqlite3: ({ args }) => {
    const [file, statement, ...more] = args.filter(
      ({ text }) => !/^-(?:header|csv|json|column|box|readonly|batch)$/.test(text),
    );
    const isQuery = statement && isKnown(statement) && more.length === 0 && QUERY.test(statement.text);
    return file && isQuery ? reads([file]) : [askForCode("Runs sqlite3 with statements that may change the database")];
  },
  tr: { short: "cCdst", long: "complement delete squeeze-repeats truncate-set1" },
});
