/** Words of a call that no rule describes: files that the program may read, and commands that it may run. */
import { basename } from "node:path";
import type { Call, CommandEffect } from "../command-effect.ts";
import { heldBackWord, judgePath } from "../judge-path.ts";
import { isHiddenFolder } from "../read-places.ts";
import { isSecretName } from "../secret-paths.ts";
import { type Arg, afterPrefix, knownArg, shown } from "./arg.ts";
import { foldersOf } from "./run-effects.ts";
import type { Setting, Walk } from "./shell-state.ts";

/** Longer words are texts: messages, bodies of requests. */
const MAX_WORD = 1_000;

/** Starts of a word at which a path may begin: the word, an option's value, a file after `@`. */
const PATH_STARTS = /^(?:-[A-Za-z](?=[./~])|[^=]*=)?(?:@|file:\/\/)?/;

/** Judges the files that the words of a call name, whatever option they belong to. */
export function judgeUnread(call: Call, effects: readonly CommandEffect[], setting: Setting, walk: Walk): void {
  judgeHomeWords(call, effects, setting, walk);
  judgeNamedSecrets(call, effects, setting, walk);
  blockTexts(call, effects, walk);
}

const QUOTED = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`([^`]*)`/g;
/** Texts of one call that are read as shell code. */
const MAX_TEXTS = 8;

/** Unread code that holds a text which would wipe the machine as a command: `os.system("rm -rf ~")`. */
function blockTexts({ args, input }: Call, effects: readonly CommandEffect[], { record, wipes }: Walk): void {
  if (!effects.some((effect) => effect.kind === "opaque" || (effect.kind === "ask" && effect.runsCode))) return;
  const words = [...args.map(({ text }) => text), ...(input.kind === "text" ? [input.text] : [])];
  const texts = words
    .filter((word) => /\s|\(/.test(word) && word.length <= MAX_WORD)
    .flatMap((word) => {
      const quoted = [...word.matchAll(QUOTED)].map(([, ...found]) => found.find((text) => text !== undefined) ?? "");
      return [word.replace(/^--?[\w-]+=/, ""), ...quoted, quoted.join(" ")];
    });
  for (const text of texts.filter((each) => each.includes(" ")).slice(0, MAX_TEXTS)) {
    const reason = wipes(text);
    if (reason !== undefined) record.block(reason);
  }
}

/**
 * A rule need not say what each word means to a program that runs code of the project or changes it. Words that lead into
 * a home are judged as files that it reads.
 */
function judgeHomeWords(
  { name, args }: Call,
  effects: readonly CommandEffect[],
  setting: Setting,
  { scope, record }: Walk,
): void {
  if (name !== "git" && !effects.some(({ kind }) => /^(?:project|change|look|script)$/.test(kind))) return;
  const isInHome = ({ text }: Arg) =>
    text.length <= MAX_WORD && foldersOf(text, setting.state)?.some((path) => isHiddenFolder(path, scope)) === true;
  const words = args.flatMap((arg) => [arg, pathOf(arg)]);
  // Some programs expand a `~` that the shell left.
  const found = words.map((word) => ({ ...word, text: word.text.replace(/^~(?=\/|$)/, scope.home) })).find(isInHome);
  if (found) judgePath({ kind: "read", path: found }, { scope, record, cwds: setting.state.cwds });
}

function pathOf(arg: Arg): Arg {
  return afterPrefix(arg, PATH_STARTS.exec(arg.text)?.[0].length ?? 0);
}

/** Programs that open none of the files that their words name, or whose rules judge every such word. */
const SILENT = new Set("echo printf find fd fdfind git basename dirname which type ln mkdir".split(" "));
/** Options whose value is a file to leave out. */
const EXCLUDES = /^(?:--(?:exclude(?:-dir)?|ignore(?:-glob|-pattern)?)|-[xI])(?:=|$)/;

/**
 * A word that names a secret file is a read of that file, unless an effect says what happens to it. Code is cut into
 * pieces, because a program that runs code may open any file that its text names.
 */
function judgeNamedSecrets(
  { name, args }: Call,
  effects: readonly CommandEffect[],
  setting: Setting,
  { scope, record }: Walk,
): void {
  // The values of its options are files that it reads.
  const isSilent = ({ text }: Arg) => SILENT.has(name) && (name !== "git" || !text.startsWith("-"));
  const { described, codes, runsCode } = factsOf(effects);
  for (const [at, arg] of args.entries()) {
    if (isSilent(arg) || EXCLUDES.test(arg.text) || EXCLUDES.test(args[at - 1]?.text ?? "")) continue;
    if (codes.some((code) => code.includes(arg.text))) continue;
    const texts = runsCode ? arg.text.split(/[^\w.\-/~]+/) : [arg.text, pathOf(arg).text];
    const held = runsCode ? heldBackWord(texts.map(knownArg), { scope, record, cwds: setting.state.cwds }) : undefined;
    if (held) record.askUnknown(`Runs code with ${name} that names ${shown(held)}, which asks before it is changed`);
    const found = texts.find((text) => isSecretName(basename(text)) && !described.has(text));
    if (found !== undefined)
      judgePath({ kind: "read", path: knownArg(found) }, { scope, record, cwds: setting.state.cwds });
  }
}

/** `described`: words that the effects judge. `codes`: shell code that is walked. */
function factsOf(effects: readonly CommandEffect[]) {
  const described = new Set<string>();
  const codes: string[] = [];
  let runsCode = false;
  for (const effect of effects) {
    if ("path" in effect) described.add(effect.path.text);
    if (effect.kind === "command") for (const { text } of effect.words) described.add(text);
    if (effect.kind === "shell") codes.push(effect.code);
    runsCode ||= effect.kind === "opaque" || (effect.kind === "ask" && effect.runsCode === true);
  }
  return { described, codes, runsCode };
}
