/** `hermes plugins`. */
import { homeFolder } from "../../agent-core/config/home.ts";
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { listPlugins, switchPlugin } from "../../agent-core/plugins/find-plugins.ts";
import { reportConfigErrors } from "../config-errors.ts";
import { say } from "../output.ts";
import { CWD, EXIT, subcommand } from "../subcommand.ts";

const operands = "NAME";
const needs = "a name; hermes plugins list shows the names";

export const command = subcommand({
  verbs: {
    list: { summary: "list the plugins of the Hermes home" },
    enable: { summary: "switch a plugin on", operands, needs },
    disable: { summary: "switch a plugin off", operands, needs },
  },
  options: { cwd: CWD },
  examples: [
    ["plugins", "list the plugins and their problems"],
    ["plugins enable NAME", "switch a plugin on"],
  ],
  async run({ verb, operands: [name = ""] }) {
    await reportConfigErrors();
    const home = homeFolder(takeEnvironment());
    const lines = verb === "list" ? await listPlugins(home) : [await switchPlugin(home, name, verb === "enable")];
    for (const line of lines) say(line);
    return EXIT.done;
  },
});
