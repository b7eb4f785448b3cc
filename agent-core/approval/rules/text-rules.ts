/** Rules for programs that read: files, text, and the state of the system. Some options of them write or run. */
import { ask, CHANGE, opaque, type Program, reads, writes } from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { LOOKS, type Rule, ruleTable } from "./rule.ts";

/** Programs that print the files they are given, whatever their options. */
const FILE_READERS = [
  "cat head tail wc ls dir vdir ll stat du df cut paste comm diff diff3 sdiff cmp column fold fmt nl od hexdump strings",
  "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 readlink realpath tac rev look",
  "expand unexpand pr ptx tsort join grep egrep fgrep zgrep zegrep zfgrep ack cloc tokei scc zcat bzcat xzcat zless",
  "zmore more zdiff zcmp nm objdump readelf size addr2line c++filt otool dwarfdump jq gron xmllint exiftool",
  "identify mediainfo ffprobe pdfinfo pdftotext colordiff delta difft base32 lsattr getfacl namei eza exa lsd",
  "hexyl pygmentize highlight glow mdcat vdir ccat lolcat sloccount jsonlint xmlstarlet numfmt basenc",
].join(" ");

/** Programs that print facts about the system, the time or their arguments, whatever their options. */
const STATE_READERS = [
  "pwd echo printf true false test [ basename dirname seq yes sleep expr factor bc dc whoami id groups users logname arch",
  "uname nproc free uptime cal ncal locale tty stty tput clear reset ps pgrep pidof pstree lsof lscpu lsblk lsusb",
  "lspci lsmod lshw who w last lastlog whereis which type getconf getent printenv vmstat iostat mpstat sar netstat ss",
  "top htop btop atop glances iotop nvidia-smi sw_vers system_profiler vm_stat hostid dnsdomainname ldd",
  "sensors acpi upower findmnt lsns lsipc ipcs numastat cowsay figlet fortune banner tldr whatis apropos info",
  "units pathchk mcookie uuidgen getopt kpsewhich envsubst ascii pkg-config",
].join(" ");

/** Every word may be a path: operands, values behind `=`, and values attached to a letter (`-f/etc/shadow`). */
const readAll: Program = ({ args }) => reads(args.flatMap(pathsIn));

function pathsIn(arg: Arg): readonly Arg[] {
  if (!arg.text.startsWith("-")) return [arg];
  const equals = arg.text.indexOf("=");
  if (equals > 0) return [afterPrefix(arg, equals + 1)];
  return /^-\w[/~.]/.test(arg.text) ? [afterPrefix(arg, 2)] : [];
}

/** Reads every word that may be a path; asks about some options, about some operands, and about unknown words. */
function readsUnless(options: string, does: string, operand = /^(?!)/): Rule {
  return {
    options: { [options]: ask(`${does} ({option})`) },
    effects: (call) => [
      ...readAll(call),
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
  effects: (_, { operands: [object, ...words] }) => {
    const changes = words.some(({ text }) => /^(?:add|del|set|flush|change|replace|append|up|down|exec)/.test(text));
    return changes || object?.text === "netns" ? [ask("Changes the network of this machine")] : [];
  },
};

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

/** Programs without any option or operand that does more than read. */
export const plainReaders: ReadonlySet<string> = new Set(`${FILE_READERS} ${STATE_READERS}`.split(" "));

export const readers: ReadonlyMap<string, Program> = ruleTable({
  [FILE_READERS]: readAll,
  [STATE_READERS]: LOOKS,
  "locate mdfind sha256": readAll,
  less: readsUnless(
    "o: O: k: log-file= LOG-FILE= lesskey-file= lesskey-src= lesskey-content=",
    "Makes less write a file or run a command",
    /^\+/,
  ),
  rg: readsUnless("pre= pre-glob= pretty hostname-bin= search-zip z", "Makes rg run another program"),
  ag: readsUnless("pager=", "Makes ag run another program"),
  "bat batcat": readsUnless("pager=", "Makes bat run another program", /^cache$/),
  file: readsUnless("C z Z compile uncompress uncompress-noreport", "Makes file write or unpack a file"),
  dmesg: readsUnless(
    "c C D E n: clear read-clear console-off console-on console-level=",
    "Changes the kernel's messages",
  ),
  journalctl: readsUnless(
    "vacuum-size= vacuum-files= vacuum-time= rotate flush sync relinquish-var smart-relinquish-var setup-keys",
    "Changes the journal of the system",
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
    options: { "w p write load system": ask("Changes settings of the kernel") },
    effects: ({ args }) => (args.some(({ text }) => text.includes("=")) ? [ask("Changes settings of the kernel")] : []),
  },
  openssl,
  man,
  msgfmt: { does: CHANGE, options: { "o:": "write" } },
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
  tr: LOOKS,
  tee: { short: "aip", long: "append ignore-interrupts output-error=?", operands: "write" },
  "sponge dos2unix unix2dos": writesOperands,
  "split csplit": split,
});
