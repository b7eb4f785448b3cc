import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { localBackend } from "../../../../agent-core/host/terminals/local-backend.ts";
import type { CommandRequest } from "../../../../agent-core/host/terminals/terminals.ts";

const folder = mkdtempSync(join(tmpdir(), "hermes-local-backend-"));
const backend = localBackend({ withheld: ["MY_KEY", "OTHER_KEY"], passed: { GIVEN: "yes" } });

afterEach(() => backend.dispose());

async function launchOf(more: Partial<CommandRequest> = {}) {
  const shell = { folder, variables: undefined };
  const outputFile = join(folder, "out");
  const request = {
    command: "ls -l",
    shell,
    keepsShell: true,
    input: "none",
    pty: false,
    outputFile,
    ...more,
  } as const;
  return (await backend.plan(request, false, new AbortController().signal)).launch;
}

test("a client can type the command into the user's shell, without the keys and with the passed variables", async () => {
  expect((await launchOf()).userShell).toEqual({
    line: "ls -l",
    language: "sh",
    env: { MY_KEY: null, OTHER_KEY: null, GIVEN: "yes" },
  });
});

test("a sandboxed command is never typed into the user's shell", async () => {
  expect(await launchOf({ sandbox: "isolated" })).not.toHaveProperty("userShell");
});
