/**
 * A process with the checkpoints of a session, which a test kills: `node checkpoint-process.ts FOLDER STATE STEP …`. STATE has
 * the objects and the journal. A step is `run COMMAND`, `restore POSITION` or `undo`; it prints `begin` before each, and waits
 * after the last one. With ENDS it prints the files of a restore, too, and ends.
 */
import { join } from "node:path";
import { Journal } from "../../agent-core/sessions/journal.ts";
import { readJournal } from "../../agent-core/sessions/read-journal.ts";
import { CheckpointBench } from "./checkpoint-bench.ts";
import { ManualClock } from "./manual-clock.ts";

const fail = (problem: string): never => {
  throw new Error(problem);
};

/** The session with this state, in this process. Its journal is closed with `close`. */
export async function openSession(folder: string, state: string) {
  const path = join(state, "session.jsonl");
  const stored = await readJournal(path);
  const journal = new Journal({ path, sessionId: "s", cwd: folder, now: () => 0, onFailure: fail });
  const entries = stored.ok ? stored.session.records : [];
  const bench = new CheckpointBench(
    // On a busy machine the time for copies would end before the disk is full.
    {
      clock: new ManualClock(),
      objects: join(state, "objects"),
      entries,
      journal: (entry) => void journal.append(entry),
    },
    folder,
  );
  bench.position = stored.ok ? 2 : 0;
  return {
    bench,
    async close() {
      await bench.dispose();
      journal.close();
    },
  };
}

async function main([folder = "", state = "", ...steps]: readonly string[]): Promise<void> {
  const { bench } = await openSession(folder, state);
  const ends = process.env["ENDS"] !== undefined;
  for (let at = 0; at < steps.length; at += 2) {
    const [step, argument = ""] = steps.slice(at, at + 2);
    process.stdout.write("begin\n");
    if (step === "run") {
      bench.turn();
      await bench.run(argument);
      await bench.checkpoints.logged();
    } else if (step === "restore") {
      const lines = await bench.restore(Number(argument));
      if (ends) process.stdout.write(`${lines.join("\n")}\n`);
    } else await bench.undo();
    process.stdout.write("end\n");
  }
  if (ends) process.exit();
  setInterval(() => undefined, 1_000);
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
