/** Programs that only read, whatever their options; and those of which one option or operand does more. */
import { ask, CHANGE, type CommandEffect, opaque, type Program, reads, writes } from "../command-effect.ts";
import { has, readOptions, valuesOf } from "../options.ts";
import { type Arg, afterPrefix, isKnown, shown, UNKNOWN } from "../shell/arg.ts";

/** Read files that they are given, and print. */
const FILE_READERS = [
  "cat head tail wc ls dir vdir ll stat du df cut paste comm diff diff3 sdiff cmp column fold fmt nl od hexdump strings",
  "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 readlink realpath tac rev look",
  "expand unexpand pr ptx tsort join grep egrep fgrep zgrep zegrep zfgrep ack cloc tokei scc zcat bzcat xzcat zless",
  "zmore more zdiff zcmp nm objdump readelf size addr2line c++filt otool dwarfdump jq gron xmllint exiftool",
  "identify mediainfo ffprobe pdfinfo pdftotext colordiff delta difft base32 lsattr getfacl namei eza exa lsd",
  "hexyl pygmentize highlight glow mdcat vdir ccat lolcat sloccount jsonlint xmlstarlet numfmt basenc",
].flatMap((line) => line.split(" "));

/** Print something about the system, the time or their arguments. */
const TELLERS = [
  "pwd echo printf true false test [ basename dirname seq yes sleep expr factor bc dc whoami id groups users logname arch",
  "uname nproc free uptime cal ncal locale tty stty tput clear reset ps pgrep pidof pstree lsof lscpu lsblk lsusb",
  "lspci lsmod lshw who w last lastlog whereis which type getconf getent printenv vmstat iostat mpstat sar netstat ss",
  "top htop btop atop glances iotop nvidia-smi sw_vers system_profiler vm_stat hostid dnsdomainname ldd",
  "sensors acpi upower findmnt lsns lsipc ipcs numastat cowsay figlet fortune banner tldr whatis apropos info",
  "apropos units cal pathchk mcookie uuidgen getopt kpsewhich envsubst ascii pkg-config",
].flatMap((line) => line.split(" "));

/** Every word may be a path: operands, and values behind `=`. */
const readAll: Program = ({ args }) => reads(args.flatMap(pathsIn));
const nothing: Program = () => [];

function pathsIn(arg: Arg): readonly Arg[] {
  if (!arg.text.startsWith("-")) return [arg];
  const equals = arg.text.indexOf("=");
  if (equals > 0) return [afterPrefix(arg, equals + 1)];
  // `-f/etc/shadow`: a value attached to a letter.
  return /^-\w[/~.]/.test(arg.text) ? [afterPrefix(arg, 2)] : [];
}

/** Reads, but asks when one of these options is there. */
function readsUnless(option: RegExp, does: (arg: Arg) => string): Program {
  return (call) => {
    const bad = call.args.filter(({ text }) => option.test(text) || text.startsWith(UNKNOWN));
    return [...readAll(call), ...bad.map((arg) => ask(does(arg)))];
  };
}

const base64: Program = (call) => {
  const output = readOptions(call.args, { short: "dDibo:w:", long: ["decode", "ignore-garbage", "wrap=", "output="] });
  return [...readAll(call), ...writes(valuesOf(output, "o", "output"))];
};

const xxd: Program = ({ args }) => {
  const options = readOptions(args, { short: "abCdeEhipPruvg:c:l:n:o:s:R:", long: [] });
  const [input, output] = options.operands;
  return [...reads(input ? [input] : []), ...writes(output ? [output] : [])];
};

const tree: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "adflxLo:RNqpsugDhiACSnvtcrUJXI:P:H:T:QFL:",
    long: ["dirsfirst", "filesfirst", "filelimit=", "noreport", "gitignore", "prune", "charset=", "du", "si", "sort="],
  });
  return [...reads(options.operands), ...writes(valuesOf(options, "o"))];
};

const date: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "d:f:I::nRr:s:uv:jz:",
    long: [
      "date=",
      "debug",
      "file=",
      "iso-8601=?",
      "resolution",
      "rfc-email",
      "rfc-3339=",
      "reference=",
      "set=",
      "utc",
    ],
  });
  const sets = has(options, "s", "set") || options.operands.some(({ text }) => /^\d{8,}/.test(text));
  return sets ? [ask("Sets the clock of the system")] : reads(valuesOf(options, "f", "file", "r", "reference"));
};

const hostname: Program = ({ args }) =>
  args.every(({ text }) => /^-[aAdfiIsy]$/.test(text)) ? [] : [ask("Sets the name of this machine")];

const iconv: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "f:t:clo:s",
    long: ["from-code=", "to-code=", "list", "output=", "silent", "verbose"],
  });
  return [...reads(options.operands), ...writes(valuesOf(options, "o", "output"))];
};

