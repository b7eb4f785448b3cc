/** Rules for containers, clusters, clouds, forges and databases: looking reads, everything else asks. */
import {
  ask,
  askForCode,
  CHANGE,
  type CommandEffect,
  LOOK,
  opaque,
  type Program,
  readsSecrets,
  writes,
} from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { type Grammar, readOptions } from "./options.ts";
import { CHANGES, ruleTable } from "./rule.ts";
import { mayRun } from "./wrapper-rules.ts";

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

/** Options of the tools of forges, which choose and format what is shown. */
const FORGE_LOOKING = new Set(
  [
    "L s a A B H S l q c R p u b e j d i P F t v h limit state assignee author base head search label json jq template",
    "comments repo patch name-only color watch required interval branch workflow user event status created commit log",
    "log-failed job attempt exit-status order sort draft closed visibility language topic archived fork source no-archived",
    "include paginate slurp preview cache all active mine group per-page page milestone app exclude-drafts",
    "exclude-pre-releases version help",
  ].flatMap((line) => line.split(" ")),
);

/** All words with each of the others behind them. */
function pairs(first: string, second: string): readonly string[] {
  return first.split(" ").flatMap((one) => second.split(" ").map((other) => `${one} ${other}`));
}

type Service = {
  /** First words, or first two, of calls that only look. */
  readonly looks: readonly string[];
  /** Clause about every other call. */
  readonly does: string;
  readonly options?: ReadonlySet<string>;
  /** `-o` names a format, not a file. */
  readonly formats?: true;
  /** A call with such a word does not only look. */
  readonly odd?: RegExp;
  /** These first words are granted with all their words, among which are mounts and programs. */
  readonly exact?: RegExp;
};

/** The words of a command without options and their values. */
function wordsOf(args: readonly Arg[]) {
  const { operands, written } = readOptions(args, GLOBAL);
  const [first, ...rest] = operands.filter(({ text }) => text !== "-");
  const own = readOptions(rest, LOCAL);
  const elsewhere = [...written].find(([name]) => ELSEWHERE.test(name))?.[1];
  return { words: first ? [first, ...own.operands] : [], names: [...written.keys(), ...own.written.keys()], elsewhere };
}

function service({ looks, does, options = LOOKING, formats, odd = /^(?!)/, exact = /^(?!)/ }: Service): Program {
  const looking = new Set(looks);
  const listed = formats ? new Set([...options, "o", "output"]) : options;
  return ({ name, args }) => {
    const { words, names, elsewhere } = wordsOf(args);
    const [first = "", second = ""] = words.map(({ text }) => text);
    if (first === "") return args.every(isKnown) ? [] : [opaque(`Runs ${name} with words that are not known`)];
    if (elsewhere && options === LOOKING) return [ask(`Runs ${name} against another machine (${shown(elsewhere)})`)];
    const isPlain = args.every((arg) => isKnown(arg) && !TEMPLATE_FILE.test(arg.text) && !odd.test(arg.text));
    const isLook = looking.has(first) || looking.has(`${first} ${second}`);
    if (isLook && isPlain && names.every((each) => listed.has(each))) return [LOOK, ...readsSecrets(args)];
    const line = words.slice(0, 3).map(shown).join(" ");
    return [ask(`Runs ${name} ${line}, which ${does}`, exact.test(`${first} ${second}`) ? "exact" : "prefix")];
  };
}

const OBJECTS =
  "container image volume network context config node plugin service stack builder buildx manifest system";
const dockerCalls = service({
  looks: [
    ..."ps images logs inspect version info stats top port history diff events search".split(" "),
    ...pairs(OBJECTS, "ls list ps inspect logs top stats port diff history df info events show version du"),
    ...pairs("compose", "ps logs ls images top port version events stats"),
    "scout quickview",
  ],
  does: "can change containers",
  exact: /^(?:container )?(?:run|exec|create|cp)\b/,
});

/** `compose config` prints the values of `env_file`, which may lie anywhere; with these options it prints names. */
const COMPOSE_NAMES = /^(?:-q|--(?:quiet|services|images|volumes|profiles|hash(?:=.*)?))$/;
/** Their containers have the mounts and rights that a file of the project names. */
const COMPOSE_RUNS = /^(?:.* )?compose (?:.* )?(?:up|run|create|watch)\b/;
const MOUNT =
  /^\/(?::|$)|^(?:-v|--volume=?)\/:|source=\/,|^\/(?:etc|root|home|var\/run\/docker\.sock)?:|--privileged|--pid=host/;

