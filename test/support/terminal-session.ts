/** `hermes` in a real pseudo-terminal, with a home, a folder and a model server of its own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, onTestFinished } from "vitest";
import { temporaryFolder } from "./acp-client.ts";
import { type ModelServer, startModelServer } from "./model-server/model-server.ts";
import { type TerminalOptions, TerminalProgram } from "./terminal-program.ts";

export type Started = Partial<TerminalOptions> & {
  readonly args?: readonly string[];
  /** Default: Node with the built command. */
  readonly program?: string;
};

export type TerminalBench = {
  readonly model: ModelServer;
  readonly home: string;
  /** Has a file `a.txt`. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
};

/** Command line of the built command, for a shell. */
export const HERMES = `${process.execPath} ${process.cwd()}/dist/cli.js`;

/** A new bench before each test of the file, which ends with it. */
export function terminalBench(): () => TerminalBench {
  let bench: TerminalBench | undefined;
  beforeEach(async () => {
    const model = await startModelServer();
    onTestFinished(() => model.stop());
    const home = temporaryFolder("hermes-terminal-home-");
    const cwd = temporaryFolder("hermes-terminal-");
    writeFileSync(join(cwd, "a.txt"), "one\ntwo\nthree\n");
    const environment = {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      HERMES_HOME: home,
      HERMES_LOCAL_SERVERS: "off",
      HERMES_BASE_URL: model.baseUrl,
      HERMES_MODEL: "test-model",
      HERMES_API_KEY: "sk-test-key-123456",
      LANG: "C.UTF-8",
    };
    bench = { model, home, cwd, environment };
  });
  return () => {
    if (bench === undefined) throw new Error("the bench begins with the test");
    return bench;
  };
}

/** A program in a terminal, ended with the test. */
export function startIn(bench: TerminalBench, { args = [], program, environment, ...options }: Started = {}) {
  const line = program === undefined ? [`${process.cwd()}/dist/cli.js`, ...args] : args;
  const terminal = new TerminalProgram(program ?? process.execPath, line, {
    cwd: bench.cwd,
    ...options,
    environment: { ...bench.environment, ...environment },
  });
  onTestFinished(() => terminal.end());
  return terminal;
}

/** A session that is ready for a message. */
export async function openedIn(bench: TerminalBench, options: Started = {}): Promise<TerminalProgram> {
  const terminal = startIn(bench, options);
  await terminal.until("test-model");
  return terminal;
}
