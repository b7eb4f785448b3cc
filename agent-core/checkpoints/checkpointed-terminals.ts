/** Terminals for the tools of one call: scan the workspace before and after each command that may write. */
import { setTimeout as delay } from "node:timers/promises";
import type { CommandExit, HostTerminals } from "../host/terminals/terminals.ts";
import type { CommandWatch } from "./command-watch.ts";

/** A command ends after its changes are logged, but no later than this after its exit. */
const NOTE_MS = 50;

export type CheckpointedTerminals = {
  readonly terminals: HostTerminals;
  readonly watch: CommandWatch;
  /** Id of the tool call. */
  readonly source: string;
  /** True for a command that only reads when it starts in this folder. */
  readonly onlyReads: (command: string, folder: string) => boolean;
  /** Called with errors that did not stop the work. */
  readonly onDefect: (message: string) => void;
};

export function checkpointedTerminals(options: CheckpointedTerminals): HostTerminals {
  const { terminals, watch, source, onlyReads, onDefect } = options;
  const report = (error: unknown): void => onDefect(`The changes of a command are unknown: ${String(error)}`);
  return {
    ...terminals,
    async start(request, signal) {
      // Changes of a background process cannot be distinguished from those of the user.
      if (!request.keepsShell || onlyReads(request.command, request.shell.folder))
        return terminals.start(request, signal);
      await watch.before().catch(report);
      const running = await terminals.start(request, signal).catch((error: unknown) => {
        watch.release();
        throw error;
      });
      let isFollowed = true;
      const note = async (): Promise<void> => {
        if (!isFollowed) return;
        isFollowed = false;
        const noted = watch.after(source).catch(report);
        await Promise.race([noted, delay(NOTE_MS, undefined, { ref: false })]);
      };
      const ended = async (): Promise<CommandExit> => {
        try {
          return await running.exit;
        } finally {
          await note();
        }
      };
      const exit = ended();
      exit.catch(() => undefined); // `exit` rejects for its caller; a lost connection must not be unhandled
      return {
        ...running,
        exit,
        async waitsForInput() {
          const waits = await running.waitsForInput();
          if (waits && isFollowed) {
            // The command becomes a background process.
            isFollowed = false;
            watch.release();
          }
          return waits;
        },
      };
    },
  };
}
