import { describeFaults } from "../../../conformance/faults.ts";

describeFaults({
  mode: "anthropic_messages",
  malformed: '{"type":"content_block_delta","index":"none"}',
  overloaded: JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  reasoningRefused: JSON.stringify({
    type: "error",
    error: { type: "invalid_request_error", message: "messages.1.content.0: Invalid `signature` in `thinking` block" },
  }),
});
