/** `hermes doctor`. */
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { CWD, subcommand } from "../subcommand.ts";

export const command = subcommand({
  options: { cwd: CWD },
  examples: [
    ["doctor", "check what a session in this folder would have"],
    ["doctor --cwd ../app", "check another folder"],
  ],
  withoutHome: true,
  async run({ values: { cwd } }) {
    return (await import("../doctor/doctor.ts")).printDiagnoses(takeEnvironment(), cwd);
  },
});
