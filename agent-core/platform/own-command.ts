/** Command line that started this program, for advice that its user can follow. */
import { basename } from "node:path";
import { isMainThread } from "node:worker_threads";

/** Undefined in a thread of an editor, whose user has no command line. */
function ownCommand(): string | undefined {
  const [, script = ""] = process.argv;
  if (!isMainThread) return undefined;
  if (process.env["npm_lifecycle_event"] === "chat") return "npm run chat --";
  const name = basename(script);
  if (name === "cli.js") return "hermes"; // as the manual has it
  return name.endsWith(".js") ? `node ${/\s/.test(script) ? JSON.stringify(script) : script}` : name;
}

/** Asks for provider, key and model. Undefined inside an editor. */
export function setUpCommand(): string | undefined {
  const own = ownCommand();
  return own && `${own} ${/acp(?:\.js"?)?$/.test(own) ? "--setup" : "setup"}`;
}

/** The text with the user's own command in place of `hermes`. */
export function withOwnCommand(text: string): string {
  return text.replace(/(?<![\w:/.-])hermes (?=-{0,2}[a-z])/g, `${ownCommand() ?? "hermes"} `);
}
