/** Rules for programs that read files, text or the state of the system. A few of their options write or run. */
import {
  ask,
  askForCode,
  type Call,
  CHANGE,
  type CommandEffect,
  opaque,
  type Program,
  reads,
  readsBelow,
  readsFacts,
  readsFollowing,
  readsNames,
  writes,
} from "../command-effect.ts";
import type { NameFilter } from "../reached-secrets.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import type { Options } from "./options.ts";
import { fileReaders, type ReaderOptions, stateReaders } from "./reader-options.ts";
import { type Rule, ruleTable } from "./rule.ts";

/** Every word may be a path: operands, values behind `=`, and values attached to a letter (`-f/etc/shadow`). */
const readAll = ({ name, args }: Call, { operands }: Options): readonly CommandEffect[] => {
  const paths = args.flatMap(pathsIn);
  // The value of an option may name a list of files, which the program prints.
  if (FACTS.has(name) && args.every((arg) => arg.text.startsWith("-") || operands.includes(arg)))
    return [...readsFacts(operands), ...readsNames(args.filter((arg) => !operands.includes(arg)).flatMap(pathsIn))];
  if (NAMES.has(name)) return readsNames(paths);
  const option = FOLLOWING.get(name);
  const searches = GREPS.has(name) || /^(?:rg|ag|ack)$/.test(name);
  const isPattern = searches && !args.some(({ text }) => /^-\w*[ef]|^--(?:regexp|file)/.test(text));
  const files = isPattern ? operands.slice(1) : operands;
  // zgrep hands each file to grep as its input, so that a recursive grep searches the working folder.
  const folders = files.length === 0 || /^z\w*grep$/.test(name) ? [knownArg("."), ...files] : files;
  const follows = option !== undefined && args.some(({ text }) => option.test(text));
  return [
    // The pattern is judged as a path too, unless it is one word that is not known.
    ...reads(
      isPattern && operands[0]?.splits === false
        ? paths.filter((path) => path !== operands[0] || isKnown(path))
        : paths,
    ),
    ...(follows ? readsFollowing(folders) : []),
    ...(isRecursive(name, args) ? readsBelow(folders, filterOf(args)) : []),
  ];
};

/** Programs that print names, sizes or sums, but no text of a file. */
const NAMES = words(
  "ls dir vdir ll eza exa lsd stat du df readlink realpath namei lsattr getfacl wc cloc tokei scc file",
);
/** Those of them that open no file. */
const FACTS = words("ls dir vdir ll eza exa lsd stat readlink realpath namei lsattr getfacl");
const DIFFS = words("diff colordiff difft delta");
const GREPS = words("grep egrep fgrep zgrep zegrep zfgrep");

/** True when the program prints what is in all files below a folder, hidden ones too. */
function isRecursive(name: string, args: readonly Arg[]): boolean {
  const has = (pattern: RegExp) => args.some(({ text }) => pattern.test(text));
  if (GREPS.has(name)) return has(/^-[A-Za-z0-9]*[rR]|^--(?:rec|der)|^--dir.*=rec|^-\w*drec/) || has(/^rec(?:urse)?$/);
  if (name === "rg") return has(/^-[A-Za-z0-9]*[u.g]|^--(?:hid|no-ig|unr|gl|ig|type-add)/);
  if (name === "ag") return has(/^-[A-Za-z0-9]*[uUat]|^--(?:hid|unr|all)/);
  // Of two folders `diff` also prints files without `-r`, and with `-N` those that only one of them has.
  return name === "ack" || DIFFS.has(name);
}

/** Names that the options of a search include and leave out. */
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

/** Options with which a program reads all files below a folder, through links too. */
const FOLLOWING: ReadonlyMap<string, RegExp> = new Map([
  ...[...GREPS].map((name) => [name, /^-[A-Za-z0-9]*R|^--dereference-r/] as const),
  ["rg", /^-[A-Za-z0-9]*L|^--follow/],
  ["ag", /^-[A-Za-z0-9]*f|^--follow/],
  ["diff", /^-[A-Za-z0-9]*r|^--recursive/],
]);

function pathsIn(arg: Arg): readonly Arg[] {
  // Some programs take their words from a file after `@`.
  if (!arg.text.startsWith("-")) return arg.text.startsWith("@") ? [arg, afterPrefix(arg, 1)] : [arg];
  const equals = arg.text.indexOf("=");
  if (equals > 0) return [afterPrefix(arg, equals + 1)];
  return /^-\w[/~.]/.test(arg.text) ? [afterPrefix(arg, 2)] : [];
}

