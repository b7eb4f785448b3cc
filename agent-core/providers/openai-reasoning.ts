/** OpenAI's own reasoning models by their names: its APIs take other options for them than for all other models. */

/** o-series, gpt-5 and later, codex; with a maker (`openai/o3`) or as a fine-tuned model (`ft:o4-mini:…`). */
const REASONING = /(^|[/:])(o\d|gpt-([5-9]|1\d))(?![a-z\d])|codex/;
/** These bear such a name, but answer without reasoning. */
const CHAT = /-chat(-|$)/;
/** Only the first of the gpt-5 family know the effort `minimal`. */
const MINIMAL = /(^|[/:])gpt-5(-mini|-nano)?(-\d{4}-\d\d-\d\d)?$/;

/** By the model's name, whatever its case. */
export function isOpenAiReasoningModel(model: string): boolean {
  const name = model.toLowerCase();
  return REASONING.test(name) && !CHAT.test(name);
}

/** False for the models that refuse the effort `minimal`. */
export function knowsMinimalEffort(model: string): boolean {
  return MINIMAL.test(model.toLowerCase());
}
