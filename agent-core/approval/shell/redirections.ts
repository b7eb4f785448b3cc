/** Redirections: files that are read and written, and what a command finds on its input. */
import type { Redirect, Redirection } from "unbash";
import type { Input } from "../command-effect.ts";
import { judgePath } from "../judge-path.ts";
import { UNKNOWN, UNKNOWN_ARG } from "./arg.ts";
import { expandDocument, expandValue, expandWord } from "./expand-word.ts";
import type { Setting, Walk } from "./walk.ts";

export type Redirected = {
  /** What the command reads; undefined when its input is not redirected. */
  readonly input: Input | undefined;
  /** Its output goes to a file. */
  readonly captured: boolean;
};

const DESCRIPTOR = /^(?:\d+-?|-)$/;

/** Judges the files of the redirections. */
export function redirect(redirections: readonly Redirection[], setting: Setting, walk: Walk): Redirected {
  let input: Input | undefined;
  let captured = false;
  for (const redirection of redirections) {
    if (redirection.type !== "Redirect") {
      input = textInput(redirection, setting, walk);
      continue;
    }
    if (redirectFile(redirection, setting, walk)) input = { kind: "data", from: redirection.target?.text ?? "a file" };
    const descriptor = redirection.descriptor?.type === "FileDescriptor" ? redirection.descriptor.value : 1;
    captured ||= redirection.operator.includes(">") && descriptor !== 2;
  }
  return { input, captured };
}

function textInput(redirection: Exclude<Redirection, Redirect>, setting: Setting, walk: Walk): Input {
  if (redirection.type === "HereDoc") {
    const { text, parts } = redirection.body;
    return { kind: "text", text: expandDocument(text, parts, { setting, walk }).text };
  }
  const { target } = redirection;
  const text = target ? expandValue(target, setting, walk).text : "";
  return text === UNKNOWN ? { kind: "data", from: target?.text ?? "" } : { kind: "text", text };
}

/** True when the command reads from it. */
function redirectFile({ operator, target }: Redirect, setting: Setting, walk: Walk): boolean {
  if (!target) {
    walk.record.askAlways("A redirection has no target");
    return false;
  }
  const words = expandWord(target, setting, walk);
  const path = words.length === 1 ? (words[0] ?? UNKNOWN_ARG) : UNKNOWN_ARG;
  if (operator.endsWith("&") && DESCRIPTOR.test(path.text)) return operator === "<&";
  const judge = { scope: walk.scope, record: walk.record, cwds: setting.state.cwds };
  if (operator.includes("<")) judgePath({ kind: "read", path }, judge);
  if (operator.includes(">")) judgePath({ kind: "write", path }, judge);
  return operator.startsWith("<");
}
