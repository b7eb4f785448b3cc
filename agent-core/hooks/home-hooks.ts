/** The section `hooks` of the home's config.yaml, and the user's consents to its commands. */
import { join } from "node:path";
import * as z from "zod";
import { writeJsonFile } from "../config/home-file.ts";
import { attempt } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { nearName } from "../platform/names.ts";
import { readTextSync } from "../platform/text-file.ts";
import { type CommandHook, MAX_TIMEOUT_SECONDS } from "./command-hook.ts";
import { HOOK_EVENTS } from "./hook.ts";

/** Default of the original Hermes Agent. */
const DEFAULT_TIMEOUT_SECONDS = 60;

const entrySchema = z.object({
  matcher: z.string().optional(),
  command: z.string().refine((command) => command.trim() !== "", "must not be empty"),
  timeout: z.number().positive().default(DEFAULT_TIMEOUT_SECONDS),
  fail_closed: z.boolean().optional(),
  /** Spelling in other agents' files. */
  failClosed: z.boolean().optional(),
});

export type HomeHooks = {
  readonly hooks: readonly CommandHook[];
  /** One line for each entry that cannot be used. */
  readonly problems: readonly string[];
};

/** Reads the section. An entry that cannot be used does not affect the others. */
export function readHomeHooks(section: Readonly<Record<string, unknown>>): HomeHooks {
  const hooks: CommandHook[] = [];
  const problems: string[] = [];
  for (const [name, entries] of Object.entries(section)) {
    const event = HOOK_EVENTS.find((known) => known === name);
    if (event === undefined) {
      const near = nearName(name, HOOK_EVENTS);
      const hint = near === undefined ? `The events are ${HOOK_EVENTS.join(", ")}.` : `Did you mean ${near}?`;
      problems.push(`config.yaml: hooks.${name} is not an event of this version. ${hint}`);
      continue;
    }
    for (const [index, entry] of [entries].flat().entries()) {
      const parsed = entrySchema.safeParse(entry);
      if (parsed.success) {
        const { matcher, command, timeout, fail_closed: failClosed = parsed.data.failClosed ?? false } = parsed.data;
        hooks.push({ event, matcher, command, timeoutSeconds: Math.min(timeout, MAX_TIMEOUT_SECONDS), failClosed });
      } else {
        const reasons = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "entry"}: ${message}`);
        problems.push(`config.yaml: hooks.${event}[${index}] is not used. ${reasons.join("; ")}.`);
      }
    }
  }
  return { hooks, problems };
}

/** Format of the original Hermes Agent; further fields of an approval are kept. */
const allowlistSchema = z.looseObject({
  approvals: z.array(z.looseObject({ event: z.string(), command: z.string() })).catch([]),
});

/** Commands that the user has allowed, once for each event, in the home's `shell-hooks-allowlist.json`. */
export class HookAllowlist {
  readonly #path: string;

  constructor(home: string) {
    this.#path = join(home, "shell-hooks-allowlist.json");
  }

  allows({ event, command }: Pick<CommandHook, "event" | "command">): boolean {
    const { approvals } = allowlistSchema.safeParse(parseJson(readText(this.#path))).data ?? { approvals: [] };
    return approvals.some((approval) => approval.event === event && approval.command === command);
  }

  /** Rejects when the file cannot be written, and with an Error in one line when it is damaged: its consents would be lost. */
  async allow({ event, command }: Pick<CommandHook, "event" | "command">): Promise<void> {
    await withLock(`${this.#path}.lock`, async () => {
      const text = readText(this.#path);
      const list = allowlistSchema.safeParse(text.trim() === "" ? {} : parseJson(text)).data;
      if (list === undefined)
        throw new Error(
          `${this.#path} is damaged, so no consent is added. Correct it or delete it, and allow the hook again.`,
        );
      await writeJsonFile(this.#path, { ...list, approvals: [...list.approvals, { event, command }] });
    });
  }
}

/** Empty while nothing is allowed. */
const readText = (path: string): string => attempt(() => readTextSync(path)) ?? "";
