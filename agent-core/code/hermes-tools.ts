/**
 * The module `hermes_tools`, for Python and for Node, and the program that runs Python scripts. Each tool of the session is
 * a function that takes the tool's parameters by name, or in the order of its schema, and returns the text that the model
 * would get.
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

/** Functions of the module with their parameters in order, by the tool's name. */
export function toolFunctions(tools: readonly ToolSchema[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(tools.map((tool) => [tool.name, parameterNames(tool)]));
}

/** Files of a Python process. It gets each script by a line of its input, and prints `scriptEnd` after it. */
export const PYTHON_FILES: readonly ScriptFile[] = [
  { path: "hermes_tools.py", text: pythonModule() },
  { path: "interpreter.py", text: pythonInterpreter() },
];

/** Files of a Node process, which runs one script. `tools`: schemas of the tools that the script may call. */
export function nodeFiles(tools: readonly ToolSchema[], channel: Channel): readonly ScriptFile[] {
  return [
    { path: "node_modules/hermes_tools/package.json", text: '{ "type": "module", "exports": "./index.js" }\n' },
    { path: "node_modules/hermes_tools/index.js", text: nodeModule(toolFunctions(tools), channel) },
  ];
}

/** Printed by a Python process that waits for its first script. An escape sequence: readers of the output leave it out. */
export const READY = "\u001b]hermes;ready\u0007";

/** Exit code in the text that a Python process prints after the script with this token. */
export function scriptEnd(printed: string, token: string): number | undefined {
  const [, rest = ""] = printed.split(`\u001b]hermes;${token};`);
  return rest.includes("\u0007") ? Number.parseInt(rest, 10) : undefined;
}

const objectSchema = z.object({ properties: z.record(z.string(), z.unknown()) });

function parameterNames({ parameters }: ToolSchema): readonly string[] {
  return Object.keys(objectSchema.safeParse(parameters).data?.properties ?? {});
}

/** Name of the function: names of MCP tools may have hyphens. */
function identifier(name: string): string {
  return name.replaceAll("-", "_");
}

function pythonModule(): string {
  return `"""Tools of the agent. Each function returns the text of the tool's result."""
import json as _json
import os as _os
import socket as _socket
import threading as _threading

_lock = _threading.Lock()
_process = _os.getpid()
_channel = None
_stream = None
__all__ = []


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
                connection.connect(_channel["socket"])
            except OSError as error:
                raise ToolCallError("hermes_tools works only in the script's own process") from error
            _stream = connection.makefile("rw", encoding="utf-8", newline="\\n")
            _stream.write(_json.dumps({"token": _channel["token"]}) + "\\n")
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


def _connect(channel, tools):
    global _channel, _stream
    _channel, _stream = channel, None
    functions = {name.replace("-", "_"): _function(name, parameters) for name, parameters in tools.items()}
    globals().update(functions)
    __all__[:] = [*functions, "ToolCallError"]
`;
}

function pythonInterpreter(): string {
  return `"""Runs scripts one after the other in one module, so that their variables stay."""
import json
import os
import sys
import threading
import traceback
import types

import hermes_tools

process = os.getpid()
control = os.fdopen(os.dup(0), encoding="utf-8")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
outputs = {number: os.dup(number) for number in (1, 2)}
driver, main = sys.modules["__main__"], types.ModuleType("__main__")
sys.modules["__main__"] = main


def run(task):
    for number, kept in outputs.items():
        os.dup2(kept, number)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    hermes_tools._connect(task["channel"], task["tools"])
    try:
        os.chdir(task["folder"])
        sys.path[1] = task["folder"]
        main.__file__ = task["file"]
        with open(task["file"], encoding="utf-8") as file:
            code = compile(file.read(), task["file"], "exec", dont_inherit=True)
        exec(code, main.__dict__)
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        traceback.print_exception(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
        return 1


def forget_changed(folder):
    """The next script reads modules of the working folder again."""
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) or ""
        if path.startswith(folder + os.sep) and path.endswith(".py") and "-packages" not in path:
            del sys.modules[name]


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


os.write(outputs[1], b"\\x1b]hermes;ready\\x07")
for line in control:
    task = json.loads(line)
    code = run(task)
    flush()
    if os.getpid() != process:
        os._exit(code)
    if threading.active_count() > 1:
        sys.exit(code)
    forget_changed(task["folder"])
    os.write(outputs[1], f"\\x1b]hermes;{task['channel']['token']};{code}\\x07".encode())
`;
}

function nodeModule(functions: Readonly<Record<string, readonly string[]>>, { socket, token }: Channel): string {
  const exported = Object.entries(functions).map(
    ([name, parameters]) =>
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
