/** Commands of one call, with the workspace looked at before and after those that do more than read. */
import { setTimeout as delay } from "node:timers/promises";
import type { CommandExit, HostTerminals } from "../host/terminals/terminals.ts";
import type { CommandWatch } from "./command-watch.ts";

/** What a command changed is noted before its end is told, unless that takes longer: then beside what follows. */
const NOTE_MS = 50;

export type CheckpointedTerminals = {
  readonly terminals: HostTerminals;
  readonly watch: CommandWatch;
  /** Id of the tool call. */
  readonly source: string;
  /** Whether a command that starts in this folder changes nothing. */
  readonly onlyReads: (command: string, folder: string) => boolean;
  /** Told of defects that were survived. */
  readonly onDefect: (message: string) => void;
};

export function checkpointedTerminals(options: CheckpointedTerminals): HostTerminals {
  const { terminals, watch, source, onlyReads, onDefect } = options;
  const told = (error: unknown): void => onDefect(`What a command changed is not known: ${String(error)}`);
  return {
    ...terminals,
    async start(request, signal) {
      // What goes on beside the conversation cannot be told apart from what the user does.
      if (!request.keepsShell || onlyReads(request.command, request.shell.folder))
        return terminals.start(request, signal);
      await watch.before().catch(told);
      const running = await terminals.start(request, signal).catch((error: unknown) => {
        watch.release();
        throw error;
      });
      let isFollowed = true;
      const note = async (): Promise<void> => {
        if (!isFollowed) return;
        isFollowed = false;
        const noted = watch.after(source).catch(told);
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
      exit.catch(() => undefined); // also observed by whoever waits; a lost connection must not count as unhandled
      return {
        ...running,
        exit,
        async waitsForInput() {
          const waits = await running.waitsForInput();
          if (waits && isFollowed) {
            // It becomes a process beside the conversation.
            isFollowed = false;
            watch.release();
          }
          return waits;
        },
      };
    },
  };
}
