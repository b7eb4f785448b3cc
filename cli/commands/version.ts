/** `hermes version`. */
import { VERSION } from "../../agent-core/entry/version.ts";
import { EXIT, subcommand } from "../subcommand.ts";

export const command = subcommand({
  examples: [["version", "print the version of Hermes"]],
  withoutHome: true,
  run() {
    process.stdout.write(`${VERSION}\n`);
    return Promise.resolve(EXIT.done);
  },
});
