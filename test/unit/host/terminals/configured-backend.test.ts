import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { usableSandbox } from "../../../../agent-core/host/terminals/configured-backend.ts";
import { temporaryFolder } from "../../../support/acp-client.ts";

afterEach(() => vi.unstubAllEnvs());

test("a home folder that does not exist is in no workspace", () => {
  const folder = temporaryFolder("hermes-backend-");
  vi.stubEnv("HOME", join(folder, "none"));
  expect(usableSandbox("auto", [folder])).not.toMatchObject({ reason: "the workspace contains your home folder" });
});

test("a home folder that cannot be hidden allows no sandbox, and the reason names it", () => {
  vi.stubEnv("HOME", "/");
  expect(usableSandbox("auto", [temporaryFolder("hermes-backend-")])).toMatchObject({
    reason: "your home folder is /",
  });
});
