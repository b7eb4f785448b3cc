/**
 * Changes of the ACP library in the bundles: work for each message and for each start that no connection of ours needs. Each
 * function throws when the file has another form than it expects: a new version of the library must not undo it.
 */

/** Modules of the bundles, with the path of each. */
export const ACP_MODULES = {
  "hermes:plain-requests": "./plain-requests.ts",
  "hermes:memory-pipe": "./memory-pipe.ts",
} as const;

/** The library's apps, `v1/stable/acp.js`. */
export function leanApps(source: string): string {
  const changed = [passInMemory, skipUnusedRouting, readPlainRequests].reduce((text, change) => change(text), source);
  return `import { memoryPipe } from "hermes:memory-pipe";import { plainParams } from "hermes:plain-requests";${changed}`;
}

/** The library's connections, `core/jsonrpc.js`. */
export function leanConnections(source: string): string {
  return [keepWriter, skipOtherHandlers].reduce((text, change) => change(text), source);
}

/** Connects two apps of a process without web streams. */
function passInMemory(source: string): string {
  return ["leftToRight", "rightToLeft"].reduce(
    (text, name) => replaceOnce(text, `const ${name} = new TransformStream();`, `const ${name} = memoryPipe();`),
    source,
  );
}

/**
 * The library's client parses each update a second time, for sessions that were opened with its own helper. Nothing here
 * uses that helper, and the second parse takes a fifth of a long turn.
 */
function skipUnusedRouting(source: string): string {
  const parse =
    "        const notification = validate.zSessionNotification.parse(message.params);\n        const update = {";
  return replaceOnce(
    source,
    parse,
    `        if (this.activeSessions.size === 0) return Handled.no(message);\n${parse}`,
  );
}

/** Reads plain requests without their schemas. */
function readPlainRequests(source: string): string {
  return replaceOnce(
    source,
    "params: (value) => parseParams(params, value ?? {}),",
    "params: (value) => plainParams(method, value) ?? parseParams(params, value ?? {}),",
  );
}

/** The library locks the stream for each message, and the end of a lock makes an error with its stack. */
function keepWriter(source: string): string {
  const kept = replaceOnce(
    source,
    "const writer = this.stream.writable.getWriter();",
    "const writer = (this.writer ??= this.stream.writable.getWriter());",
  );
  return replaceOnce(kept, "finally {\n                writer.releaseLock();\n            }", "finally { }");
}

/** The library asks the handlers of all methods for each message, one after the other and asynchronously: about 90 here. */
function skipOtherHandlers(source: string): string {
  const call = "const result = (await handler.handleMessage(current, this.context))";
  const skip = `if (handler.method !== undefined && handler.method !== current.method) continue;\n`;
  return ["request", "notification"].reduce(
    (text, kind) => {
      const describe = `describe: () => \`\${this.connectionName ?? "${kind}"}:\${method}\`,`;
      return replaceOnce(text, describe, `method, ${describe}`);
    },
    replaceOnce(source, call, skip + call),
  );
}

function replaceOnce(source: string, from: string, to: string): string {
  if (source.split(from).length !== 2) throw new Error(`The ACP library has another form than expected: ${from}`);
  return source.replace(from, () => to);
}
