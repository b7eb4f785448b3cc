import { describeWire } from "../../../conformance/wire.ts";

describeWire({
  mode: "codex_responses",
  malformed: '{"type":"response.output_text.delta","output_index":0,"delta":7}',
});
