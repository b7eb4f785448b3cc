/** Makes random shell scripts out of stub commands: every way of running a command that bash has, nested in each other. */
import type { Random } from "./random.ts";

/** Commands that exist as stubs; real names, so that the tables of programs are in play. */
export const STUBS = ["rm", "ls", "git", "curl", "cat", "grep", "npm", "kill", "dd", "mycmd"] as const;
const WORDS = ["a", "-rf", "b c", "/x/y", "it's", "$no", "*", "a;b", "-n", "x=1", "", "~", "{a}", "#h", "\\", "!"];

/** A script; `depth` bounds its nesting. */
export function randomScript(random: Random, depth = 3): string {
  const count = 1 + random.below(3);
  return Array.from({ length: count }, () => statement(random, depth)).join(random.pick(["; ", "\n", " && ", "\n\n"]));
}

function statement(random: Random, depth: number): string {
  return depth <= 0 ? simple(random, 0) : random.pick(STATEMENTS)(random, depth - 1);
}

type Maker = (random: Random, depth: number) => string;

const STATEMENTS: readonly Maker[] = [
  simple,
  simple,
  simple,
  (random, depth) => `${statement(random, depth)} | ${simple(random, depth)}`,
  (random, depth) => `${simple(random, depth)} && ${simple(random, depth)}`,
  (random, depth) => `${simple(random, depth)} || ${simple(random, depth)}`,
  (random, depth) => `( ${statement(random, depth)} )`,
  (random, depth) => `{ ${statement(random, depth)}; }`,
  (random, depth) => `! ${simple(random, depth)}`,
  (random, depth) => `if ${simple(random, depth)}; then ${statement(random, depth)}; else ${simple(random, depth)}; fi`,
  (random, depth) => `for v in one two; do ${simple(random, depth)} "$v"; done`,
  (random, depth) => `for v in ${random.pick(STUBS)} ${random.pick(STUBS)}; do $v ${argument(random, depth)}; done`,
  (random, depth) => `while ${simple(random, depth)}; do ${statement(random, depth)}; break; done`,
  (random, depth) => `until ${simple(random, depth)}; do break; done`,
  (random, depth) => `case x in y) ;; *) ${statement(random, depth)};; esac`,
  (random, depth) => `f() { ${statement(random, depth)}; }; f ${argument(random, depth)}`,
  (random, depth) => `g() { "$@"; }; g ${simple(random, depth)}`,
  (random, depth) => `x=${quoted(random, random.pick(STUBS))}; $x ${argument(random, depth)}`,
  (random, depth) => `x=${quoted(random, random.pick(STUBS))}; y=$x; "\${y}" ${argument(random, depth)}`,
  (random, depth) => `a=(${random.pick(STUBS)} p q); "\${a[@]}" ${argument(random, depth)}`,
  (random, depth) => `x=${random.pick(STUBS)}zz; \${x%zz} ${argument(random, depth)}`,
  (random, depth) => `x=zz${random.pick(STUBS)}; \${x#*zz} ${argument(random, depth)}; \${x:2} -s`,
  (random) => `set -- ${random.pick(STUBS)} s t; "$@"; $1 "$2"`,
  (random, depth) => `eval ${quoted(random, statement(random, depth))}`,
  (random, depth) => `bash -c ${quoted(random, statement(random, depth))}`,
  (random) => `sh -c ${quoted(random, simple(random, 0))}`,
  (random, depth) => `bash -c '"$@"' zero ${simple(random, Math.min(depth, 0))}`,
  (random, depth) => `bash <<'END'\n${statement(random, depth)}\nEND`,
  (random, depth) => `bash <<< ${quoted(random, statement(random, depth))}`,
  (random, depth) => `echo ${quoted(random, plainCommand(random))} | bash; ${simple(random, depth)}`,
  (random, depth) => `printf '%s\\n' ${quoted(random, plainCommand(random))} | sh; ${simple(random, depth)}`,
  (random, depth) => `$(echo ${random.pick(STUBS)}) ${argument(random, depth)}`,
  (random, depth) => `\`printf %s ${random.pick(STUBS)}\` ${argument(random, depth)}`,
  (random, depth) => `env ${simple(random, depth)}`,
  (random, depth) => `timeout 5 ${simple(random, depth)}`,
  (random, depth) => `command ${simple(random, depth)}`,
  (random, depth) => `( exec ${simple(random, depth)} )`,
  (random, depth) => `trap ${quoted(random, statement(random, depth))} EXIT`,
  (random, depth) =>
    `{${random.pick(STUBS)},${argumentPlain(random)},b${argumentPlain(random)}}; ${simple(random, depth)}`,
  (random) => `mycmd {a}{b,{c,d}e}{f }{g,h} x={1,2}; ${random.pick(STUBS)} }{a,b}} {,z}{{q,r}`,
  (random) => `export x={ls,${random.pick(STUBS)}}; $x a; x="p of=q"; dd of=$x`,
  (random) => `k() { ${random.pick(STUBS)} "$@"; }; k`,
  (random, depth) => `[[ -n $(${statement(random, depth)}) ]] || ${simple(random, depth)}`,
  (random, depth) => `[ -z "$(${simple(random, depth)})" ] && ${simple(random, depth)}`,
  (random, depth) => `: $(( 1 + $(${statement(random, depth)}; echo 1) ))`,
  (random, depth) => `z[$(${simple(random, depth)}; echo 0)]=1`,
  (random, depth) => `: \${unset_name:-$(${statement(random, depth)})}`,
  (random, depth) => `unset w; : \${w:=$(${simple(random, depth)})} "\${w:+\`${simple(random, 0)}\`}"`,
  (random, depth) => `x=abc; : "\${x/b/$(${simple(random, depth)})}" "\${x:$(${simple(random, 0)}; echo 1)}"`,
  (random, depth) => `cat < <(${statement(random, depth)})`,
  (random, depth) => `${simple(random, depth)} > >(${simple(random, 0)}) ; wait`,
  (random, depth) => `cat <<END\n$(${statement(random, depth)}) \`${simple(random, 0)}\`\nEND`,
  (random, depth) => `cat <<'END'\n$(${statement(random, depth)})\nEND`,
  (random, depth) => `time ${simple(random, depth)}`,
  (random, depth) => `${simple(random, depth)} & wait`,
  (random, depth) => `coproc ${simple(random, depth)}; wait`,
  (random, depth) => `select v in q; do ${simple(random, depth)}; break; done <<< 1`,
  (random, depth) => `for ((i = 0; i < 1; i++)); do ${statement(random, depth)}; done`,
  (random, depth) => `declare d=$(${simple(random, depth)}); export e="$(${simple(random, 0)})"`,
  (random, depth) => `local_f() { local l=$(${simple(random, depth)}); }; local_f`,
];

