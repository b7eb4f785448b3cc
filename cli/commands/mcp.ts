/** `hermes mcp`: the slash command `/mcp`, which waits here for starts and sign-ins. */
import { CWD, subcommand, YES } from "../subcommand.ts";

const SERVER = "NAME [TOOL]";
const needs = "a name; hermes mcp list shows the names";

export const command = subcommand({
  verbs: {
    list: { summary: "list the servers of this folder and of the Hermes home" },
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
    cwd: CWD,
    yes: YES,
    json: { kind: "flag", summary: "print every session/update as a line of JSON" },
  },
  examples: [
    ["mcp", "list the servers and their tools"],
    ["mcp signin github", "sign in with the browser"],
  ],
  run: async ({ verb, operands, values: { yes, ...values } }) => ({
    ...values,
    allowAll: yes,
    slash: ["/mcp", verb, ...operands, "--wait"].join(" "),
  }),
});
