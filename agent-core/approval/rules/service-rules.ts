/** Rules for containers, clusters and databases: looking reads, everything else asks. */
import {
  ask,
  askForCode,
  CHANGE,
  type CommandEffect,
  LOOK,
  opaque,
  type Program,
  reads,
  readsSecrets,
  writes,
} from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { MAX_CODE } from "../shell/recorder.ts";
import { type Grammar, readOptions } from "./options.ts";
import { CHANGES, ruleTable } from "./rule.ts";

/** Options before the first word of a command. */
const GLOBAL: Grammar = {
  posix: true,
  open: true,
  short: "H:c:l:n:s:f:p:",
  long: [
    ..."tls host= context= config= log-level= tlscacert= tlscert= tlskey= namespace= kubeconfig= cluster= user= server=".split(
      " ",
    ),
    ..."file= project-name= profile= env-file= project-directory=".split(" "),
  ],
};
/** Options after it whose value is not a word of the command. */
const LOCAL: Grammar = { open: true, short: "n:f:p:", long: "namespace= file= project-name= profile=".split(" ") };
/** Global options that lead to another machine or cluster. */
const ELSEWHERE = /^(?:[Hs]$|host|tls|kubeconfig|server|as|token|config$|username|insecure)/;

/** Options of commands that look: they choose and format. Any other one may read a file, write one or run a program. */
const LOOKING = new Set(
  [
    "a q n l s t f p c v A L R w d r m all quiet last latest size tail since until timestamps follow details filter format",
    "no-trunc no-stream no-color no-log-prefix services images volumes profiles hash human digests depth index protocol",
    "status orphans file project-name profile project-directory debug log-level context cluster user namespace all-namespaces",
    "selector field-selector watch recursive show-labels sort-by no-headers container previous all-containers prefix",
    "limit-bytes max-log-requests since-time client short chunk-size ignore-not-found show-kind show-managed-fields",
    "subresource containers sum api-group namespaced verbs categories revision timeout filename max deployed failed",
    "pending superseded uninstalling uninstalled regexp versions version devel set set-string values show-only include-crds",
    "with-subcharts reverse date request-timeout type",
  ].flatMap((line) => line.split(" ")),
);
/** Values of `-o` that lead to a template in a file. */
const TEMPLATE_FILE = /-file(?:=|$)/;

type Words = {
  readonly words: readonly Arg[];
  readonly elsewhere: Arg | undefined;
  /** Every word is known, and every option only chooses or formats. `output` names a format, not a file. */
  readonly isPlain: (output?: "format") => boolean;
};

function wordsOf(args: readonly Arg[]): Words {
  const { operands, written } = readOptions(args, GLOBAL);
  const [first, ...rest] = operands.filter(({ text }) => text !== "-");
  const name = [...written.keys()].find((each) => ELSEWHERE.test(each));
  const own = readOptions(rest, LOCAL);
  const names = [...written.keys(), ...own.written.keys()];
  return {
    words: first ? [first, ...own.operands] : [],
    elsewhere: name === undefined ? undefined : written.get(name),
    isPlain: (output) =>
      args.every((arg) => isKnown(arg) && !TEMPLATE_FILE.test(arg.text)) &&
      names.every((each) => LOOKING.has(each) || (output !== undefined && /^o(?:utput)?$/.test(each))),
  };
}

/** Their containers have the mounts and rights that a file of the project names. */
const COMPOSE_RUNS: ReadonlySet<string> = new Set("up run create watch".split(" ").map((verb) => `compose ${verb}`));

/** True when the first word, or the first two, are among `commands`. */
function looks(words: readonly Arg[], commands: ReadonlySet<string>): boolean {
  const [first = "", second = ""] = words.map(({ text }) => text);
  return commands.has(first) || commands.has(`${first} ${second}`);
}

const OBJECTS =
  "container image volume network context config node plugin service stack builder buildx manifest system".split(" ");