const yq: Program = ({ args }) => {
  const inPlace = args.some(({ text }) => /^-[a-zA-Z]*i|^--in-?place/.test(text));
  const files = args.filter(({ text }) => !text.startsWith("-"));
  const runs = args.some(({ text }) => /\b(?:load|env|system)\s*\(|--split-exp|^-s/.test(text));
  const extra: CommandEffect[] = runs ? [ask("Evaluates an expression that can read or write other files")] : [];
  return [...(inPlace ? writes(files.slice(1)) : reads(files)), ...extra];
};

const ip: Program = ({ args }) => {
  const words = args.map(({ text }) => text).filter((text) => !text.startsWith("-"));
  const reading = words
    .slice(1)
    .every((word) => !/^(?:add|del|set|flush|change|replace|append|up|down|exec)/.test(word));
  return reading && words[0] !== "netns" ? [] : [ask("Changes the network of this machine")];
};

const sysctl: Program = ({ args }) =>
  args.some(({ text }) => text.includes("=") || /^-\w*[wp]|^--(?:write|load|system)/.test(text))
    ? [ask("Changes settings of the kernel")]
    : [];

const openssl: Program = ({ args }) => {
  const [command, ...rest] = args.map(({ text }) => text);
  const output = rest.indexOf("-out");
  const harmless = /^(?:version|dgst|sha\d+|md5|rand|x509|verify|crl|asn1parse|base64|enc|list|help|ciphers)$/;
  const target = output >= 0 ? args[output + 2] : undefined;
  const known =
    harmless.test(command ?? "") && args.every(isKnown) && !rest.some((word) => /^-engine|^-provider/.test(word));
  const inputs = args.filter((_, index) => /^-in(?:key)?$/.test(args[index - 1]?.text ?? ""));
  return [
    ...reads([...inputs, ...args.slice(1).filter(({ text }) => !text.startsWith("-"))]),
    ...writes(target ? [target] : []),
    ...(known ? [] : [ask(`Runs openssl ${command ?? ""}`.trim())]),
  ];
};

const man: Program = ({ args }) =>
  args.some(({ text }) => /^-\w*[PHCM]|^--(?:pager|html|config|manpath)/.test(text) || text.includes("/"))
    ? [opaque("Shows a manual page through a program of its own choice")]
    : [];

const runsAs = (what: string) => (arg: Arg) => `${what} (${shown(arg)})`;

const SPECIAL: readonly (readonly [string, Program])[] = [
  [
    "less",
    readsUnless(/^-\w*[oOk]|^\+|^--(?:log-file|LOG-FILE|lesskey)/, runsAs("Makes less write a file or run a command")),
  ],
  ["rg", readsUnless(/^--(?:pre|hostname-bin|search-zip)|^-\w*z/, runsAs("Makes rg run another program"))],
  ["ag", readsUnless(/^--pager/, runsAs("Makes ag run another program"))],
  ["bat", readsUnless(/^--pager|^cache$/, runsAs("Makes bat run another program"))],
  ["batcat", readsUnless(/^--pager|^cache$/, runsAs("Makes bat run another program"))],
  ["file", readsUnless(/^-\w*[Cz]|^--compile|^--uncompress/, runsAs("Makes file write or unpack"))],
  ["dmesg", readsUnless(/^-\w*[cCDEn]|^--(?:clear|read-clear|console)/, runsAs("Clears the kernel's messages"))],
  [
    "journalctl",
    readsUnless(/^--(?:vacuum|rotate|flush|sync|setup-keys|relinquish)/, runsAs("Changes the journal of the system")),
  ],
  ["locate", readAll],
  ["mdfind", readAll],
  ["sha256", readAll],
  ["base64", base64],
  ["xxd", xxd],
  ["tree", tree],
  ["date", date],
  ["hostname", hostname],
  ["iconv", iconv],
  ["yq", yq],
  ["ip", ip],
  ["ifconfig", ({ args }) => (args.length > 1 ? [ask("Changes the network of this machine")] : [])],
  ["mount", ({ args }) => (args.length > 0 ? [ask("Mounts a file system")] : [])],
  ["sysctl", sysctl],
  ["openssl", openssl],
  ["man", man],
  ["msgfmt", ({ args }) => [CHANGE, ...writes(args.filter((_, at) => args[at - 1]?.text === "-o"))]],
];

/** Programs that only read whatever their options are: words that may be options change nothing. */
export const plainReaders: ReadonlySet<string> = new Set([...FILE_READERS, ...TELLERS]);

export const readers: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...FILE_READERS.map((name): [string, Program] => [name, readAll]),
  ...TELLERS.map((name): [string, Program] => [name, nothing]),
  ...SPECIAL,
]);
