import { expect, test } from "vitest";
import { table } from "../../../agent-core/tools/table.gen.ts";
import { toolParametersModule } from "../../../scripts/tool-parameters.ts";

test("the bundles hold the parameters that each tool declares, in the same order", async () => {
  const bundled = await import(`data:text/javascript,${encodeURIComponent(toolParametersModule())}`);
  for (const { name, schema } of table) {
    expect(JSON.stringify(bundled.toolParameters(name))).toBe(JSON.stringify(schema.parameters));
  }
});