const OBJECT_LOOKS = "ls list ps inspect logs top stats port diff history df info events show version du".split(" ");
const DOCKER_LOOKS: ReadonlySet<string> = new Set([
  ..."ps images logs inspect version info stats top port history diff events search".split(" "),
  ...OBJECTS.flatMap((object) => OBJECT_LOOKS.map((action) => `${object} ${action}`)),
  ..."ps logs ls images top port version events stats".split(" ").map((action) => `compose ${action}`),
  "scout quickview",
]);

/** `compose config` prints the values of `env_file`, which may lie anywhere; with these options it prints names. */
const COMPOSE_NAMES = /^(?:-q|--(?:quiet|services|images|volumes|profiles|hash(?:=.*)?))$/;

const docker: Program = ({ name, args }) => {
  const { words, elsewhere, isPlain } = wordsOf(args);
  if (words.length === 0) return args.every(isKnown) ? [] : [opaque(`Runs ${name} with words that are not known`)];
  const showsNames = looks(words, COMPOSE_CONFIG) && args.some(({ text }) => COMPOSE_NAMES.test(text));
  if (!elsewhere && (showsNames || looks(words, DOCKER_LOOKS)) && isPlain()) return [LOOK, ...readsSecrets(args)];
  const line = words.map(({ text }) => text).join(" ");
  // Mounts and programs are among the words that a prefix would leave open.
  const grant = /^(?:container )?(?:run|exec|create|cp)\b/.test(line) ? "exact" : "prefix";
  const mounts = args.filter(({ text }) =>
    /^\/(?::|$)|^(?:-v|--volume=?)\/:|source=\/,|^\/(?:etc|root|home|var\/run\/docker\.sock)?:|--privileged|--pid=host/.test(
      text,
    ),
  );
  return [
    elsewhere
      ? ask(`Runs ${name} against another machine (${shown(elsewhere)})`)
      : ask(`Runs ${name} ${words.slice(0, 3).map(shown).join(" ")}, which can change containers`, grant),
    ...(looks(words, COMPOSE_RUNS) ? [askForCode("Runs the containers that the project describes")] : []),
    ...(/^(?:container )?cp /.test(line) ? writes(words.slice(-1).filter(({ text }) => !/^[^/]*:/.test(text))) : []),
    ...mounts.map((arg) => opaque(`Gives a container access to this machine's files or processes (${shown(arg)})`)),
    ...(mounts.length > 0 ? inner(args, mounts) : []),
  ];
};

/**
 * The command in a container that has this machine's files is judged as if it ran on this machine. Every word may be
 * its start, because the grammar of the options before it is not read.
 */
function inner(args: readonly Arg[], mounts: readonly Arg[]): readonly CommandEffect[] {
  const targets = mounts.flatMap(({ text }) => /(?:^|[=,])\/:(\/[\w./-]+)/.exec(text)?.[1] ?? []);
  const onHost = (text: string) => {
    const target = targets.find((folder) => text === folder || text.startsWith(`${folder}/`));
    return target === undefined ? text : text.slice(target.length) || "/";
  };
  const words = args.map(({ text }) => onHost(text)).map((text) => (/\s/.test(text) ? quoted(text, targets) : text));
  const starts: CommandEffect[] = [];
  // With more starts than one verdict reads, the walk gives up and asks.
  for (let at = 0, length = 0; at < words.length && length <= MAX_CODE; at += 1) {
    const code = words.slice(at).join(" ");
    length += code.length;
    starts.push({ kind: "shell", code, escalateOnly: true });
  }
  return starts;
}

function quoted(text: string, targets: readonly string[]): string {
  return `'${targets.reduce(toRoot, text)}'`;
}

function toRoot(text: string, target: string): string {
  return text.replaceAll(target, "/");
}

const COMPOSE_CONFIG: ReadonlySet<string> = new Set(["compose config", "compose convert"]);

const KUBE_LOOKS: ReadonlySet<string> = new Set([
  ..."get describe logs top version api-resources api-versions explain cluster-info events diff".split(" "),
  ..."view current-context get-contexts get-clusters get-users".split(" ").map((action) => `config ${action}`),
  "auth can-i",
  "rollout status",
  "rollout history",
]);

