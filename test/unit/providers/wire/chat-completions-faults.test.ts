import { describeFaults } from "../../../conformance/faults.ts";

describeFaults({
  mode: "chat_completions",
  malformed: '{"choices":"none"}',
  overloaded: JSON.stringify({ error: { message: "Provider overloaded", code: 503 } }),
  reasoningRefused: JSON.stringify({ error: { message: "The encrypted content could not be verified." } }),
});
