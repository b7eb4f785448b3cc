/** Terminals of one session: a backend plans each command, a runner starts it. */
import { livingMembers, livingRelatives } from "../../platform/children/process-tree.ts";
import type { Backend, Runner } from "./backend.ts";
import { childRunner } from "./child-runner.ts";
import { InputWatch, seesWaiting } from "./input-watch.ts";
import type { CommandExit, CommandRequest, HostTerminals, RunningCommand, ShellState } from "./terminals.ts";

/** Exit code of `ssh` when the connection failed. */
const CONNECTION_LOST = 255;

export function sessionTerminals(backend: Backend, runner: Runner): HostTerminals {
  const held = new Set<RunningCommand>();
  return {
    place: backend.place,
    get sandboxes() {
      return backend.sandboxes === true;
    },
    get sandboxState() {
      return backend.sandboxState;
    },
    seesWaiting: seesWaiting && backend.place === undefined,
    open: (cwd, signal) => backend.open(cwd, signal),
    async start(request, signal) {
      const chosen = request.scriptFolder === undefined ? runner : childRunner();
      const command = await startCommand(backend, chosen, request, signal);
      held.add(command);
      return {
        ...command,
        async release() {
          held.delete(command);
          await command.release();
        },
      };
    },
    async dispose() {
      await Promise.allSettled([...held].map((command) => command.kill()));
      await Promise.allSettled([...held].map((command) => command.release()));
      held.clear();
      await backend.dispose();
    },
  };
}

async function startCommand(
  backend: Backend,
  runner: Runner,
  request: CommandRequest,
  signal: AbortSignal,
): Promise<RunningCommand> {
  signal.throwIfAborted();
  if (request.sandbox !== undefined && !backend.sandboxes)
    throw new Error("No sandbox is available to run the command in.");
  const { launch, killElsewhere, shellAfter, inspect, isCurrent } = await backend.plan(
    request,
    runner.givesPty,
    signal,
  );
  signal.throwIfAborted();
  const started = await runner.start(launch, signal);
  const { terminalId, tree } = started;
  const inspected = started.exit.then(() => inspect?.() ?? []);
  inspected.catch(() => undefined); // `inspected` rejects for its caller
  // The command ends after the inspection, so that no caller uses its files earlier.
  const exit = inspect === undefined ? started.exit : inspected.then(() => started.exit);
  exit.catch(() => undefined);
  if (killElsewhere !== undefined) endWhenLost(exit, killElsewhere);
  const watch = tree && new InputWatch(tree);
  return {
    terminalId,
    exit,
    output: () => started.output(),
    read: (from, maxBytes) => started.read(from, maxBytes),
    write: (text) => started.write(text),
    waitsForInput: async () => (await watch?.look()) ?? false,
    countProcesses: async () => (tree === undefined ? 0 : (await livingRelatives(tree)).length),
    hasSurvivors: async () => tree !== undefined && (await livingMembers(tree)).length > 0,
    members: async () => (tree === undefined ? [] : (await livingMembers(tree)).map(({ pid }) => pid)),
    isCurrent: async () => (await isCurrent?.()) ?? true,
    shellAfter: async () => (await shellAfter()) ?? movedTo(request, await started.folderAfter),
    inspected: () => inspected,
    async kill() {
      await Promise.all([killElsewhere?.(), started.kill()]);
    },
    release: () => started.release(),
  };
}

/** A shell of the user keeps its variables; the session takes over its folder only. */
function movedTo({ shell, keepsShell }: CommandRequest, folder: string | undefined): ShellState | undefined {
  return folder === undefined || !keepsShell ? undefined : { ...shell, folder };
}

/** After a closed terminal or a lost connection, the command still runs on the other machine. */
function endWhenLost(exit: Promise<CommandExit>, killElsewhere: () => Promise<void>): void {
  const end = async (): Promise<void> => {
    const { exitCode, signal } = await exit;
    if (signal !== null || exitCode === CONNECTION_LOST) await killElsewhere();
  };
  end().catch(() => undefined); // the other machine is out of reach
}