const kubectl: Program = ({ name, args }) => {
  const { words, elsewhere, isPlain } = wordsOf(args);
  if (words.length === 0) return args.every(isKnown) ? [] : [opaque(`Runs ${name} with words that are not known`)];
  if (elsewhere) return [ask(`Runs ${name} against another cluster (${shown(elsewhere)})`)];
  const secret =
    words.some(({ text }) => /^secrets?(?:\/|$)/.test(text)) ||
    args.some(({ text }) => text === "--raw" || text.startsWith("--raw="));
  if (!secret && looks(words, KUBE_LOOKS) && isPlain("format")) return [LOOK, ...readsSecrets(args)];
  return [ask(`Runs ${name} ${words.slice(0, 3).map(shown).join(" ")} on a cluster`, "prefix")];
};

const HELM_LOOKS: ReadonlySet<string> = new Set([
  ..."list ls status get history show search version lint template env".split(" "),
  "repo list",
  "dependency list",
]);

const helm: Program = ({ name, args }) => {
  const { words, elsewhere, isPlain } = wordsOf(args);
  if (!elsewhere && looks(words, HELM_LOOKS) && isPlain("format")) return [LOOK, ...readsSecrets(args)];
  return [ask(`Runs ${name} ${words.slice(0, 2).map(shown).join(" ")} on a cluster`, "prefix")];
};

export const containers: ReadonlyMap<string, Program> = ruleTable({
  "docker podman nerdctl": docker,
  "docker-compose": (call) => docker({ ...call, args: [knownArg("compose"), ...call.args] }),
  "kubectl oc k": kubectl,
  helm,
});

const SELECTS =
  /^\s*(?:select|explain(?!\s+analyze\s+(?!select))|show|describe|desc|values|table|pragma\s+(?:table_info|index_list|database_list|foreign_key_list|table_list|integrity_check|user_version|page_count)\b|with\b(?![\s\S]*\b(?:insert|update|delete)\b))/i;
const SIDE_EFFECTS =
  /\binto\b|\bfor\s+update\b|\b(?:pg_|lo_|dblink|load_file|load_extension|writefile|readfile|edit|sys_exec|sys_eval|xp_|set_config|setval|nextval|fts3_tokenizer|copy|program|outfile|dumpfile)/i;
const DOT_LOOKS =
  /^\.(?:tables|schema|databases|indexes|indices|help|show|headers|mode|dbinfo|stats|width|fullschema|version)\b[^|]*$/;
