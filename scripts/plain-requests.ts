/**
 * Reads the requests before a first answer without the ACP library's schemas, which take 5 ms of a start to build. The bundles
 * use it before the library's own parse (scripts/acp-library.ts). A test compares both results.
 */
type Fields = Readonly<Record<string, unknown>>;
type Form = (value: unknown) => boolean;

const isText: Form = (value) => typeof value === "string";
const isFlag: Form = (value) => typeof value === "boolean";

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object with none but these fields. Each may be absent. */
function fieldsOf(forms: Readonly<Record<string, Form>>): Form {
  return (value) =>
    isObject(value) &&
    Object.entries(value).every(([name, field]) => Object.hasOwn(forms, name) && forms[name]?.(field) === true);
}

function listOf(form: Form): Form {
  return (value) => Array.isArray(value) && value.every(form);
}

const onlyMeta = fieldsOf({ _meta: isObject });

const capabilities = fieldsOf({
  fs: fieldsOf({ readTextFile: isFlag, writeTextFile: isFlag }),
  terminal: isFlag,
  auth: fieldsOf({ terminal: isFlag, _meta: isObject }),
  session: fieldsOf({ compaction: isObject, notices: isObject, configOptions: fieldsOf({ boolean: onlyMeta }) }),
  elicitation: fieldsOf({ form: onlyMeta, url: onlyMeta }),
  _meta: isObject,
});

const isInitialize = fieldsOf({
  protocolVersion: (value) => value === 1,
  clientInfo: (value) =>
    fieldsOf({ name: isText, title: isText, version: isText })(value) && hasAll(value, ["name", "version"]),
  clientCapabilities: capabilities,
  _meta: isObject,
});

const isNewSession = fieldsOf({
  cwd: isText,
  additionalDirectories: listOf(isText),
  mcpServers: (value) => Array.isArray(value) && value.length === 0,
  _meta: isObject,
});

const isPrompt = fieldsOf({
  sessionId: isText,
  prompt: listOf(
    (value) => fieldsOf({ type: (type) => type === "text", text: isText })(value) && hasAll(value, ["type", "text"]),
  ),
  _meta: isObject,
});

function hasAll(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => Object.hasOwn(value, name));
}

/** Parameters as the library's schema of the method gives them. Undefined for any other form than the plain one. */
export function plainParams(method: string, params: unknown): object | undefined {
  if (!isObject(params)) return undefined;
  switch (method) {
    case "initialize":
      return isInitialize(params) && hasAll(params, ["protocolVersion"]) ? withDefaults(params) : undefined;
    case "session/new":
      return isNewSession(params) && hasAll(params, ["cwd", "mcpServers"]) ? params : undefined;
    case "session/prompt":
      return isPrompt(params) && hasAll(params, ["sessionId", "prompt"]) ? params : undefined;
    default:
      return undefined;
  }
}

function withDefaults(params: Fields): object {
  const given = isObject(params["clientCapabilities"]) ? params["clientCapabilities"] : {};
  const { fs, auth } = given;
  const clientCapabilities = {
    ...{ terminal: false, ...given },
    fs: { readTextFile: false, writeTextFile: false, ...(isObject(fs) && fs) },
    auth: { terminal: false, ...(isObject(auth) && auth) },
  };
  return { ...params, clientCapabilities };
}
