/** Guarding a change: the file must hold what the change was made for. */
import { failure } from "./file-failure.ts";
import type { ExpectedText, FileFailure } from "./host.ts";

/** `present` is what was read of the file just now. Gives why it must not be changed; undefined: it may be. */
export function conflictWith(
  path: string,
  present: { readonly ok: true; readonly text: string } | FileFailure,
  expected: ExpectedText,
): FileFailure | undefined {
  if (!present.ok && present.reason !== "missing") return present;
  if (expected.kind === "absent") {
    return present.ok ? failure("conflict", `${path} exists by now; read it before changing it.`) : undefined;
  }
  if (!present.ok) return failure("conflict", `${path} is gone by now; it was not written.`);
  return present.text === expected.text ? undefined : changedSince(path);
}

/** Somebody else has written it since the text was read that the change was made for. */
export function changedSince(path: string): FileFailure {
  return failure("conflict", `${path} has changed since it was read; read it again.`);
}
