/** System prompt of an agent, and the project's files that it reads. */
import { platform as osPlatform, release } from "node:os";
import { dirname } from "node:path";
import { readByItself } from "../approval/workspace-file.ts";
import { readSoul } from "../config/home.ts";
import type { Host } from "../host/host.ts";
import { findShell } from "../host/terminals/local-backend.ts";
import { type Memory, type MemorySnapshot, memorySnapshot } from "../memory/memory.ts";
import { systemClock } from "../platform/clock.ts";
import { pathBelow } from "../platform/paths.ts";
import { visibleText } from "../platform/visible-text.ts";
import { findThreat } from "../prompt/injection-scan.ts";
import type { ContextFiles } from "../prompt/project-context.ts";
import { Surroundings, type SurroundingsOptions } from "../prompt/surroundings.ts";
import { systemPrompt } from "../prompt/system-prompt.ts";
import type { Tool } from "../tools/tool.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import { Extensions } from "./extensions.ts";

const NOTHING: MemorySnapshot = { memory: undefined, project: undefined, user: undefined };

/** Rejects only on a defect: an extension that fails adds no text. */
export async function buildPrompt(
  { otherFolders = [], platform, clock = systemClock }: AIAgentOptions,
  where: {
    readonly home: string;
    readonly cwd: string;
    readonly tools: readonly Tool[];
    readonly memory: Memory | undefined;
    readonly contextFiles: ContextFiles;
    readonly systemMessage: string | undefined;
    readonly extensions: Extensions;
    readonly surroundings: Surroundings | undefined;
    readonly onDefect: (message: string) => void;
  },
): Promise<string> {
  const { home, cwd, tools, memory, systemMessage, extensions } = where;
  const [soul, context, snapshot, extensionTexts, surroundings] = await Promise.all([
    readSoul(home),
    import("../prompt/project-context.ts").then(({ projectContext }) => projectContext(cwd, where.contextFiles)),
    memory === undefined ? NOTHING : memorySnapshot(memory, { isBad: findThreat, onDefect: where.onDefect }),
    extensions.promptTexts(),
    where.surroundings?.text(),
  ]);
  return systemPrompt({
    soul,
    tools: tools.map(({ name }) => name),
    systemMessage,
    memory: snapshot,
    extensionTexts,
    projectContext: context,
    cwd,
    otherFolders,
    platform,
    surroundings,
    operatingSystem: `${osPlatform()} ${release()}`,
    date: new Date(clock.now()).toISOString().slice(0, 10),
  });
}

/** Compiles the code of a prompt. It reads no file of the project, and asks no editor and no extension. */
export async function rehearsePrompt(options: AIAgentOptions, home: string, cwd: string): Promise<void> {
  const onDefect = (): void => undefined;
  await buildPrompt(options, {
    home,
    cwd,
    contextFiles: NO_FILES,
    onDefect,
    extensions: new Extensions([], onDefect),
    tools: [],
    memory: undefined,
    systemMessage: undefined,
    surroundings: undefined,
  });
}

/** Undefined when the options leave the workspace's state out. */
export function surroundingsOf(
  { surroundings = true, editorFiles, inherited }: AIAgentOptions,
  where: Pick<SurroundingsOptions, "cwd" | "files" | "trusted">,
): Surroundings | undefined {
  if (inherited !== undefined) return inherited.surroundings;
  return surroundings ? new Surroundings({ ...where, shell: findShell().path, editorFiles }) : undefined;
}

/** Instructions of a project that has none. */
export const NO_FILES: ContextFiles = {
  read: async () => undefined,
  exists: async () => false,
  list: async () => [],
};

/** Limit for reading one file of instructions, which may be on another machine. */
const READ_TIMEOUT_MS = 5_000;

type ContextOptions = {
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  readonly trusted: () => boolean;
  /** Gets one line for the user about each file that is not read. */
  readonly report: (line: string) => void;
};

/** The project's instruction files; unsaved text counts. Empty until the user trusts the workspace. */
export function contextFiles({ files }: Host, { roots, trusted, report }: ContextOptions): ContextFiles {
  const reported = new Set<string>();
  return {
    async read(path) {
      if (!trusted()) return undefined;
      // A folder above the workspace, up to the root of its repository, gives only files of its own.
      const isInside = roots.some((root) => pathBelow(root, path) !== undefined);
      const found = readByItself(path, { within: isInside ? roots : [dirname(path)] });
      if (found.ok) {
        const read = await files.readText(path, AbortSignal.timeout(READ_TIMEOUT_MS)).catch(() => undefined);
        return read?.ok && read.source === "editor" ? read.text : found.text;
      }
      if (found.reason !== undefined && !reported.has(path)) {
        reported.add(path);
        report(`Hermes does not read the instructions in ${visibleText(path)}: ${visibleText(found.reason)}.`);
      }
      return undefined;
    },
    exists: async (path) => trusted() && (await files.stat(path)) !== undefined,
    list: async (folder) => (trusted() ? files.list(folder) : []),
  };
}
