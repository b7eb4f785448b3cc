/** `hermes auth`: keys and sign-ins of providers. */
import { loadConfig } from "../../agent-core/config/config.ts";
import { homeFolder } from "../../agent-core/config/home.ts";
import { addKey, keyProblem, keyStates, removeKey } from "../../agent-core/entry/account-dialog.ts";
import { terminalDialog } from "../../agent-core/entry/terminal-dialog.ts";
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { useNetwork } from "../../agent-core/platform/http/connections.ts";
import { say } from "../output.ts";
import { EXIT, subcommand } from "../subcommand.ts";

const operands = "PROVIDER";
const needs = "a provider; hermes auth list shows them";

export const command = subcommand({
  verbs: {
    list: { summary: "list the providers, and where their keys are" },
    status: { summary: "ask each provider with a key whether it works" },
    add: { summary: "sign in to a provider, or store its key", operands, needs },
    remove: { summary: "remove a key or sign-in from the Hermes home", operands, needs },
  },
  examples: [
    ["auth add nous", "sign in to Nous Portal in a browser"],
    ["auth status", "check all keys"],
  ],
  async run({ verb, operands: [name = ""] }) {
    const ofProcess = takeEnvironment();
    const { environment } = await loadConfig(homeFolder(ofProcess), ofProcess);
    useNetwork(environment);
    const states = keyStates(environment, ofProcess);
    switch (verb) {
      case "list":
        for (const { name: each, source } of states) say(`${each.padEnd(12)} ${source ?? "no key"}`);
        return EXIT.done;
      case "status":
        return status(states.filter(({ source }) => source !== undefined).map(({ name: each }) => each));
      case "add": {
        const dialog = terminalDialog(process.stdin, process.stdout);
        const isAdded = await addKey(name, environment, dialog).finally(() => dialog.close());
        say(isAdded ? `${name} is ready. hermes model lists its models.` : "Nothing was stored.");
        return isAdded ? EXIT.done : EXIT.failed;
      }
      case "remove": {
        const isRemoved = await removeKey(name, environment);
        say(`${isRemoved ? "Removed. " : ""}The Hermes home has no key for ${name}${isRemoved ? " any more" : ""}.`);
        return EXIT.done;
      }
    }

    async function status(names: readonly string[]): Promise<number> {
      if (names.length === 0) say("No provider has a key. hermes auth add PROVIDER stores one.");
      const problems = await Promise.all(names.map((each) => keyProblem(each, environment)));
      for (const [index, each] of names.entries()) say(`${each.padEnd(12)} ${problems[index] ?? "works"}`);
      return problems.every((problem) => problem === undefined) ? EXIT.done : EXIT.failed;
    }
  },
});
