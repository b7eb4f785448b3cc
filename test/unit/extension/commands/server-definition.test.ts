import { describe, expect, test } from "vitest";
import { definitionsIn } from "../../../../extension/commands/server-definition.ts";

const text = (json: unknown): string => JSON.stringify(json);

describe("the definition of an MCP server", () => {
  test("is read from the registry's server.json, with the values that the user must give", () => {
    const found = definitionsIn(
      text({
        name: "io.github.example/weather",
        packages: [
          {
            registryType: "npm",
            identifier: "@example/weather-mcp",
            version: "1.2.0",
            packageArguments: [{ type: "named", name: "--units", value: "metric" }],
            environmentVariables: [
              { name: "WEATHER_KEY", description: "Key of the service", isRequired: true, isSecret: true },
              { name: "LANG", value: "en" },
            ],
          },
        ],
        remotes: [{ type: "streamable-http", url: "https://weather.example/mcp" }],
      }),
    );
    expect(found).toEqual([
      {
        name: "weather",
        section: {
          command: "npx",
          args: ["-y", "@example/weather-mcp@1.2.0", "--units", "metric"],
          env: { LANG: "en" },
        },
        needs: [{ name: "WEATHER_KEY", about: "Key of the service", isSecret: true }],
      },
      { name: "weather", section: { url: "https://weather.example/mcp", headers: {} }, needs: [] },
    ]);
  });

  test("is read from VS Code's mcp.json, whose questions become the user's values", () => {
    const [found] = definitionsIn(
      '{ "servers": { "db": { "command": "uvx", "args": ["db"], "env": { "PW": "${input:pw}" } }, } }',
    );
    expect(found).toEqual({
      name: "db",
      section: { command: "uvx", args: ["db"], env: {} },
      needs: [{ name: "PW", about: "", isSecret: true }],
    });
  });

  test("is read from mcpServers of other agents, also with an address", () => {
    const servers = { issues: { type: "sse", url: "https://issues.example/sse", headers: { "X-Team": "a" } } };
    expect(definitionsIn(text({ mcpServers: servers }))).toEqual([
      {
        name: "issues",
        section: { url: "https://issues.example/sse", type: "sse", headers: { "X-Team": "a" } },
        needs: [],
      },
    ]);
  });

  test.each(["", "npm install", "[]", '{"name": "x"}', '{"servers": {"x": {}}}'])(
    "is in no other text: %s",
    (other) => {
      expect(definitionsIn(other)).toEqual([]);
    },
  );
});
