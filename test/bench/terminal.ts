/** The interactive session: from the start of the process to the first frame, in which one can type. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "../support/model-server/model-server.ts";
import { TerminalProgram } from "../support/terminal-program.ts";
import { byTurns, environmentOf, median, type Row } from "./measuring.ts";
import { withPrograms } from "./programs.ts";

const STARTS = 9;
const LINES = 10_000;
const KEYS = 20;
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** Beside the start of the headless command to its first request. */
export function measureTerminal(): Promise<readonly Row[]> {
  return withPrograms(async ({ model, ours: headless }) => {
    model.respondWith(() => say("done"));
    const cwd = mkdtempSync(join(tmpdir(), "hermes-bench-"));
    const path = { PATH: process.env["PATH"] ?? "" };
    const environment = { ...path, HOME: cwd, HERMES_HOME: cwd, HERMES_LOCAL_SERVERS: "off", ...environmentOf(model) };
    const ready = async (): Promise<number> => {
      const startedAt = performance.now();
      const program = new TerminalProgram(process.execPath, [join(process.cwd(), "dist/cli.js")], { cwd, environment });
      await program.until("❯");
      const ms = performance.now() - startedAt;
      program.type(CTRL_D);
      await program.exited;
      return ms;
    };
    const keysToScreen = async (): Promise<number> => {
      model.respondWith(() => say(Array.from({ length: LINES }, (_, index) => `- line ${index}`).join("\n")));
      const program = new TerminalProgram(process.execPath, [join(process.cwd(), "dist/cli.js")], { cwd, environment });
      await program.until("bench");
      program.type("list\r");
      await program.until(`line ${LINES - 1}`);
      await program.settled();
      const times: number[] = [];
      for (let key = 0; key < KEYS; key += 1) {
        const typedAt = performance.now();
        const drawn = program.nextOutput();
        program.type("x");
        await drawn;
        times.push(performance.now() - typedAt);
        await program.settled();
      }
      program.type(`${CTRL_C}${CTRL_D}`);
      await program.exited;
      return median(times);
    };
    const firstRequest = async (): Promise<number> => {
      const { startedAt } = await headless();
      return (model.requests.at(-1)?.at ?? 0) - startedAt;
    };
    try {
      const { ours, floor } = await byTurns(STARTS, ready, firstRequest);
      const what = "terminal: process start to ready for typing (floor: headless, to its first request)";
      const behind = `terminal: key to screen with ${LINES} lines behind it, median of ${KEYS}`;
      return [
        { what, ours: median(ours), floor: median(floor), ratio: 1.5, unit: "ms" },
        { what: behind, ours: await keysToScreen(), target: 16, unit: "ms" },
      ];
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  });
}
