/** Failures of file operations, from the system's error codes. */
import { codeOf, hasCode, messageOf } from "../platform/errors.ts";
import type { FileFailure } from "./host.ts";

const REASONS: Readonly<Record<string, FileFailure["reason"]>> = {
  ENOENT: "missing",
  ENOTDIR: "missing",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
};

/** `action` ends the sentence "… cannot be". */
export function systemFailure(
  path: string,
  error: unknown,
  action: "read" | "written" | "removed" | "moved",
): FileFailure {
  const reason = REASONS[codeOf(error) ?? ""] ?? "failed";
  if (reason === "missing") return failure(reason, `${path} does not exist.`);
  if (hasCode(error, "EROFS")) {
    return failure("denied", `${path} cannot be ${action}: it is on a read-only file system.`);
  }
  if (reason === "denied") return failure(reason, `${path} cannot be ${action}: permission denied.`);
  return failure(reason, `${path} cannot be ${action}: ${messageOf(error)}`);
}

/** `message` is one sentence for the model, naming the path. */
export function failure(reason: FileFailure["reason"], message: string): FileFailure {
  return { ok: false, reason, message };
}