/** A simple command; its word is disguised now and then. */
function simple(random: Random, depth: number): string {
  const args = Array.from({ length: random.below(3) }, () => argument(random, depth));
  const prefix = random.chance(0.1) ? `V=${argument(random, depth)} ` : "";
  const suffix = random.chance(0.1) ? " 2>/dev/null" : "";
  return `${prefix}${disguised(random, random.pick(STUBS))} ${args.join(" ")}${suffix}`;
}

function plainCommand(random: Random): string {
  return `${random.pick(STUBS)} ${argumentPlain(random)}`;
}

function argumentPlain(random: Random): string {
  return random.pick(["a", "b", "x-y", "p1"]);
}

function argument(random: Random, depth: number): string {
  if (depth > 0 && random.chance(0.2)) {
    const inner = statement(random, depth - 1);
    return random.chance(0.5) ? `"$(${inner})"` : `$(${inner})`;
  }
  return quoted(random, random.pick(WORDS));
}

/** Text, quoted or escaped in one of the ways that a shell reads literally. */
export function quoted(random: Random, text: string): string {
  const ways = [
    () => `'${text.replaceAll("'", "'\\''")}'`,
    () => `"${text.replace(/[\\"$`]/g, "\\$&")}"`,
    () => `$'${text.replace(/[\\']/g, "\\$&").replaceAll("\n", "\\n")}'`,
    () => (text === "" || text.includes("\n") ? `'${text.replaceAll("'", "'\\''")}'` : text.replace(/[^\w]/g, "\\$&")),
  ];
  return random.pick(ways)();
}

/** A command word that is still the same command for the shell. */
export function disguised(random: Random, word: string): string {
  const at = 1 + random.below(Math.max(1, word.length - 1));
  const [head, tail] = [word.slice(0, at), word.slice(at)];
  const ways = [
    () => word,
    () => word,
    () => word,
    () => `\\${word}`,
    () => `'${word}'`,
    () => `${head}''${tail}`,
    () => `"${head}"${tail}`,
    () => `${head}\\\n${tail}`,
    () => `$'\\x${word.charCodeAt(0).toString(16)}'${word.slice(1)}`,
  ];
  return random.pick(ways)();
}
