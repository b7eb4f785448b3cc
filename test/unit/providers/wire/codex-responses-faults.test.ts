import { describeFaults } from "../../../conformance/faults.ts";

describeFaults({
  mode: "codex_responses",
  malformed: '{"type":"response.output_text.delta","output_index":0,"delta":7}',
  overloaded: JSON.stringify({
    type: "error",
    code: "server_error",
    message: "The engine is overloaded.",
    param: null,
  }),
  reasoningRefused: JSON.stringify({
    error: {
      type: "invalid_request_error",
      code: "invalid_encrypted_content",
      message: "The encrypted content for item rs_1 could not be verified.",
    },
  }),
});
