/**
 * Rules for what runs code or another program: shells are read, and wrappers lead to the program that they run; other
 * interpreters, sed and awk ask about what is not of a plain form.
 */
import {
  ask,
  askForCode,
  type Call,
  CHANGE,
  type CommandEffect,
  OUTSIDE,
  opaque,
  type Program,
  project,
  reads,
  writes,
} from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown, UNKNOWN, UNKNOWN_ARG, UNKNOWN_ARGS } from "../shell/arg.ts";
import { has, valuesOf } from "./options.ts";
import { script as packageScript, projectTools } from "./project-tools.ts";
import { lineOf, type Rule, ruleTable } from "./rule.ts";

const PYTHON_MODULES = /^(?:unittest|compileall|py_compile|json\.tool|build|sphinx|django)$/;

function module([name, ...rest]: readonly Arg[]): readonly CommandEffect[] {
  if (!name || !isKnown(name)) return [opaque("Runs a Python module that is not known before it runs")];
  if (/^pip3?$/.test(name.text)) return [{ kind: "command", words: [knownArg("pip"), ...rest] }];
  if (/^(?:venv|virtualenv)$/.test(name.text))
    return [CHANGE, ...writes(rest.filter(({ text }) => !text.startsWith("-")))];
  if (name.text === "http.server") return [askForCode("Serves this folder to the network")];
  // A file of that name in this folder runs first, also for its version.
  if (projectTools.has(name.text)) return [project(rest), { kind: "command", words: [name, ...rest] }];
  if (PYTHON_MODULES.test(name.text)) return [project(rest)];
  return [askForCode(`Runs the Python module ${name.text}`, "prefix")];
}