const docker: Program = (call) => {
  const { args, name } = call;
  const line = args.map(({ text }) => text).join(" ");
  if (/^compose (?:config|convert)\b/.test(line) && args.every(isKnown))
    return args.some(({ text }) => COMPOSE_NAMES.test(text))
      ? [LOOK, ...readsSecrets(args)]
      : [ask(`Runs ${name} compose config, which prints the values of variables`)];
  const mounts = args.filter(({ text }) => MOUNT.test(text));
  return [
    ...dockerCalls(call),
    ...(COMPOSE_RUNS.test(line) ? [askForCode("Runs the containers that the project describes")] : []),
    ...(/^(?:container )?cp /.test(line) ? writes(args.slice(-1).filter(({ text }) => !/^[^/]*:/.test(text))) : []),
    ...mounts.map((arg) => opaque(`Gives a container access to this machine's files or processes (${shown(arg)})`)),
    ...(mounts.length > 0 ? mayRun(args.map((arg) => onHost(arg, mounts))) : []),
  ];
};

/** The command in a container that has this machine's files is judged as if it ran on this machine. */
function onHost(arg: Arg, mounts: readonly Arg[]): Arg {
  const targets = mounts.flatMap(({ text }) => /(?:^|[=,])\/:(\/[\w./-]+)/.exec(text)?.[1] ?? []);
  const text = targets.reduce((left, folder) => left.replaceAll(folder, "/").replace(/^\/\//, "/"), arg.text);
  return { ...arg, text };
}

/** A word of a service's command line whose verb alone looks: `ec2 describe-instances`, `compute instances list`. */
const cloud: Program = ({ name, args }) => {
  const end = args.findIndex(({ text }) => text.startsWith("-"));
  const words = args.slice(0, end < 0 ? undefined : end).map(({ text }) => text);
  const at = words.findIndex((word) => (name === "aws" ? CLOUD_VERB : /^(?:list|describe|show)$/).test(word));
  const isVerb = name === "aws" ? at === 1 : at > 0;
  const isNamed = words.slice(0, at).every((word) => /^[a-z][\w-]*$/.test(word) && !CLOUD_SECRET.test(word));
  const isPlain = args.every((arg) => isKnown(arg) && !CLOUD_ODD.test(arg.text)) && words.length - at <= 2;
  if (isVerb && isNamed && isPlain && !CLOUD_SECRET.test(words[at] ?? "")) return [LOOK];
  return [ask(`Runs ${name} ${words.slice(0, 3).join(" ")} on a cloud account`)];
};

const CLOUD_VERB = /^(?:(?:list|describe)-[\w-]+|ls|get-caller-identity)$/;
const CLOUD_SECRET = /secret|credential|token|key|password|login|ssm|kms/;
/** Some options name a file or another server, and values with these marks are the text of a file, or a place. */
const CLOUD_ODD =
  /^--[\w-]*(?:endpoint|file|cli-input|verify|bundle|debug|impersonat|http|url|proxy|token)|file(?:b)?:\/\/|(?:^|=)@|^s3:/;

const forgeCalls = service({
  looks: [
    ...pairs(
      "pr mr issue run repo release workflow label gist ci pipeline cache project ruleset milestone variable",
      "list view status diff checks ls show watch",
    ),
    ..."status version help search".split(" "),
    "auth status",
  ],
  does: "changes something on another machine",
  options: FORGE_LOOKING,
});

const forge: Program = (call) => {
  const [topic, action, ...rest] = call.args;
  // With an address of its own the call leaves the service that the user chose.
  const isRead = rest.every((arg) => isKnown(arg) && (!arg.text.startsWith("-") || FORGE_READS.test(arg.text)));
  if (topic?.text === "api" && action && isKnown(action) && isRead && !/^-|^graphql$|:\/\//.test(action.text))
    return [LOOK];
  const adds = /^(?:extension|ext|alias)$/.test(topic?.text ?? "");
  return [...forgeCalls(call), ...(adds ? [askForCode(`Adds a command to ${call.name}, whose code may run`)] : [])];
};

const FORGE_READS = /^(?:-[iqpt]|--(?:include|jq|paginate|template|slurp|preview|cache))/;

export const containers: ReadonlyMap<string, Program> = ruleTable({
  "docker podman nerdctl": docker,
  "docker-compose": (call) => docker({ ...call, args: [knownArg("compose"), ...call.args] }),
  "kubectl oc k": service({
    looks: [
      ..."get describe logs top version api-resources api-versions explain cluster-info events diff".split(" "),
      ...pairs("config", "view current-context get-contexts get-clusters get-users"),
      ...["auth can-i", "rollout status", "rollout history"],
    ],
    does: "changes a cluster or shows its secrets",
    formats: true,
    odd: /^--raw|(?:^|,)secrets?(?:$|[./,])/i,
    exact: /^exec\b/,
  }),
  helm: service({
    looks: [
      ..."list ls status get history show search version lint template env".split(" "),
      "repo list",
      "dependency list",
    ],
    does: "changes a cluster",
    formats: true,
  }),
  "gh glab": forge,
  "aws gcloud az doctl": cloud,
});

const SELECTS =
  /^\s*(?:select|explain(?!\s+analyze\s+(?!select))|show|describe|desc|values|table|pragma\s+(?:table_info|index_list|database_list|foreign_key_list|table_list|integrity_check|user_version|page_count)\b|with\b(?![\s\S]*\b(?:insert|update|delete)\b))/i;
const SIDE_EFFECTS =
  /\binto\b|\bfor\s+update\b|\b(?:pg_|lo_|dblink|load_file|load_extension|writefile|readfile|edit|sys_exec|sys_eval|xp_|set_config|setval|nextval|fts3_tokenizer|copy|program|outfile|dumpfile)/i;
/** Commands of the clients that only look. */
const CLIENT_LOOKS =
  /^(?:\.(?:tables|schema|databases|indexes|indices|help|show|headers|mode|dbinfo|stats|width|fullschema|version)\b[^|]*|\\(?:d\S*|l\+?|conninfo|x|timing|encoding|z|sf|sv)(?:\s+[\w.*"]+)*)$/;
/** Statements with which a client runs a command of the shell, or reads and writes files. */
const ESCAPE = /\\|^\s*\.|(?:^|;)\s*(?:system|source)\b|\bprogram\b|\b(?:readfile|writefile|fsdir|load_extension)\b/im;

/** True when the statements only look. */
function onlyLooks(query: string): boolean {
  const plain = query
    .replace(/'(?:[^']|'')*'/g, "''")
    .replace(/--.*$/gm, "")
    .replace(/\/\*[\s\S]*?\*\//g, "");
  const statements = plain.split(/;|\n(?=[.\\])/).map((statement) => statement.trim());
  return statements.every((statement) => {
    if (statement === "" || /^[.\\]/.test(statement)) return statement === "" || CLIENT_LOOKS.test(statement);
    return SELECTS.test(statement) && !SIDE_EFFECTS.test(statement) && !statement.includes("\\");
  });
}

/** `options`: those with a query. */
function client(options: RegExp, queryIsOperand = false): Program {
  return ({ name, args, input }) => {
    const queries = args.flatMap((arg, at) => {
      if (options.test(arg.text)) return args.slice(at + 1, at + 2);
      const attached = /^--(?:command|execute|eval|query)=/.exec(arg.text)?.[0];
      return attached === undefined ? [] : [afterPrefix(arg, attached.length)];
    });
    const operands = args.filter(({ text }) => !text.startsWith("-"));
    const all = queryIsOperand ? [...queries, ...operands.slice(1)] : queries;
    const fromFile = args.some(({ text }) =>
      /^-(?:f|-file|init|-init|o|-output|L)|^--(?:log-file|output|variable|tee)/.test(text),
    );
    const isLook = all.length > 0 && all.every((query) => isKnown(query) && onlyLooks(query.text));
    if (isLook && !fromFile && input.kind === "none") return [CHANGE];
    const texts = [...all.map(({ text }) => text), ...(input.kind === "text" ? [input.text] : [])];
    const isOpen = fromFile || input.kind === "data";
    const mayEscape = isOpen || texts.some((text) => ESCAPE.test(text) || text.includes(UNKNOWN));
    return [
      ask(`Runs ${name}: ${all.map(shown).join("; ") || "with what it is given"}`),
      ...(mayEscape ? [opaque(`${name} may run commands of the shell, or change files, from what it is given`)] : []),
      ...texts.flatMap(escapes),
    ];
  };
}

/** `\! rm x`, `.shell rm x`: the way out to a shell. */
function escapes(text: string): readonly CommandEffect[] {
  const codes = [...text.matchAll(/(?:\\!|\.(?:shell|system)|program)\s*'?([^'\n]*)/gi)].map(([, code = ""]) => code);
  return codes.filter(Boolean).map((code) => ({ kind: "shell", code, escalateOnly: true }));
}

const REDIS_LOOKS =
  /^(?:get|mget|keys|scan|exists|type|ttl|pttl|info|ping|dbsize|hget|hgetall|hkeys|hlen|llen|lrange|scard|smembers|zrange|zcard|strlen|memory|time|lastsave|(?:client|config) (?:list|get|info|id))(?: |$)/i;

const redis: Program = ({ args }) => {
  const at = args.findIndex(
    (arg, index) => !arg.text.startsWith("-") && !/^-[hpanus]$/.test(args[index - 1]?.text ?? ""),
  );
  const words =
    at < 0
      ? ""
      : args
          .slice(at, at + 2)
          .map(shown)
          .join(" ");
  return REDIS_LOOKS.test(words) ? [CHANGE] : [ask(`Runs redis-cli ${words}`.trim())];
};

export const databases: ReadonlyMap<string, Program> = ruleTable({
  psql: client(/^(?:-\w*c|--command)$/),
  "mysql mariadb": client(/^(?:-\w*e|--execute)$/),
  "sqlite3 sqlite": client(/^--?cmd$/, true),
  duckdb: client(/^(?:-c|-cmd)$/, true),
  "clickhouse-client": client(/^(?:-q|--query)$/),
  "redis-cli": redis,
  "mongosh mongo": client(/^(?!)/),
  "dropdb dropuser createdb mysqladmin pg_dump mysqldump": { does: ask("Copies or changes databases ({line})") },
  pg_isready: CHANGES,
});
