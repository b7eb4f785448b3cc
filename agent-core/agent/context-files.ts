/** A project's instruction files through the host: what an editor has open counts, and nothing before there is trust. */
import type { Host } from "../host/host.ts";
import type { ContextFiles } from "../prompt/project-context.ts";

/** Reading takes no longer than this, wherever the file is; original-agent-facts.md §2.2. Milliseconds. */
const READ_TIMEOUT_MS = 5_000;

const NONE: ContextFiles = {
  read: async () => undefined,
  exists: async () => false,
  list: async () => [],
};

export function contextFiles({ files }: Host, trusted: boolean): ContextFiles {
  if (!trusted) return NONE;
  return {
    async read(path) {
      // An editor is asked only for what is there: most of the names that are looked for are not.
      if ((await files.stat(path))?.kind !== "file") return undefined;
      const read = await files.readText(path, AbortSignal.timeout(READ_TIMEOUT_MS)).catch(() => undefined);
      return read?.ok ? read.text : undefined;
    },
    exists: async (path) => (await files.stat(path)) !== undefined,
    list: (folder) => files.list(folder),
  };
}
