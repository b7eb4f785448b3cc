/** `hermes pairing`. */
import { homeFolder } from "../../agent-core/config/home.ts";
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { systemClock } from "../../agent-core/platform/clock.ts";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import { Pairing, type PairingEntry } from "../../gateway/pairing.ts";
import { gatewayFolder } from "../../gateway/settings.ts";
import { say } from "../output.ts";
import { EXIT, subcommand } from "../subcommand.ts";

export const command = subcommand({
  verbs: {
    list: { summary: "list the people who are paired, and open requests" },
    approve: { summary: "let a person in by the code", operands: "PLATFORM CODE" },
    revoke: { summary: "shut a person out by the id", operands: "PLATFORM ID" },
    "clear-pending": { summary: "drop the open requests" },
  },
  examples: [
    ["pairing approve telegram ABCD2345", "let the person with this code in"],
    ["pairing revoke telegram 12345", "shut a person out"],
  ],
  async run({ verb, operands: [platform = "", operand = ""] }) {
    const pairing = new Pairing(gatewayFolder(homeFolder(takeEnvironment())), systemClock);
    switch (verb) {
      case "list": {
        const { approved, open } = pairing.list();
        for (const one of approved) say(`paired   ${lineOf(one)}`);
        for (const one of open) say(`waiting  ${lineOf(one)}`);
        if (approved.length + open.length === 0) say("Nobody is paired, and nobody waits.");
        return EXIT.done;
      }
      case "approve":
        if (operand === "")
          throw new UsageError("pairing approve needs a platform and a code; the person who asks has the code");
        say(`Paired: ${lineOf(pairing.approve(platform, operand))}`);
        return EXIT.done;
      case "revoke":
        if (operand === "")
          throw new UsageError("pairing revoke needs a platform and an id; hermes pairing list shows them");
        if (!pairing.revoke(platform, operand)) throw new UsageError(`${operand} is not paired on ${platform}.`);
        say(`${operand} is no longer paired on ${platform}. An id in the settings counts on.`);
        return EXIT.done;
      case "clear-pending":
        say(`Dropped open requests: ${pairing.clearPending()}.`);
        return EXIT.done;
    }
  },
});

/** The name is the person's own choice and proves nothing. */
function lineOf({ platform, user, name }: PairingEntry): string {
  return `${platform.padEnd(10)} ${user.padEnd(16)} ${JSON.stringify(visibleText(name))}`;
}
