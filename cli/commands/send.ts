/** `hermes send`. */
import { text } from "node:stream/consumers";
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { systemClock } from "../../agent-core/platform/clock.ts";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { sendNow } from "../../gateway/send.ts";
import { gatewaySettings } from "../../gateway/settings.ts";
import { EXIT, subcommand } from "../subcommand.ts";

export const command = subcommand({
  operands: "[TEXT…]",
  options: {
    to: { kind: "text", value: "PLACE", summary: "platform[:chat[:thread]]; without a chat, the home chat" },
    file: { kind: "list", value: "FILE", summary: "send this file, too" },
    subject: { kind: "text", value: "TEXT", summary: "first line, in bold" },
  },
  examples: [
    ['send --to telegram "The build is done"', "write to the home chat"],
    ["send --to slack:C0123 --file report.pdf < summary.md", "send standard input and a file"],
  ],
  async run({ operands, values: { to, file, subject } }) {
    if (to === undefined) throw new UsageError("send needs --to, such as --to telegram:12345");
    const isPiped = operands.length === 0 && !process.stdin.isTTY;
    const body = isPiped ? (await text(process.stdin)).trim() : operands.join(" ");
    const whole = [subject === undefined ? "" : `**${subject}**`, body].filter((part) => part !== "").join("\n\n");
    if (whole === "" && file.length === 0) throw new UsageError("send has nothing to send. Give a text or --file.");
    await sendNow(await gatewaySettings(takeEnvironment()), { to, text: whole, files: file }, systemClock);
    return EXIT.done;
  },
});
