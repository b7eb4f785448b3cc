import { describeWire } from "../../../conformance/wire.ts";

describeWire({ mode: "anthropic_messages", malformed: '{"type":"content_block_delta","index":"one"}' });
