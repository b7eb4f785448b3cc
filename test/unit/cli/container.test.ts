import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { parseCommandLine } from "../../../cli/command-line.ts";

const folder = join(import.meta.dirname, "../../../container");
const service = z.looseObject({
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
  image: z.string().optional(),
  command: z.union([z.string(), z.array(z.string())]).optional(),
});
const compose = z.looseObject({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.unknown()) });

/** Command lines of the containers with our image, as their shell-free form. */
function commandsIn(name: string): readonly (readonly string[])[] {
  const text = readFileSync(join(folder, name), "utf8").replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
  const { services } = compose.parse(parse(text, { merge: true }));
  return Object.values(services).flatMap(({ build, image, command }) => {
    expect([build, image].filter((each) => each !== undefined)).toHaveLength(1);
    if (build === undefined || command === undefined) return [];
    return [typeof command === "string" ? command.trim().split(/\s+/) : command];
  });
}

test.each(["compose.yaml", "batch.compose.yaml"])("Each command of %s is one of the command line", async (name) => {
  const commands = commandsIn(name);
  expect(commands.length).toBeGreaterThan(0);
  for (const words of commands) expect(await parseCommandLine(words)).toMatchObject({ kind: "run" });
});

test("The image starts the server with options that it has", async () => {
  const text = readFileSync(join(folder, "Dockerfile"), "utf8");
  const words = z.array(z.string()).parse(JSON.parse(/^CMD (\[.*\])$/m.exec(text)?.[1] ?? "null"));
  expect(await parseCommandLine(words)).toMatchObject({ kind: "run" });
  for (const [, from] of text.matchAll(/^COPY --from=build \/build\/(\S+)/gm))
    expect(["dist", "package.json"]).toContain(from);
});
