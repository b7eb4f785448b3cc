import assert from "node:assert/strict";
import * as vscode from "vscode";
import { AgentEnvironment } from "../../../extension/models/agent-environment.ts";

// VS Code's own settings for its network, on their way to the agent's worker.
suite("network settings", () => {
  const http = () => vscode.workspace.getConfiguration("http");
  const set = (name: string, value: unknown) => http().update(name, value, vscode.ConfigurationTarget.Global);
  const environment = new AgentEnvironment({ keys: async () => ({}) });

  suiteTeardown(async () => {
    for (const name of ["proxy", "noProxy", "proxyAuthorization", "proxyStrictSSL", "proxySupport"]) {
      await set(name, undefined);
    }
  });

  test("without a setting, the environment variables apply", async () => {
    const names = Object.keys(await environment.variables());
    assert.deepEqual(
      names.filter((name) => /PROXY|SSL/.test(name)),
      [],
    );
  });

  test("the proxy, its exceptions, its header and the check of certificates reach the agent", async () => {
    await set("proxy", "http://127.0.0.1:1");
    await set("noProxy", [".example.org", "10.0.0.0/8"]);
    await set("proxyAuthorization", "Bearer one");
    await set("proxyStrictSSL", false);
    const { HERMES_PROXY, HERMES_NO_PROXY, HERMES_PROXY_AUTHORIZATION, HERMES_STRICT_SSL } =
      await environment.variables();
    assert.deepEqual(
      [HERMES_PROXY, HERMES_NO_PROXY, HERMES_PROXY_AUTHORIZATION, HERMES_STRICT_SSL],
      ["http://127.0.0.1:1", ".example.org,10.0.0.0/8", "Bearer one", "false"],
    );
  });

  test("a disabled proxy setting applies to the agent, too", async () => {
    await set("proxySupport", "off");
    assert.equal((await environment.variables())["HERMES_PROXY"], "off");
  });
});
