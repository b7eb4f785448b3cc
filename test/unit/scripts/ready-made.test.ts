import { expect, test } from "vitest";
import { directoryTools } from "../../../agent-core/agent/tool-catalogue.ts";
import { sections } from "../../../agent-core/config/sections.ts";
import { table } from "../../../agent-core/tools/table.gen.ts";
import { sectionDefaultsModule, toolParametersModule } from "../../../scripts/ready-made.ts";

const imported = (module: string) => import(`data:text/javascript,${encodeURIComponent(module)}`);

test("the bundles hold the parameters that each tool declares, in the same order", async () => {
  const bundled = await imported(toolParametersModule());
  for (const { name, schema } of [...table, ...directoryTools([], 0)]) {
    expect(JSON.stringify(bundled.toolParameters(name))).toBe(JSON.stringify(schema.parameters));
  }
  expect(() => bundled.toolParameters("unknown_tool")).toThrow("unknown_tool");
});

test("the bundles hold the default of each section of config.yaml", async () => {
  const bundled = await imported(sectionDefaultsModule());
  for (const [name, schema] of Object.entries(sections)) {
    expect({ [name]: bundled.sectionDefault(name) }).toStrictEqual({ [name]: schema.parse(undefined) });
  }
});
