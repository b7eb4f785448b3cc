/** A project's instruction files through the host: what an editor has open counts, and nothing before there is trust. */
import type { Host } from "../host/host.ts";
import type { ContextFiles } from "../prompt/project-context.ts";

/** Reading takes no longer than this, wherever the file is; original-agent-facts.md §2.2. Milliseconds. */
const READ_TIMEOUT_MS = 5_000;

/** `trusted` is asked at each reading. */
export function contextFiles({ files }: Host, trusted: () => boolean): ContextFiles {
  return {
    async read(path) {
      if (!trusted()) return undefined;
      // An editor is asked only for what is there: most of the names that are looked for are not.
      if ((await files.stat(path))?.kind !== "file") return undefined;
      const read = await files.readText(path, AbortSignal.timeout(READ_TIMEOUT_MS)).catch(() => undefined);
      return read?.ok ? read.text : undefined;
    },
    exists: async (path) => trusted() && (await files.stat(path)) !== undefined,
    list: async (folder) => (trusted() ? files.list(folder) : []),
  };
}
