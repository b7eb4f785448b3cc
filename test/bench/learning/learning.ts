// `npm run bench:learning`: thirty days of a simulated user, with and without each loop that learns.
import { runArm } from "./run-arm.ts";
import { armNamed } from "./arms.ts";
const [arm = "on", days = "3"] = process.argv.slice(2);
const run = await runArm({ arm: armNamed(arm), seed: 1, salt: String(Date.now()), days: Number(days), tasks: 6, noise: 0.1 });
for (const t of run.tasks) console.log(t.day, t.family, t.firstTry ? "FIRST" : t.success ? "ok" : "FAIL", t.corrections, t.iterations, t.failedCommands, t.overflows, t.tokens, t.right.join(","), "| wrong:", t.wrong.join(","));
console.log(run.days, run.unknownRequests, run.milliseconds, run.injected);
