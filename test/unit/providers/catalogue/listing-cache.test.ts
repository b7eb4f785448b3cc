import { mkdtempSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { readJsonFile, writeJsonFile } from "../../../../agent-core/config/home-file.ts";
import { ListingCache } from "../../../../agent-core/providers/catalogue/listing-cache.ts";

const HOUR_MS = 3_600_000;
const endpoint = { provider: "openai", baseUrl: "https://api.openai.com/v1", apiKey: "sk-secret-123456" };
const models = [{ id: "gpt-4.1", facts: { contextWindow: 5 } }];

let path: string;
let now: number;
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), "hermes-models-")), "vscode", "models.json");
  now = 1_000_000_000_000;
});

async function cache(): Promise<ListingCache> {
  const store = { read: () => readJsonFile(path), write: (value: unknown) => writeJsonFile(path, value) };
  const opened = new ListingCache(store, () => now);
  await opened.load();
  return opened;
}

test("a list is kept for the next process, without the key", async () => {
  await (await cache()).keep(endpoint, models);
  expect((await cache()).models(endpoint)).toEqual(models);
  expect(JSON.stringify(await readJsonFile(path))).not.toContain("sk-secret");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(path, ".."))).toEqual(["models.json"]);
});

test("it is fresh for a day, serves for a week, and is then forgotten", async () => {
  await (await cache()).keep(endpoint, models);
  now += 23 * HOUR_MS;
  expect((await cache()).isFresh(endpoint)).toBe(true);
  now += 2 * HOUR_MS;
  const old = await cache();
  expect([old.isFresh(endpoint), old.models(endpoint)]).toEqual([false, models]);
  now += 7 * 24 * HOUR_MS;
  expect((await cache()).models(endpoint)).toBeUndefined();
});

test("lists belong to their address", async () => {
  const kept = await cache();
  await kept.keep(endpoint, models);
  expect(kept.models({ ...endpoint, baseUrl: "https://proxy.example/v1" })).toBeUndefined();
  kept.forget("openai");
  expect(kept.isFresh(endpoint)).toBe(false);
});

test("a damaged file is an empty cache", async () => {
  await writeJsonFile(path, {});
  writeFileSync(path, '{"version":1,"lists":{"openai');
  expect((await cache()).models(endpoint)).toBeUndefined();
});

test("a limit that a provider named is kept with its model until the next list", async () => {
  await (await cache()).keep(endpoint, models);
  await (await cache()).amend(endpoint, "gpt-4.1", { contextWindow: 8_192 });
  expect((await cache()).models(endpoint)).toEqual([{ id: "gpt-4.1", facts: { contextWindow: 8_192 } }]);
  await (await cache()).keep(endpoint, models);
  expect((await cache()).models(endpoint)).toEqual(models);
});
