/** xargs, parallel and watch: they run a command again and again, with words from their input. */
import { ask, CHANGE, type CommandEffect, type Input, opaque, type Program, reads } from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown, UNKNOWN, UNKNOWN_ARGS } from "../shell/arg.ts";
import { has, readOptions, valuesOf } from "./options.ts";

/** More words than this are as good as unknown. */
const MAX_WORDS = 200;

export const xargs: Program = ({ args, input }) => {
  const options = readOptions(args, {
    short: "0a:d:E:e::I:i::L:l::n:oP:prs:txJ:R:S:",
    long: "null arg-file= delimiter= eof=? replace=? max-lines=? max-args= open-tty max-procs= interactive no-run-if-empty max-chars= verbose exit show-limits process-slot-var=".split(
      " ",
    ),
    posix: true,
  });
  const files = valuesOf(options, "a", "arg-file");
  const delimiter = valuesOf(options, "d", "delimiter")[0]?.text ?? (has(options, "0", "null") ? "\0" : undefined);
  const mark = replaceMark(valuesOf(options, "I", "i", "replace", "J"));
  // With a mark each line is one word.
  const added =
    files.length > 0 ? [UNKNOWN_ARGS] : wordsOf(input, delimiter ?? (mark === undefined ? undefined : "\n"));
  const command = options.operands.length > 0 ? options.operands : [knownArg("echo")];
  const lines = mark === undefined ? [[...command, ...added]] : added.map((word) => replaced(command, mark, word));
  return [
    ...reads(files),
    ...options.strange
      .filter((arg) => !command.includes(arg))
      .map((arg) => opaque(`Runs xargs with ${shown(arg)}, an option that is not known here`)),
    ...lines.map((words): CommandEffect => ({ kind: "command", words, input: { kind: "none" } })),
  ];
};

function wordsOf(input: Input, delimiter: string | undefined): readonly Arg[] {
  if (input.kind !== "text" || input.text.includes(UNKNOWN)) return [UNKNOWN_ARGS];
  const pieces = delimiter === undefined ? input.text.split(/\s+/) : input.text.split(delimiter.replace(/^\\n$/, "\n"));
  const words = pieces.map((piece) => piece.replace(/["'\\]/g, "")).filter((piece) => piece !== "");
  return words.length > MAX_WORDS ? [UNKNOWN_ARGS] : words.map((word) => knownArg(word));
}

function replaceMark(values: readonly Arg[]): string | undefined {
  const [value] = values;
  return value && (value.text === "" ? "{}" : value.text);
}

function replaced(command: readonly Arg[], mark: string, word: Arg): readonly Arg[] {
  const value = isKnown(word) ? word.text : UNKNOWN;
  return command.map((part) => {
    if (!part.text.includes(mark)) return part;
    return { text: part.text.replaceAll(mark, () => value), glob: false, splits: false };
  });
}

/** GNU parallel hands the whole line to a shell, with its marks replaced. */
export const parallel: Program = ({ args, input }) => {
  const options = readOptions(args, {
    short: "0j:kqtvuXmn:N:L:I:a:C:d:P:",
    long: "jobs= keep-order quote dry-run verbose ungroup line-buffer bar progress eta halt= joblog= results= retries= timeout= delay= max-args= colsep= arg-file= null no-run-if-empty tag group will-cite pipe nice= load=".split(
      " ",
    ),
    posix: true,
  });
  const texts = options.operands.map(({ text }) => text);
  const at = texts.findIndex((text) => /^:{3,4}\+?$/.test(text));
  const command = at < 0 ? texts : texts.slice(0, at);
  const values =
    at < 0
      ? wordsOf(input, "\n").map(({ text }) => text)
      : texts.slice(at + 1).filter((text) => !text.startsWith(":::"));
  const remote = args.some(({ text }) => /^(?:-S|--sshlogin|--slf|--profile|-J)/.test(text));
  const line = command.join(" ");
  const fill = (value: string) =>
    /\{[^}\s]*\}/.test(line) ? line.replace(/\{[^}\s]*\}/g, () => value) : `${line} ${value}`.trim();
  const open =
    values.length === 0 ||
    values.length > 20 ||
    values.some((value) => value.includes(UNKNOWN)) ||
    texts[at] === "::::";
  // A word from outside stays one word: parallel quotes what it fills in.
  const codes = open
    ? [fill('"$hermes_unknown"')]
    : values.map((value) => fill(command.length === 0 ? value : `'${value.replaceAll("'", "'\\''")}'`));
  if (command.length === 0 && open) return [opaque("Runs what its input holds as shell commands (parallel)")];
  return [
    CHANGE,
    ...(remote ? [ask("Runs commands on other machines")] : []),
    ...options.strange.map((arg) => opaque(`Runs parallel with ${shown(arg)}, an option that is not known here`)),
    ...codes.map((code): CommandEffect => ({ kind: "shell", code })),
  ];
};

/** watch joins its words and hands them to a shell. */
export const watch: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "bcCd::egn:pq:rtxhv",
    long: "beep color no-color differences=? errexit chgexit interval= precise equexit= no-rerun no-title no-wrap exec".split(
      " ",
    ),
    posix: true,
  });
  const strange = options.strange.map((arg) =>
    opaque(`Runs watch with ${shown(arg)}, an option that is not known here`),
  );
  if (has(options, "x", "exec")) return [...strange, { kind: "command", words: options.operands }];
  return [...strange, { kind: "shell", code: options.operands.map(({ text }) => text).join(" ") }];
};
