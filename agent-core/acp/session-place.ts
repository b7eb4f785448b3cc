/** Where a session works, from the parameters of session/new and session/load. */
import * as z from "zod";

export type SessionPlace = {
  /** Absolute folder. */
  readonly cwd: string;
  readonly otherFolders: readonly string[];
  /** False when the editor says that the user has not trusted the workspace. */
  readonly trusted: boolean;
};

const metaSchema = z.object({ hermes: z.object({ trusted: z.boolean().optional() }) });

export function sessionPlace(params: {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly _meta?: unknown;
}): SessionPlace {
  return {
    cwd: params.cwd,
    otherFolders: params.additionalDirectories ?? [],
    // Editors that know no trust have been trusted by being configured.
    trusted: metaSchema.safeParse(params._meta).data?.hermes.trusted ?? true,
  };
}
