/** `hermes mcp`: the slash command `/mcp`, which waits here for starts and sign-ins, and changes of config.yaml. */
import { homeFolder } from "../../agent-core/config/home.ts";
import { addHomeServer, removeHomeServer } from "../../agent-core/config/home-file.ts";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { HermesAddServer } from "../../agent-core/protocol/extensions.ts";
import { say } from "../output.ts";
import { CWD, EXIT, subcommand, YES } from "../subcommand.ts";

const SERVER = "NAME [TOOL]";
const needs = "a name; hermes mcp list shows the names";

export const command = subcommand({
  verbs: {
    list: { summary: "list the servers of this folder and of the Hermes home" },
    add: {
      summary: "add a server to the Hermes home, and start it",
      operands: "NAME COMMAND|URL [ARGUMENTS…]",
      needs: "a name, then an address, or -- and a command",
    },
    remove: { summary: "remove a server of the Hermes home", operands: "NAME", needs },
    allow: { summary: "allow a server of the workspace", operands: SERVER, needs },
    restart: { summary: "restart a server", operands: SERVER, needs },
    signin: { summary: "sign in to a server", operands: SERVER, needs },
    login: { summary: "sign in to a server", operands: SERVER, needs },
    signout: { summary: "forget a sign-in", operands: SERVER, needs },
    logout: { summary: "forget a sign-in", operands: SERVER, needs },
    enable: { summary: "switch a server, or one of its tools, on", operands: SERVER, needs },
    disable: { summary: "switch a server, or one of its tools, off", operands: SERVER, needs },
  },
  options: {
    env: { kind: "list", short: "e", value: "NAME=VALUE", summary: "variable, kept in .env", verbs: ["add"] },
    header: { kind: "list", short: "H", value: "NAME:VALUE", summary: "header, kept in .env", verbs: ["add"] },
    transport: { kind: "text", short: "t", choices: ["stdio", "http", "sse"], summary: "transport", verbs: ["add"] },
    cwd: CWD,
    yes: YES,
    json: { kind: "flag", summary: "print every session/update as a line of JSON" },
  },
  examples: [
    ["mcp", "list the servers and their tools"],
    ["mcp add files -- npx -y @modelcontextprotocol/server-filesystem .", "add a command, and start it"],
    ["mcp add linear https://mcp.linear.app/mcp", "add an address"],
    ["mcp signin github", "sign in with the browser"],
  ],
  async run({ verb, operands, values: { env, header, transport, yes, ...values } }) {
    const [name = ""] = operands;
    if (verb === "remove") {
      await removeHomeServer(homeFolder(process.env), name);
      say(`Removed ${name}. Its values stay in .env.`);
      return EXIT.done;
    }
    const isNew = verb === "add";
    if (isNew && yes) throw new UsageError(`options of a command come after "--": hermes mcp add ${name} -- COMMAND`);
    if (isNew) await addHomeServer(homeFolder(process.env), serverOf(operands, env, header, transport));
    return {
      ...values,
      allowAll: yes,
      slash: ["/mcp", ...(isNew ? ["restart", name] : [verb, ...operands]), "--wait"].join(" "),
    };
  },
});

/** Server of the words: its name, then an address, or a command with its arguments. Throws a UsageError. */
function serverOf(
  [name, place = "", ...args]: readonly string[],
  env: readonly string[],
  header: readonly string[],
  transport: string | undefined,
): HermesAddServer {
  const isAddress = /^https?:\/\//i.test(place);
  const wrong = isAddress ? env.length > 0 && "-e" : (header.length > 0 && "-H") || (transport === "sse" && "-t sse");
  if (wrong) throw new UsageError(`${wrong} belongs to ${isAddress ? "a command" : "an address"}`);
  const address = { url: place, headers: {}, ...(transport === "sse" && { type: transport }) };
  const given = isAddress ? header.map((one) => pair(one, ":")) : env.map((one) => pair(one, "="));
  const section = isAddress ? address : { command: place, args, env: {} };
  const { data, error } = HermesAddServer.safeParse({ name, section, variables: Object.fromEntries(given) });
  if (data !== undefined) return data;
  const isName = error.issues.some(({ path }) => path[0] === "name");
  throw new UsageError(isName ? `a name has letters, digits, "-", "_" and "." only` : `${place} is no valid address`);
}

function pair(text: string, divider: string): readonly [string, string] {
  const [name = "", ...rest] = text.split(divider);
  if (rest.length === 0) throw new UsageError(`${JSON.stringify(text)} has no "${divider}" between name and value`);
  return [name.trim(), rest.join(divider).trim()];
}
