// A language model for the extension-host suite: it reads a.txt with a tool and says what it read. What the user says
// last decides: "hang" never ends unless it is cancelled, "fail" throws.
const vscode = require("vscode");

const MODEL = {
  id: "parrot",
  name: "Parrot",
  family: "parrot",
  version: "1",
  maxInputTokens: 64_000,
  maxOutputTokens: 4_000,
  capabilities: { toolCalling: true, imageInput: true },
};

/** Texts of the parts of one kind, over all messages. */
function texts(messages, kind) {
  const parts = messages.flatMap(({ content }) => content).filter((part) => part instanceof kind);
  return parts.map((part) =>
    Array.isArray(part.content) ? part.content.map(({ value }) => value).join("") : part.value,
  );
}

async function answer(...[, messages, { tools }, progress, token]) {
  const said = texts(messages, vscode.LanguageModelTextPart).at(-1)?.split("\n").at(-1) ?? "";
  if (said.includes("fail")) throw vscode.LanguageModelError.Blocked("the parrot is tired");
  if (said.includes("hang")) {
    progress.report(new vscode.LanguageModelTextPart("I hang"));
    await new Promise((resolve) => token.onCancellationRequested(resolve));
    return;
  }
  const results = texts(messages, vscode.LanguageModelToolResultPart);
  if (results.length > 0) {
    for (const word of `I read: ${results.at(-1)}`.match(/\S+\s*/g)) {
      progress.report(new vscode.LanguageModelTextPart(word));
    }
    return;
  }
  if (!tools?.some(({ name }) => name === "read_file")) throw new Error("there is no read_file");
  progress.report(new vscode.LanguageModelTextPart("Reading. "));
  progress.report(new vscode.LanguageModelToolCallPart("call-1", "read_file", { path: "a.txt" }));
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider("suite", {
      provideLanguageModelChatInformation: () => [MODEL],
      provideLanguageModelChatResponse: answer,
      provideTokenCount: (_model, text) => JSON.stringify(text).length / 4,
    }),
  );
};
