/** Commit messages for changes that the client reads from git. */
import * as z from "zod";

/** Limit of the diff that a client sends. Characters. */
export const MAX_SENT_DIFF_CHARS = 2_000_000;

export const HermesCommit = z.object({
  /** As `git diff` prints it. */
  diff: z.string().max(MAX_SENT_DIFF_CHARS),
  /** Messages of earlier commits, newest first: the style to follow. */
  recent: z.array(z.string()).readonly(),
  branch: z.string().exactOptional(),
  /** Words that the user has already written. */
  draft: z.string().exactOptional(),
  /** Choice of a model; default: the model of the configuration. */
  model: z.string().exactOptional(),
});
export type HermesCommit = z.infer<typeof HermesCommit>;

/** Requests of the client. */
export const commitMethods = {
  /** Needs no session, and leaves nothing in one. */
  message: { name: "_hermes/commit_message", params: HermesCommit, result: z.object({ message: z.string() }) },
};
