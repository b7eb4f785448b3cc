/** Database clients: a query that only selects is reading, all else asks. */
import { ask, CHANGE, type CommandEffect, opaque, type Program } from "../command-effect.ts";
import { type Arg, isKnown, shown, UNKNOWN } from "../shell/arg.ts";

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
    return [
      ask(`Runs ${name}: ${all.map(shown).join("; ") || "with what it is given"}`),
      ...escapes([...all.map(({ text }) => text), input.kind === "text" ? input.text : ""]),
    ];
  };
}

/** `\! rm x`, `.shell rm x`: the way out to a shell. */
function escapes(texts: readonly string[]): readonly CommandEffect[] {
  const effects: CommandEffect[] = [];
  for (const text of texts) {
    if (text.includes(UNKNOWN)) effects.push(opaque("Runs a query that is not known before it runs"));
    for (const [, code] of text.matchAll(/(?:\\!|\.(?:shell|system)|program)\s*'?([^'\n]*)/gi)) {
      if (code) effects.push({ kind: "shell", code, raises: true });
    }
  }
  return effects;
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

const destroys = (what: string): Program => {
  return ({ args }) => [
    ask(
      `${what} ${args
        .filter(({ text }: Arg) => !text.startsWith("-"))
        .map(shown)
        .join(" ")}`.trim(),
    ),
  ];
};

export const databases: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["psql", client(/^(?:-\w*c|--command)$/, false)],
  ["mysql", client(/^(?:-\w*e|--execute)$/, false)],
  ["mariadb", client(/^(?:-\w*e|--execute)$/, false)],
  ["sqlite3", client(/^(?:-cmd|--cmd|-cmd)$/, true)],
  ["sqlite", client(/^-cmd$/, true)],
  ["duckdb", client(/^(?:-c|-cmd)$/, true)],
  ["clickhouse-client", client(/^(?:-q|--query)$/, false)],
  ["redis-cli", redis],
  ["mongosh", client(/^$/, false)],
  ["mongo", client(/^$/, false)],
  ["dropdb", destroys("Deletes the database")],
  ["dropuser", destroys("Deletes the database user")],
  ["createdb", destroys("Makes the database")],
  ["mysqladmin", destroys("Administers MySQL:")],
  ["pg_isready", () => [CHANGE]],
  ["pg_dump", destroys("Copies out the database")],
  ["mysqldump", destroys("Copies out the database")],
]);
