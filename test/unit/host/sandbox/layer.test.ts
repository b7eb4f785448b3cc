import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { layerOver } from "../../../../agent-core/host/terminals/sandbox/layer.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** An `unshare` first on PATH that notes each start, waits for a line, and ends with it as its code. */
function kernel() {
  const folder = mkdtempSync(join(tmpdir(), "hermes-kernel-"));
  const [pipe, starts, unshare] = ["pipe", "starts", "unshare"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  execFileSync("sh", ["-c", `mkfifo ${pipe}`]);
  writeFileSync(unshare, `#!/bin/sh\necho start >> ${starts}\nread code < ${pipe}\nexit $code\n`);
  chmodSync(unshare, 0o755);
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env["PATH"]}`);
  return {
    layer: (name: string) => ({ base: folder, folder: join(folder, name), hidden: [] }),
    answer: (code: number) => writeFileSync(pipe, `${code}\n`),
    starts: () => (existsSync(starts) ? readFileSync(starts, "utf8").length / "start\n".length : 0),
  };
}

test.runIf(process.platform === "linux").each([
  [0, true],
  [1, false],
])("the kernel is asked for a layer once, while other work goes on: exit code %i", async (code, isMounted) => {
  const { layer, answer, starts } = kernel();
  const asked = ["written", "fetched"].map((name) => layerOver(layer(name)));
  answer(code); // A blocked thread would never get here.
  expect((await Promise.all(asked)).map((each) => each !== undefined)).toEqual([isMounted, isMounted]);
  expect((await layerOver(layer("later"))) !== undefined).toBe(isMounted);
  expect(starts()).toBe(1);
});

test.each(["darwin", "win32"] as const)("no program is started for a layer on %s", async (platform) => {
  const { layer, starts } = kernel();
  vi.spyOn(process, "platform", "get").mockReturnValue(platform);
  expect(await layerOver(layer("written"))).toBeUndefined();
  expect([starts(), existsSync(layer("written").folder)]).toEqual([0, false]);
});
