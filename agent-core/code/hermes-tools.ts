/**
 * The module `hermes_tools`, for Python and for Node. Each tool of the session is a function that takes the tool's
 * parameters by name, or in the order of its schema, and returns the text that the model would get.
 */
import * as z from "zod";
import type { ToolSchema } from "../providers/wire/wire.ts";

export type ScriptLanguage = "python" | "node";

/** Way to the agent, for one script. */
export type Channel = {
  /** Absolute path of the Unix socket. */
  readonly socket: string;
  /** Accepted from one connection only. */
  readonly token: string;
};

/** File of a script's folder, by its path in it. */
export type ScriptFile = { readonly path: string; readonly text: string };

/** Files of the module. `tools`: schemas of the tools that the script may call. */
export function moduleFiles(
  language: ScriptLanguage,
  tools: readonly ToolSchema[],
  channel: Channel,
): readonly ScriptFile[] {
  const functions = tools.map((tool) => ({ name: tool.name, parameters: parameterNames(tool) }));
  if (language === "python") return [{ path: "hermes_tools.py", text: pythonModule(functions, channel) }];
  return [
    { path: "node_modules/hermes_tools/package.json", text: '{ "type": "module", "exports": "./index.js" }\n' },
    { path: "node_modules/hermes_tools/index.js", text: nodeModule(functions, channel) },
  ];
}

type ToolFunction = { readonly name: string; readonly parameters: readonly string[] };

const objectSchema = z.object({ properties: z.record(z.string(), z.unknown()) });

function parameterNames({ parameters }: ToolSchema): readonly string[] {
  return Object.keys(objectSchema.safeParse(parameters).data?.properties ?? {});
}

/** Name of the function: names of MCP tools may have hyphens. */
function identifier(name: string): string {
  return name.replaceAll("-", "_");
}

function pythonModule(functions: readonly ToolFunction[], { socket, token }: Channel): string {
  const named = Object.fromEntries(functions.map(({ name, parameters }) => [name, parameters]));
  return `"""Tools of the agent. Each function returns the text of the tool's result."""
import json as _json
import os as _os
import socket as _socket
import threading as _threading

_TOOLS = _json.loads(${JSON.stringify(JSON.stringify(named))})
_lock = _threading.Lock()
_process = _os.getpid()
_stream = None


class ToolCallError(RuntimeError):
    """The call did not run."""


def _request(name, parameters):
    global _stream
    if _os.getpid() != _process:
        raise ToolCallError("hermes_tools works only in the script's own process")
    line = _json.dumps({"name": name, "input": parameters}, default=str)
    with _lock:
        if _stream is None:
            connection = _socket.socket(_socket.AF_UNIX)
            try:
                connection.connect(${JSON.stringify(socket)})
            except OSError as error:
                raise ToolCallError("hermes_tools works only in the script's own process") from error
            _stream = connection.makefile("rw", encoding="utf-8", newline="\\n")
            _stream.write(_json.dumps({"token": ${JSON.stringify(token)}}) + "\\n")
        _stream.write(line + "\\n")
        _stream.flush()
        answer = _stream.readline()
    if not answer:
        raise ToolCallError("the agent ended the connection")
    answer = _json.loads(answer)
    if "error" in answer:
        raise ToolCallError(answer["error"])
    return answer["text"]


def _function(name, parameters):
    def call(*args, **kwargs):
        if len(args) > len(parameters):
            raise TypeError(f"{name}() takes {len(parameters)} arguments ({', '.join(parameters)}), but got {len(args)}")
        for parameter, value in zip(parameters, args):
            if parameter in kwargs:
                raise TypeError(f"{name}() got two values for {parameter}")
            kwargs[parameter] = value
        return _request(name, {key: value for key, value in kwargs.items() if value is not None})

    call.__name__ = call.__qualname__ = name.replace("-", "_")
    return call


for _name, _parameters in _TOOLS.items():
    globals()[_name.replace("-", "_")] = _function(_name, _parameters)
__all__ = [_name.replace("-", "_") for _name in _TOOLS] + ["ToolCallError"]
`;
}

function nodeModule(functions: readonly ToolFunction[], { socket, token }: Channel): string {
  const exported = functions.map(
    ({ name, parameters }) =>
      `export const ${identifier(name)} = tool(${JSON.stringify(name)}, ${JSON.stringify(parameters)});`,
  );
  return `import { connect } from "node:net";

/** The call did not run. */
export class ToolCallError extends Error {}

let connection;
const waiting = [];

function open() {
  const opened = connect(${JSON.stringify(socket)});
  opened.setEncoding("utf8");
  opened.write(JSON.stringify({ token: ${JSON.stringify(token)} }) + "\\n");
  let rest = "";
  opened.on("data", (text) => {
    const lines = (rest + text).split("\\n");
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

function tool(name, parameters) {
  return (...args) =>
    new Promise((resolve, reject) => {
      const [first] = args;
      const isNamed = args.length === 1 && first !== null && typeof first === "object" && !Array.isArray(first);
      if (args.length > parameters.length) {
        throw new TypeError(name + "() takes " + parameters.length + " arguments: " + parameters.join(", "));
      }
      const input = isNamed ? first : Object.fromEntries(args.map((value, index) => [parameters[index], value]));
      const line = JSON.stringify({ name, input }) + "\\n";
      connection ??= open();
      connection.ref();
      waiting.push({ resolve, reject });
      if (connection.destroyed) settle({ error: "the agent ended the connection" });
      else connection.write(line);
    });
}

${exported.join("\n")}
`;
}
