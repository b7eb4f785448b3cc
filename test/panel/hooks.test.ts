import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call, say } from "../support/model-server/model-server.ts";
import { openPanel, useModelServer, usePanel } from "../support/panel/open-panel.ts";

const hooks = {
  pre_tool_call: [
    { matcher: "terminal", command: "echo 'No new files.' >&2; exit 2" },
    { matcher: "read_file", command: "cat > /dev/null" },
    { matcher: "search_files", command: "./no-such-hook" },
  ],
};

const model = useModelServer();
const panel = usePanel(() =>
  openPanel({
    model: model(),
    prepare({ home }) {
      const file = join(home, "config.yaml");
      writeFileSync(
        file,
        JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), hooks, hooks_auto_accept: true }),
      );
    },
  }),
);

test("a card names the hooks that ran for its call, with verdict and duration", async () => {
  const read = call("read_file", { path: "a.txt" });
  const search = call("search_files", { pattern: "two" });
  model().script({ parts: [read, search, call("terminal", { command: "touch b.txt" })] }, say("Done."));
  await panel().send("go");
  await panel().idle();
  const runs = panel().page.locator(".hook-run");
  const blocked = panel().page.locator('[data-status="failed"] .hook-run');
  await blocked.getByText(/blocked this call · [\d.]+ m?s/).waitFor();
  await blocked.getByText("No new files.", { exact: true }).waitFor();
  for (const card of await panel().page.locator('[data-status="completed"] .fold-summary').all()) await card.click();
  await runs.getByText(/^cat > \/dev\/null passed · /).waitFor();
  await runs.getByText("exit code 127").waitFor();
  expect(await runs.count()).toBe(3);
  expect(
    await panel()
      .page.getByText(/^The hook/)
      .count(),
  ).toBe(1); // the notice about the failure
  await panel().pictures("hooks-cards");
});

test("the page of extensions lists each hook with its event and its command", async () => {
  await panel().runCommand("Hermes: Show Extensions");
  const group = panel().page.getByRole("region", { name: /^Hooks/ });
  await group.getByText("./no-such-hook").first().waitFor();
  await group.evaluate((element) => element.scrollIntoView());
  await panel().pictures("hooks-list");
  expect(await group.getByRole("listitem").count()).toBe(3);
});
