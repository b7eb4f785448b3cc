/** The command line in a process of its own. */
Object.assign(globalThis, { __VERSION__: "0.0.0-test" });
const { runHermes } = await import("../../../../cli/run.ts");
process.exitCode = await runHermes(process.argv.slice(2));
