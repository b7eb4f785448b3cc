/** Rewrites names of earlier versions of config.yaml, as the original Hermes Agent does. Comments and order stay. */
import { type Document, isMap, isScalar, isSeq, type Pair, parseDocument, YAMLMap } from "yaml";

/** Version of the file after the migration: the original's that last renamed one of these settings. */
const VERSION = 17;

/** Names of earlier versions, and those that took their places. */
const MOVED: readonly (readonly [from: string, to: string])[] = [
  ["max_turns", "agent.max_turns"],
  ["provider", "model.provider"],
  ["base_url", "model.base_url"],
  ["model.model", "model.default"],
  ["compression.summary_provider", "auxiliary.compression.provider"],
  ["compression.summary_model", "auxiliary.compression.model"],
  ["compression.summary_base_url", "auxiliary.compression.base_url"],
];

/** Names of a field in the entries of `custom_providers`, the newest first. */
const ENTRY_NAMES: Readonly<Record<string, readonly string[]>> = {
  base_url: ["base_url", "url", "api"],
  api_key: ["api_key"],
  key_env: ["key_env"],
  api_mode: ["api_mode", "transport"],
};

export type MigratedConfig = {
  readonly text: string;
  /** One line for people for each change; none: the file is as it was. */
  readonly changes: readonly string[];
};

/** Throws for invalid YAML. A setting that has its new name too keeps that value. */
export function migrateConfig(text: string): MigratedConfig {
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem !== undefined) throw problem;
  const changes = [...MOVED.flatMap(([from, to]) => move(document, from, to)), ...moveCustomProviders(document)];
  const version = Number(document.get("_config_version") ?? 0);
  if (changes.length === 0) return { text, changes };
  if (!(version >= VERSION)) document.set("_config_version", VERSION);
  return { text: document.toString({ lineWidth: 0 }), changes };
}

function move(document: Document, from: string, to: string): readonly string[] {
  const pair = take(document, from.split("."));
  if (pair === undefined) return [];
  const path = to.split(".");
  if (document.hasIn(path)) return [`${from} is removed, because ${to} is set too`];
  const parent = mapAt(document, path.slice(0, -1));
  if (isScalar(pair.key)) pair.key.value = path.at(-1);
  parent.items.push(pair);
  return [`${from} is ${to} now`];
}

/** Removes a setting with its comments, and a section that has no other. */
function take(document: Document, path: readonly string[]): Pair | undefined {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1));
  if (!isMap(parent)) return undefined;
  const at = parent.items.findIndex(({ key }) => (isScalar(key) ? key.value : key) === path.at(-1));
  const [pair] = at < 0 ? [] : parent.items.splice(at, 1);
  if (pair !== undefined && parent.items.length === 0 && path.length > 1) document.deleteIn(path.slice(0, -1));
  return pair;
}

/** The mapping at a path, made where there is none. The model's name alone becomes its default. */
function mapAt(document: Document, path: readonly string[]): YAMLMap {
  for (const [index] of path.entries()) {
    const part = path.slice(0, index + 1);
    const found = document.getIn(part, true);
    if (isMap(found)) continue;
    const made = new YAMLMap();
    if (isScalar(found) && typeof found.value === "string") made.set("default", found);
    document.setIn(part, made);
  }
  const map = document.getIn(path);
  if (!isMap(map)) throw new Error(`${path.join(".")} is not a group of settings`);
  return map;
}

function moveCustomProviders(document: Document): readonly string[] {
  const list = document.get("custom_providers");
  if (!isSeq(list)) return [];
  const moved = list.items.filter(isMap).flatMap((entry) => {
    const name = providerName(entry);
    return name === undefined ? [] : [{ entry, name }];
  });
  if (moved.length < list.items.length) {
    return ["custom_providers stays, because an entry has no address; write each one to providers yourself"];
  }
  const providers = mapAt(document, ["providers"]);
  for (const [index, { entry, name }] of moved.entries()) {
    const key = document.createNode(name);
    const comment = entry.commentBefore ?? (index === 0 ? list.commentBefore : undefined);
    if (comment) key.commentBefore = comment;
    entry.commentBefore = null;
    if (!providers.has(name)) providers.set(key, renamed(entry));
  }
  document.delete("custom_providers");
  return moved.map(({ name }) => `an entry of custom_providers is providers.${name} now`);
}

/** Name of an entry in `providers`: its own in lower case with hyphens, else the host of its address. */
function providerName(entry: YAMLMap): string | undefined {
  const address = ENTRY_NAMES["base_url"]?.map((name) => entry.get(name)).find((value) => typeof value === "string");
  if (typeof address !== "string" || !URL.canParse(address)) return undefined;
  const name = String(entry.get("name") ?? "").toLowerCase();
  return (
    name
      .replaceAll(/[\s()]+/g, "-")
      .replaceAll(/-{2,}/g, "-")
      .replaceAll(/^-|-$/g, "") || new URL(address).hostname
  );
}

/** The entry with the present names of its fields. Other fields stay, and are reported as unknown settings. */
function renamed(entry: YAMLMap): YAMLMap {
  for (const [name, olds] of Object.entries(ENTRY_NAMES)) {
    const pair = entry.items.find(({ key }) => olds.includes(String(key)));
    if (pair !== undefined && isScalar(pair.key)) pair.key.value = name;
  }
  entry.delete("name");
  return entry;
}
