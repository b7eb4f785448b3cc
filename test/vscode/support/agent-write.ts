import type { FileFailure, FileWritten, HostFiles } from "../../../agent-core/host/host.ts";

/** A guarded edit by the agent; null stands for no file. The result leaves out the content of the disk. */
export async function agentWrite(
  files: HostFiles,
  path: string,
  { expected, after }: { readonly expected: string | null; readonly after: string | null },
  signal = new AbortController().signal,
): Promise<Omit<FileWritten, "disk"> | FileFailure> {
  const written = await files.guardedWrite({ path, expected, after, purpose: "edit" }, signal);
  if (!written.ok) return written;
  const { disk: _, ...rest } = written;
  return rest;
}