const META_LOOKS = /^\\(?:d\S*|l\+?|conninfo|dt\S*|x|timing|encoding|z|sf|sv)(?:\s+[\w.*"]+)*$/;

/** True when the statements only look. */
function onlyLooks(query: string): boolean {
  const plain = query
    .replace(/'(?:[^']|'')*'/g, "''")
    .replace(/--.*$/gm, "")
    .replace(/\/\*[\s\S]*?\*\//g, "");
  const statements = plain
    .split(/;|\n(?=[.\\])/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
  return statements.every((statement) => {
    if (statement.startsWith(".")) return DOT_LOOKS.test(statement);
    if (statement.startsWith("\\")) return META_LOOKS.test(statement);
    return SELECTS.test(statement) && !SIDE_EFFECTS.test(statement) && !statement.includes("\\");
  });
}

function client(options: RegExp, queryIsOperand: boolean): Program {
  return ({ name, args, input }) => {
    if (args.length === 1 && /^(?:-V|--version|--help)$/.test(args[0]?.text ?? "")) return [];
    const queries = args.flatMap((arg, at) => {
      if (options.test(arg.text)) return args.slice(at + 1, at + 2);
      const attached = /^--(?:command|execute|eval|query)=/.exec(arg.text);
      return attached ? [{ ...arg, text: arg.text.slice(attached[0].length) }] : [];
    });
    const operands = args.filter(({ text }) => !text.startsWith("-"));
    const all = queryIsOperand ? [...queries, ...operands.slice(1)] : queries;
    const fromFile = args.some(({ text }) =>
      /^-(?:f|-file|init|-init|o|-output|L)|^--(?:log-file|output|variable|tee)/.test(text),
    );
    if (
      !fromFile &&
      all.length > 0 &&
      all.every((query) => isKnown(query) && onlyLooks(query.text)) &&
      input.kind === "none"
    ) {
      return [CHANGE];
    }
    const texts = [...all.map(({ text }) => text), input.kind === "text" ? input.text : ""];
    const mayEscape = fromFile || input.kind === "data" || texts.some((text) => ESCAPE.test(text));
    return [
      ask(`Runs ${name}: ${all.map(shown).join("; ") || "with what it is given"}`),
      ...(mayEscape ? [askForCode(`${name} may run commands of the shell from it`)] : []),
      ...escapes(texts),
    ];
  };
}

/** Statements with which a client runs a command of the shell, or reads more statements. */
const ESCAPE = /\\|^\s*\.|(?:^|;)\s*(?:system|source)\b|\bprogram\b/im;

/** `\! rm x`, `.shell rm x`: the way out to a shell. */
function escapes(texts: readonly string[]): readonly CommandEffect[] {
  const effects: CommandEffect[] = [];
  for (const text of texts) {
    if (text.includes(UNKNOWN)) effects.push(opaque("Runs a query that is not known before it runs"));
    for (const [, code] of text.matchAll(/(?:\\!|\.(?:shell|system)|program)\s*'?([^'\n]*)/gi)) {
      if (code) effects.push({ kind: "shell", code, escalateOnly: true });
    }
    effects.push(...reads(filesIn(text, READ_FILES)), ...writes(filesIn(text, WRITTEN_FILES)));
  }
  return effects;
}

/** Files that functions and dot commands of SQLite name. */
const READ_FILES =
  /(?:\b(?:readfile|fsdir|load_extension)\s*\(\s*|\.(?:read|import|open|restore|ar)\s[^\n]*?)['"]?([^'"\s)]+)/gi;
const WRITTEN_FILES =
  /(?:\bwritefile\s*\(\s*|\.(?:output|once|log|save|backup|clone|dump|trace|excel)\s(?:\s*-\S+)*\s*)['"]?([^'"\s)]+)/gi;

function filesIn(text: string, pattern: RegExp): readonly Arg[] {
  return [...text.matchAll(pattern)].flatMap(([, path = ""]) => (path === "" ? [] : [knownArg(path)]));
}

const REDIS_LOOKS =
  /^(?:get|mget|keys|scan|exists|type|ttl|pttl|info|ping|dbsize|hget|hgetall|hkeys|hlen|llen|lrange|scard|smembers|zrange|zcard|strlen|memory|time|lastsave|client|config)$/i;

const redis: Program = ({ args }) => {
  const at = args.findIndex(
    (arg, index) => !arg.text.startsWith("-") && !/^-[hpanus]$/.test(args[index - 1]?.text ?? ""),
  );
  const verb = args[at]?.text ?? "";
  const next = args[at + 1]?.text ?? "";
  const looks = REDIS_LOOKS.test(verb) && (!/^(?:client|config)$/i.test(verb) || /^(?:list|get|info|id)$/i.test(next));
  return looks ? [CHANGE] : [ask(`Runs redis-cli ${verb}`.trim())];
};

const copiesOut = ask("Copies out the database {operands}");

export const databases: ReadonlyMap<string, Program> = ruleTable({
  psql: client(/^(?:-\w*c|--command)$/, false),
  "mysql mariadb": client(/^(?:-\w*e|--execute)$/, false),
  sqlite3: client(/^(?:-cmd|--cmd)$/, true),
  sqlite: client(/^-cmd$/, true),
  duckdb: client(/^(?:-c|-cmd)$/, true),
  "clickhouse-client": client(/^(?:-q|--query)$/, false),
  "redis-cli": redis,
  "mongosh mongo": client(/^$/, false),
  dropdb: { does: ask("Deletes the database {operands}") },
  dropuser: { does: ask("Deletes the database user {operands}") },
  createdb: { does: ask("Makes the database {operands}") },
  mysqladmin: { does: ask("Administers MySQL ({operands})") },
  pg_isready: CHANGES,
  "pg_dump mysqldump": { does: copiesOut },
});