/** Reads every word that may be a path; asks about some options, about some operands, and about unknown words. */
function readsUnless(options: string, does: string, listed: string, operand = /^(?!)/): Rule {
  const [short = "", long = ""] = listed.split("|").map((part) => part.trim());
  return {
    short,
    long,
    options: { [options]: ask(`${does} ({option})`) },
    effects: (call, options) => [
      ...readAll(call, options),
      ...call.args
        .filter(({ text }) => text.startsWith(UNKNOWN) || operand.test(text))
        .map((arg) => ask(`${does} (${shown(arg)})`)),
    ],
  };
}

const date: Rule = {
  short: "d:I::nRuvjz:",
  long: "date= debug iso-8601=? resolution rfc-email rfc-3339= utc",
  options: {
    "f: file= r: reference=": "read",
    "s: set=": ask("Sets the clock of the system"),
  },
  effects: (_, { operands }) =>
    operands.some(({ text }) => /^\d{8,}/.test(text)) ? [ask("Sets the clock of the system")] : [],
};

const yq: Rule = {
  short: "rcnseijPCMNo:p:I:0SYyf:",
  long: "raw-output compact-output null-input prettyPrint output-format= input-format= indent= colors no-colors no-doc exit-status inplace in-place arg= argjson= yaml-output",
  effects: ({ args }, { operands }) => {
    const inPlace = args.some(({ text }) => /^-[a-zA-Z]*i|^--in-?place/.test(text));
    const evaluates = args.some(({ text }) => /\b(?:load|env|system)\s*\(|--split-exp|^-s/.test(text));
    return [
      ...(inPlace ? writes(operands.slice(1)) : reads(operands)),
      ...(evaluates ? [ask("Evaluates an expression that can read or write other files")] : []),
    ];
  },
};

const ip: Rule = {
  short: "46abcdfhjlorst",
  long: "brief json color",
  effects: (_, { operands: [object, ...words] }) => {
    const changes = words.some(({ text }) => /^(?:add|del|set|flush|change|replace|append|up|down|exec)/.test(text));
    return changes || object?.text === "netns" ? [ask("Changes the network of this machine")] : [];
  },
};

/** Options of openssl that neither write a file nor load code. */
const OPENSSL_OPTION =
  /^-(?:in|inkey|out|inform|outform|text|noout|base64|d|e|a|A|hex|c|r|i|n|p|P|v|binary|subject|issuer|dates|enddate|startdate|serial|fingerprint|pubkey|modulus|hash|checkend|purpose|ext|nameopt|verbose|CAfile|CApath|showcerts|dump|strparse|offset|length|pbkdf2|salt|nosalt|iter|k|K|iv|pass|passin|sha\w+|sha\d\S*|md\d|aes\S*|blake2\S*|hmac|sign|verify|signature|sigopt)$/;

const openssl: Program = ({ args }) => {
  const [command, ...rest] = args.map(({ text }) => text);
  const output = rest.indexOf("-out");
  const harmless = /^(?:version|dgst|sha\d+|md5|rand|x509|verify|crl|asn1parse|base64|enc|list|help|ciphers)$/;
  const target = output >= 0 ? args[output + 2] : undefined;
  const known =
    harmless.test(command ?? "") &&
    args.every(isKnown) &&
    rest.every((word) => !word.startsWith("-") || OPENSSL_OPTION.test(word));
  const inputs = args.filter((_, index) => /^-in(?:key)?$/.test(args[index - 1]?.text ?? ""));
  return [
    ...reads([...inputs, ...args.slice(1).filter(({ text }) => !text.startsWith("-"))]),
    ...writes(target ? [target] : []),
    ...(known ? [] : [ask(`Runs openssl ${command ?? ""}, which can make keys or contact other machines`)]),
  ];
};

const man: Rule = {
  options: {
    "P: H C: M: pager= html config-file= manpath=": opaque(
      "Shows a manual page through a program of the command's choice",
    ),
  },
  effects: ({ args }) =>
    args.some(({ text }) => text.includes("/"))
      ? [opaque("Shows a manual page from a file that can run programs")]
      : [],
};

const split: Rule = {
  short: "a:b:C:d::el:n:t:ux::p:",
  long: "suffix-length= additional-suffix= bytes= line-bytes= numeric-suffixes=? hex-suffixes=? elide-empty-files lines= number= separator= unbuffered verbose",
  options: { "filter=": "shell" },
  effects: (_, { operands: [input, prefix] }) => [...reads(input ? [input] : []), ...writes([prefix ?? knownArg("x")])],
};

const writesOperands: Rule = { operands: "write" };

/** Programs that print their arguments. None of their options does more. */
const PRINTERS = "echo printf expr test [ seq basename dirname true false";

/** Programs that only read, whatever their options and operands: an unknown word is harmless. */
export const plainReaders: ReadonlySet<string> = new Set(
  [...fileReaders, ...stateReaders].flatMap(({ names }) => names.split(" ")).concat(PRINTERS.split(" ")),
);

function readerRules(readers: readonly ReaderOptions[], reads: Rule["effects"]): Readonly<Record<string, Rule>> {
  const rules = readers.map(({ names, short, long }): [string, Rule] => [names, readerRule({ short, long }, reads)]);
  return Object.fromEntries(rules);
}

/** Asks about an option that the table does not list; an unknown word is judged as a path. */
function readerRule(grammar: Pick<Rule, "short" | "long">, reads: Rule["effects"]): Rule {
  return {
    ...grammar,
    closed: true,
    effects: (call, options) => [
      ...(reads?.(call, options) ?? []),
      ...options.strange
        .filter(({ text }) => !text.startsWith(UNKNOWN))
        .map((arg) => askForCode(`Runs ${call.name} with ${shown(arg)}, an option that is not known`)),
    ],
  };
}

export const readers: ReadonlyMap<string, Program> = ruleTable({
  ...readerRules(fileReaders, readAll),
  ...readerRules(stateReaders, () => []),
  [PRINTERS]: { operandLike: /^/ },
  locate: { short: "bcdeil:n:rw0", long: "basename count ignore-case limit= regex existing", effects: readAll },
  diff3: { short: "AeEimTxX3L:a", long: "show-all merge text label=", effects: readAll },
  sdiff: {
    short: "iEZbWBI:aw:lstd",
    long: "ignore-case width= suppress-common-lines text",
    options: { "o: output=": "write" },
    effects: readAll,
  },
  ptx: { short: "ACF:M:O:RS:T:W:b:fg:i:o:rtw:", operands: "in-out" },
  xmllint: { long: "noout format valid noblanks xpath= schema= recover nonet huge pretty= c14n", effects: readAll },
  exiftool: { short: "asGntejbSlhq0123456", operands: "read" },
  "identify ffprobe": { short: "vi:f:", long: "verbose format=", exact: false, effects: readAll },
  pdftotext: { short: "f:l:r:q", long: "layout raw nopgbrk", operands: "in-out" },
  highlight: { short: "O:S:l", long: "out-format= syntax= line-numbers", effects: readAll },
  pygmentize: { short: "l:f:g", effects: readAll },
  glow: { short: "s:w:", long: "style= width=", effects: readAll },
  jsonlint: { short: "qc", effects: readAll },
  xmlstarlet: {
    verbs: { "sel val fo el c14n": { open: true, effects: readAll } },
    otherwise: { does: ask("Runs {line}, which can change files") },
  },
  // The loader of a program may run code of the program.
  ldd: {
    short: "druv",
    effects: (_, { operands }) =>
      operands
        .filter(({ text }) => !/^\/(?:usr\/)?(?:s?bin|lib)/.test(text))
        .map((arg) => askForCode(`Runs the loader of ${shown(arg)}`)),
  },
  dc: {
    effects: ({ input }, { operands }) =>
      operands.length === 0 && input.kind === "text" && !input.text.includes("!")
        ? []
        : [ask("Runs dc code that can run commands")],
    options: {
      "e: expression=": ask("Runs dc code that can run commands"),
      "f: file=": ask("Runs dc code that can run commands"),
    },
  },
  "htop btop atop glances iotop": { short: "bn:d:", does: ask("Starts {name}, which can end processes") },
  info: { short: "an:", long: "all node= output=-", operands: "read" },
  lshw: { short: "cshjx", long: "short class= json sanitize businfo numeric quiet", exact: false },
  less: readsUnless(
    "o: O: k: log-file= LOG-FILE= lesskey-file= lesskey-src= lesskey-content=",
    "Makes less write a file or run a command",
    "eEfFiIgGmMnNqQrRsSuUwWXx:zLKJ | raw-control-chars RAW-CONTROL-CHARS quit-if-one-screen no-init chop-long-lines LINE-NUMBERS",
    /^\+/,
  ),
  more: { does: askForCode("Starts more, which can run other programs"), operands: "read" },
  rg: readsUnless(
    "pre= pre-glob= pretty hostname-bin= search-zip z",
    "Makes rg run another program",
    "A:B:bsC:cE:e:f:lFLg:hivnxM:m:UIN0oPpqr:Saj:t:T:uVHwd:. | after-context= before-context= binary block-buffered byte-offset case-sensitive color= colors= column context= context-separator= count count-matches crlf max-filesize= encoding= engine= field-context-separator= field-match-separator= file= files files-with-matches files-without-match fixed-strings follow glob= glob-case-insensitive heading hidden iglob= ignore-case ignore-file= include-zero invert-match json line-buffered line-number line-regexp max-columns= max-columns-preview max-count= max-depth= mmap multiline multiline-dotall no-config no-filename no-heading no-ignore no-ignore-dot no-ignore-exclude no-ignore-global no-ignore-files no-ignore-parent no-ignore-vcs no-line-number no-messages no-mmap no-unicode null null-data one-file-system only-matching passthru path-separator= pcre2 quiet regex-size-limit= regexp= replace= smart-case sort= sortr= stats stop-on-nonmatch text threads= trace trim type= type-add= type-clear= type-list type-not= unrestricted vimgrep with-filename word-regexp version",
  ),
  ag: readsUnless(
    "pager=",
    "Makes ag run another program",
    "A:B:C:cfgG:hHiIlLm:nopQrsStuUvwz0 | nocolor color nogroup group heading noheading hidden ignore= files-with-matches nobreak numbers stats",
  ),
  "bat batcat": readsUnless(
    "pager=",
    "Makes bat run another program",
    "pnAdul:r:H: | plain number language= style= color= paging= line-range= theme= wrap= decorations= list-languages show-all tabs=",
    /^cache$/,
  ),
  file: readsUnless(
    "C z Z m: compile uncompress uncompress-noreport magic-file=",
    "Makes file write or unpack a file",
    "bce:f:F:iklLhnN0pPrsSdv | brief exclude= files-from= separator= mime apple extension mime-type mime-encoding keep-going list dereference no-dereference no-buffer no-pad print0 raw special-files",
  ),
  dmesg: readsUnless(
    "c C D E n: clear read-clear console-off console-on console-level=",
    "Changes the kernel's messages",
    "F:f:HJkL::l:PprSs:uwWxdeTt | file= facility= human json kernel color=? level= nopager raw userspace follow decode reltime ctime notime time-format= since= until=",
  ),
  journalctl: readsUnless(
    "vacuum-size= vacuum-files= vacuum-time= rotate flush sync relinquish-var smart-relinquish-var setup-keys",
    "Changes the journal of the system",
    "u:n:fxerkb::t:p:g:o:S:U:aqlm | unit= lines= follow no-pager since= until= priority= boot=? dmesg output= reverse catalog grep= user system identifier= list-boots disk-usage utc all quiet merge no-hostname",
  ),
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
  date,
  hostname: ({ args }) =>
    args.every(({ text }) => /^-[aAdfiIsy]$/.test(text)) ? [] : [ask("Sets the name of this machine")],
  iconv: {
    short: "f:t:cls",
    long: "from-code= to-code= list silent verbose",
    options: { "o: output=": "write" },
    operands: "read",
  },
  yq,
  ip,
  ifconfig: ({ args }) => (args.length > 1 ? [ask("Changes the network of this machine")] : []),
  mount: ({ args }) => (args.length > 0 ? [ask("Mounts a file system")] : []),
  sysctl: {
    short: "anNeqr:bX",
    long: "all names values ignore quiet pattern= binary",
    options: { "w p write load system": ask("Changes settings of the kernel") },
    effects: ({ args }) => (args.some(({ text }) => text.includes("=")) ? [ask("Changes settings of the kernel")] : []),
  },
  openssl,
  man,
  msgfmt: { short: "cvfD:", long: "check statistics verbose", does: CHANGE, options: { "o:": "write" } },
});

/** Filters that can write a file or run a helper on the side. */
export const textTools: ReadonlyMap<string, Program> = ruleTable({
  sort: {
    short: "bdfghiMnRrVcCmsuzk:S:t:",
    long: [
      "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort",
      "human-numeric-sort numeric-sort random-sort reverse version-sort stable unique zero-terminated merge",
      "debug check=? batch-size= key= buffer-size= field-separator= parallel= sort=",
    ].join(" "),
    options: {
      "files0-from= random-source=": "read",
      "o: output= T: temporary-directory=": "write",
      "compress-program=": opaque("Makes sort run another program ({value})"),
    },
    unlisted: ask("Runs sort with {option}, which may be an option that writes a file"),
    operands: "read",
  },
  uniq: {
    short: "cdDf:is:uzw:",
    long: "count repeated all-repeated=? skip-fields= group=? ignore-case skip-chars= unique zero-terminated check-chars=",
    operands: "in-out",
  },
  shuf: {
    short: "ei:n:rz",
    long: "echo input-range= head-count= random-source= repeat zero-terminated",
    options: { "o: output=": "write" },
    operands: "read",
  },
  tr: { short: "cCdst", long: "complement delete squeeze-repeats truncate-set1" },
  tee: { short: "aip", long: "append ignore-interrupts output-error=?", operands: "write" },
  "sponge dos2unix unix2dos": writesOperands,
  "split csplit": split,
});

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
