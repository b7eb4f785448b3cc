/** Where a session works, from the parameters of session/new and session/load. */
import { readMeta } from "../protocol/meta.ts";
import { HermesSessionMeta } from "../protocol/sessions.ts";

export type SessionPlace = {
  /** Absolute folder. */
  readonly cwd: string;
  readonly otherFolders: readonly string[];
  /** False when the editor says that the user has not trusted the workspace. */
  readonly trusted: boolean;
  /** The model that a new session begins with, as `provider:model`; undefined: the configured one. */
  readonly model: string | undefined;
};

export function sessionPlace(params: {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly _meta?: unknown;
}): SessionPlace {
  const ours = readMeta(HermesSessionMeta, params._meta);
  return {
    cwd: params.cwd,
    otherFolders: params.additionalDirectories ?? [],
    // Editors that know no trust have been trusted by being configured.
    trusted: ours?.trusted ?? true,
    model: ours?.model,
  };
}
