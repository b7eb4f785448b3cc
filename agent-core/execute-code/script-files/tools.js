/** Calls of tools from a script in Node, over the socket of the agent. */
import { connect } from "node:net";

/** The call did not run. */
export class ToolCallError extends Error {}

/** Makes functions for the tools of one script; `channel`: path of the socket, and the token that it accepts. */
export function toolMaker(channel) {
  let connection;
  const waiting = [];

  function open() {
    const opened = connect(channel.socket);
    opened.setEncoding("utf8");
    opened.write(`${JSON.stringify({ token: channel.token })}\n`);
    let rest = "";
    opened.on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) settle(JSON.parse(line));
    });
    opened.on("error", () => undefined);
    opened.on("close", () => {
      while (waiting.length > 0) settle({ error: "the agent ended the connection" });
    });
    return opened;
  }

  function settle({ text, error }) {
    const { resolve, reject } = waiting.shift();
    if (waiting.length === 0) connection.unref();
    if (error === undefined) resolve(text);
    else reject(new ToolCallError(error));
  }

  return (name, parameters) =>
    (...args) =>
      new Promise((resolve, reject) => {
        const [first] = args;
        const isNamed = args.length === 1 && first !== null && typeof first === "object" && !Array.isArray(first);
        if (args.length > parameters.length) {
          throw new TypeError(`${name}() takes ${parameters.length} arguments: ${parameters.join(", ")}`);
        }
        const input = isNamed ? first : Object.fromEntries(args.map((value, index) => [parameters[index], value]));
        const line = `${JSON.stringify({ name, input })}\n`;
        connection ??= open();
        connection.ref();
        waiting.push({ resolve, reject });
        if (connection.destroyed) settle({ error: "the agent ended the connection" });
        else connection.write(line);
      });
}