/** Perl, Ruby and PHP run code that stands in a text in double quotes. */
const PRINTS = /^\s*(?:print|console\.log)\((?:'[^"'\\]*'|"[^"'\\#$@`]*"|[\d\s+*/.-]*)\);?\s*$/;
/** Python and Node run none of it. Outside of such a text a backtick or a sign of a comment may hide code. */
const PRINTS_TEXT = /^\s*(?:(?:print|console\.log)\("[^"'\\`]*"\);?|[\d\s+*/.-]+)\s*$/;
/** Code that loads a package and prints its version, and no other value. */
const PRINTS_VERSION =
  /^(?:(?:import|from [\w.]+ import) [\w., ]+; ?)+print\([\w.]+\.(?:__version__|__file__|version|version_info|executable|prefix|platform)\)$|^(?:console\.log\()?(?:process\.(?:versions?|platform|arch)(?:\.\w+)?|require\((["'])(?:\.\/package\.json|[\w@][\w@/-]*(?:\/package\.json)?)\1\)\.(?:name|version))\)?;?$/;
/** Commands that test, list and generate: of Deno, and of a framework's own script. */
const FRONT =
  /^(?:deno (?:test|check|lint|fmt|doc|info|types|bench|task)|(?!.* -(?:e|-en|-se|-py)(?!\S*[= ]testing(?: |$)))(?:python[\d.]* manage\.py (?:test|check|showmigrations|makemigrations|sqlmigrate|diffsettings|runserver|help)|php artisan (?:test|list|about|help|route:list|migrate:status|make:\w+|serve)|ruby bin\/rails (?:test|routes)))(?: |$)/;
const VERSION = /^(?:--version|-version|-v|-V+|--help|-h|version)$/;

const PYTHON = /^(?:i?python|pypy|py$)[\d.]*/;

function plainCall(name: string, args: readonly Arg[]): readonly CommandEffect[] | undefined {
  const [first, second, ...rest] = args;
  const line = `${name} ${first?.text}`;
  if (VERSION.test(lineOf(args))) return [];
  if (PYTHON.test(name) && first?.text === "-m") return module(args.slice(1));
  if (/^(?:ruby -[cl]|php -[lmi]|node (?:--check|-c))$/.test(line)) return reads(args.slice(1));
  const loads = args.some(({ text }) => /^(?:-r|--(?:require|import|loader|test-rep|env))/.test(text));
  if (/^node(?:js)? --test$/.test(line) && !loads) return [project(args)];
  if (line === "node --run") return packageScript("node --run", second, { rest });
  if (FRONT.test(lineOf([knownArg(name), ...args]))) return [project(args)];
  const code = /^(?:\S+ -[ce]|node(?:js)? -p)$/.test(line) && rest.length === 0 ? second : undefined;
  return code && isKnown(code) ? printed(name, code.text) : undefined;
}

function printed(name: string, code: string): readonly CommandEffect[] | undefined {
  if (PRINTS_VERSION.test(code)) return [project([])];
  return PRINTS.test(code) || (/^(?:py|node)/.test(name) && PRINTS_TEXT.test(code)) ? [] : undefined;
}

/** The code, or the script, is not read. */
const interpreter: Program = ({ name, args, input }) => {
  const plain = plainCall(name, args);
  if (plain) return plain;
  const operands = args.filter(({ text }) => !text.startsWith("-"));
  if (operands.length === 0 && input.kind === "data") return [opaque(`Runs what ${input.from} prints as ${name} code`)];
  const hidden = args.find((arg) => !isKnown(arg) || arg.content !== undefined);
  const inPlace = /^(?:perl|ruby)/.test(name) && args.some(({ text }) => /^-\w*i/.test(text));
  const files = operands.slice(0, 1).filter(({ text }) => /^[\w./~-]+\.\w+$/.test(text));
  return [
    hidden
      ? opaque(`Runs ${name} with ${shown(hidden)}, code that is not known before it runs`)
      : askForCode(`Runs ${[name, ...args.slice(0, 2).map(shown)].join(" ")}, code that is not read`),
    ...(inPlace ? writes(operands.slice(1)) : reads(files)),
  ];
};

const shell: Rule = {
  posix: true,
  short: "abcdefghiklmnpqrstuvxyBCDEFGHJPTVXo:O:",
  long: "rcfile= init-file= debugger dump-po-strings dump-strings help login noediting noprofile norc posix pretty-print restricted verbose version emulate= no-rcs no-globalrcs",
  options: { "rcfile= init-file=": opaque("Makes {name} start with another script") },
  operandLike: /^-$/,
  unlisted: opaque("Runs {name} with {option}, an option that is not known"),
  effects: (call, options) => {
    const { name, input } = call;
    const clusters = options.strange.filter(({ text }) => /^-[a-z]+$/i.test(text));
    const flags = ["c", "s"].filter((flag) => has(options, flag) || clusters.some(({ text }) => text.includes(flag)));
    const [first, ...rest] = options.operands[0]?.text === "-" ? options.operands.slice(1) : options.operands;
    // Such a word is an option, too, and others may follow.
    if (first?.text.startsWith("+")) {
      const option = { ...first, text: `-${first.text.slice(1)}` };
      const words = [knownArg(name), ...flags.map((flag) => knownArg(`-${flag}`)), option, ...rest];
      return [{ kind: "command", words, input }];
    }
    // Shells do not agree where the value of `-o` stands in a cluster: any word may be the code.
    if (["o", "O"].some((letter) => /[oO]./.test(options.written.get(letter)?.text ?? "")))
      return options.operands.map(({ text }) => ({ kind: "shell", code: text }));
    if (flags.includes("c")) return shellCode(name, first, rest);
    return first && !flags.includes("s") ? shellScript(name, first, rest) : shellInput(call);
  },
};

function shellCode(
  name: string,
  text: Arg | undefined,
  [zero, ...positional]: readonly Arg[],
): readonly CommandEffect[] {
  if (!text || text.splits) return [opaque(`Runs ${name} code that is not known before it runs`)];
  // The first word after the code is `$0`.
  return [{ kind: "shell", code: text.text, positional, ...(zero && { zero }) }];
}

function shellScript(name: string, file: Arg, rest: readonly Arg[]): readonly CommandEffect[] {
  if (file.content !== undefined) return [{ kind: "shell", code: file.content }];
  if (!isKnown(file)) return [opaque(`Runs a ${name} script that is not known before it runs (${shown(file)})`)];
  const otherwise = [askForCode(`Runs the ${name} script ${shown(file)}`)];
  return [...reads([file]), { kind: "script", source: { of: "file", path: file }, positional: rest, otherwise }];
}

function shellInput({ name, input: given }: Call): readonly CommandEffect[] {
  if (given.kind === "text") return [{ kind: "shell", code: given.text }];
  if (given.kind === "data") return [opaque(`Runs what ${given.from} prints as shell commands`)];
  return [ask(`Starts an interactive ${name}`)];
}

/** A script of sed or awk: it is plain, or it may run commands and write files. */
function scripted(grammar: Pick<Rule, "short" | "long" | "posix">, isPlain: (script: string) => boolean): Rule {
  return {
    ...grammar,
    unlisted: opaque("Runs {name} with {option}, an option that is not known"),
    effects: ({ name }, options) => {
      const given = valuesOf(options, "e", "expression", "source");
      const files = valuesOf(options, "f", "file");
      const isFirst = given.length === 0 && files.length === 0;
      const inputs = (isFirst ? options.operands.slice(1) : options.operands).filter(({ text }) => !/^\w+=/.test(text));
      // Some versions of sed take an empty word after `-i` for the end of the backup's name.
      const first = options.operands[0]?.text === "" && has(options, "i") ? 2 : 1;
      const scripts = isFirst ? options.operands.slice(0, first) : given;
      const isOdd = (each: Arg) => !isKnown(each) || each.splits || !isPlain(each.text);
      // A backup with a slash in its name lies in another folder.
      const backups = valuesOf(options, "i", "in-place").filter(({ text }) => !/^[\w.~-]*$/.test(text));
      const odd = [...scripts.filter(isOdd), ...files];
      return [
        ...(has(options, "i", "in-place") ? writes(inputs) : reads(inputs)),
        ...odd.map((each) => opaque(`Runs a ${name} script that may run commands or write files: ${shown(each)}`)),
        ...backups.map((each) => ask(`Makes ${name} write its backups to ${shown(each)}`)),
      ];
    },
  };
}

/** A text up to its delimiter, which no bracket expression holds: it would end the pattern in some versions of sed. */
const until = (sign: string): string => {
  const own = `\\${sign}`;
  return `(?:[^${own}\\\\\\n[]|\\\\.|\\[\\^?[^\\]${own}\\\\\\n]+\\])*${own}`;
};
const ADDRESS = `(?:\\d+(?:~\\d+)?|\\$|/${until("/")}[IM]*)`;
const END = "(?=[ \\t]*(?:[;}\\n]|$))";
/** Pieces of a plain script: addresses, commands without the name of a file, texts to the end of a line. */
const PIECES = [
  "[\\s;{}]+",
  `${ADDRESS}(?:[ \\t]*,[ \\t]*(?:${ADDRESS}|[+~]\\d+))?[ \\t]*!?`,
  `[=dDgGhHnNpPxqQ]${END}`,
  ...["/", "|", "#", ",", "@", "!", ":"].map((sign) => `s\\${sign}${until(sign)}${until(sign)}[gpiIM\\d]*${END}`),
  "[aic](?:\\\\\\n)?[^\\n\\\\]*(?=\\n|$)",
];
const PIECE = new RegExp(PIECES.join("|"), "y");
const MAX_SCRIPT = 1000;

function isPlainSed(text: string): boolean {
  if (text.length > MAX_SCRIPT) return false;
  for (let at = 0; at < text.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at;
    if (!PIECE.test(text)) return false;
  }
  return true;
}

/** Words and signs by which awk reaches files and commands. After `print` a bar or an arrow leads out. */
const REACHES = /system|getline|ARG[VCI]|@|\\\r?\n|print[\s\S]*(?:(?<!\|)\|(?!\|)|>)/;

/** A text in quotes reaches nothing. With a slash or a comment in the program it is not certain where a text ends. */
function isPlainAwk(text: string): boolean {
  const bare = /[/#]/.test(text) ? text : text.replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
  return text.length <= MAX_SCRIPT && !REACHES.test(bare);
}

export const codePrograms: ReadonlyMap<string, Program> = ruleTable({
  "python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14": interpreter,
  "pypy pypy3 ipython py node nodejs ruby perl php lua java R Rscript julia deno tsx ts-node pwsh powershell":
    interpreter,
  "sh bash dash zsh ksh mksh ash fish rbash yash csh tcsh": shell,
  "busybox toybox": ({ args }) => (args[0]?.text.startsWith("-") === false ? [{ kind: "command", words: args }] : []),
  "sed gsed": scripted(
    {
      short: "nEre:f:i::l:suzb",
      long: "quiet silent debug expression= file= follow-symlinks in-place=? line-length= null-data posix regexp-extended separate unbuffered zero-terminated",
    },
    isPlainSed,
  ),
  "awk gawk mawk nawk": scripted(
    { posix: true, short: "F:v:f:e:bcIMnNOPrstV", long: "field-separator= assign= file= source= csv posix" },
    isPlainAwk,
  ),
});

/** Takes other rights, which leads out of every sandbox. */
const OTHER_USER: readonly CommandEffect[] = [ask("Runs with the rights of another user ({name})"), OUTSIDE];

/** `env` sets variables for the command; without a command it prints them. */
const env: Rule = {
  posix: true,
  long: "ignore-environment null unset= chdir= split-string= block-signal=? default-signal=? ignore-signal=? debug argv0=",
  options: { "P:": ask("Looks for programs in other folders") },
  short: "i0u:C:vS:",
  effects: (_, options) => [
    ...valuesOf(options, "S", "split-string").map((arg): CommandEffect => ({ kind: "shell", code: `env ${arg.text}` })),
    ...afterAssignments(options.operands, valuesOf(options, "C", "chdir").at(-1)),
  ],
};

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** Variables that are set before the command, and the command. */
function afterAssignments(operands: readonly Arg[], cwd?: Arg): readonly CommandEffect[] {
  const at = operands.findIndex(({ text }) => text !== "-" && !ASSIGNMENT.test(text));
  if (at < 0) return [];
  const variables = operands.slice(0, at).filter(({ text }) => ASSIGNMENT.test(text));
  return [{ kind: "command", words: operands.slice(at), variables, ...(cwd && { cwd }) }];
}

function privilege(short: string, long = ""): Rule {
  return {
    posix: true,
    short,
    ...(long !== "" && { long }),
    does: OTHER_USER,
    effects: (_, options) => [
      ...(has(options, "e", "edit") ? writes(options.operands) : []),
      ...afterAssignments(options.operands),
    ],
  };
}

/** The words of its input are not known. With a mark, each is a part of one word. */
const xargs: Rule = {
  posix: true,
  short: "0a:d:E:e::I:i::L:l::n:oP:prs:txJ:R:S:",
  long: "null arg-file= delimiter= eof=? replace=? max-lines=? max-args= open-tty max-procs= interactive no-run-if-empty max-chars= verbose exit show-limits process-slot-var=",
  effects: (_, options) => {
    const [mark] = valuesOf(options, "I", "i", "replace", "J").map(({ text }) => text || "{}");
    const command = options.operands.length > 0 ? options.operands : [knownArg("echo")];
    const words =
      mark === undefined
        ? [...command, UNKNOWN_ARGS]
        : command.map((word) =>
            word.text.includes(mark) ? { ...UNKNOWN_ARG, text: word.text.replaceAll(mark, UNKNOWN) } : word,
          );
    return [...reads(valuesOf(options, "a", "arg-file")), { kind: "command", words, input: { kind: "none" } }];
  },
};

const watch: Rule = {
  posix: true,
  short: "bcCd::egn:pq:rtxhv",
  long: "beep color no-color differences=? errexit chgexit interval= precise equexit= no-rerun no-title no-wrap exec",
  effects: (_, options) => {
    if (has(options, "x", "exec")) return [{ kind: "command", words: options.operands }];
    return [{ kind: "shell", code: options.operands.map(({ text }) => text).join(" ") }];
  },
};

export const wrappers: ReadonlyMap<string, Program> = ruleTable({
  env,
  sudo: privilege(
    "AbBC:D:EeKkg:Hh:iklNnPp:R:r:SsT:t:U:u:Vv",
    "askpass background bell close-from= chdir= preserve-env=? edit group= help set-home host= login list non-interactive preserve-groups prompt= chroot= remove-timestamp reset-timestamp role= stdin shell type= command-timeout= other-user= user= validate version",
  ),
  doas: privilege("C:Lnsu:a:"),
  pkexec: privilege("u:", "user= disable-internal-agent keep-cwd"),
  run0: privilege("u:g:D:", "user= group= chdir= unit= property= setenv="),
  "su runuser": {
    short: "ls:mpPg:",
    long: "login shell= group=",
    does: OTHER_USER,
    options: { "c: command=": "shell" },
  },
  nice: { short: "n:0123456789", long: "adjustment=", wraps: 0 },
  "nohup caffeinate eatmydata unbuffer": { short: "disumegv", wraps: 0, does: CHANGE },
  setsid: { short: "cfw", long: "ctty fork wait", wraps: 0 },
  time: {
    short: "apqvf:V",
    long: "append portability quiet verbose format=",
    options: { "o: output=": "write" },
    wraps: 0,
  },
  "timeout gtimeout": { short: "fk:s:vp", long: "foreground kill-after= preserve-status signal= verbose", wraps: 1 },
  /** On macOS it starts a program; on Linux it takes no word. */
  arch: { wraps: 0 },
  stdbuf: { short: "i:o:e:", long: "input= output= error=", wraps: 0 },
  "nyc c8 bear": { short: "r:n:x:t:", long: "reporter= include= exclude= all check-coverage", does: CHANGE, wraps: 0 },
  "cross-env": { posix: true, effects: (_, { operands }) => afterAssignments(operands) },
  "xargs gxargs": xargs,
  watch,
});
