/** Parts of a model's window, estimated from the texts and scaled to the meter's figure. */
import { messageTokens, pictureTokens, textTokens } from "../context/token-meter.ts";
import { HOOK_TEXT_HEAD } from "../hooks/hook.ts";
import { MEMORY_HEADS } from "../memory/memory.ts";
import type { Message } from "../messages/message.ts";
import { INSTRUCTIONS_HEAD, PLACE_HEAD } from "../prompt/system-prompt.ts";
import { type HermesContext, HermesContextPart } from "../protocol/sessions.ts";
import { SKILLS_HEAD } from "../skills/skill-index.ts";

export type RequestTexts = {
  /** Empty before the first turn. */
  readonly systemPrompt: string;
  readonly schemas: string;
  readonly messages: readonly Message[];
};

/** First words of the prompt's layers, in the order of the prompt. A layer ends where the next one begins. */
const LAYERS: readonly (readonly [HermesContextPart, string])[] = [
  ["memory", MEMORY_HEADS.memory],
  ["memory", MEMORY_HEADS.project],
  ["memory", MEMORY_HEADS.user],
  ["skills", SKILLS_HEAD],
  ["instructions", INSTRUCTIONS_HEAD],
  ["system-prompt", PLACE_HEAD],
];

/** Tokens of each part, in the order of the request. Their sum is exactly `used`. */
export function contextParts({ systemPrompt, schemas, messages }: RequestTexts, used: number): HermesContext["parts"] {
  const sizes = new Map<HermesContextPart, number>();
  const add = (part: HermesContextPart, tokens: number): void => void sizes.set(part, (sizes.get(part) ?? 0) + tokens);
  for (const [part, characters] of layersOf(systemPrompt)) add(part, textTokens(characters));
  add("tools", textTokens(schemas.length));
  for (const message of messages) {
    const [pictures, hooks] = [pictureTokens(message), textTokens(hookCharacters(message))];
    add("pictures", pictures);
    add("hooks", hooks);
    add(partOf(message), messageTokens(message) - pictures - hooks);
  }
  return scaled(sizes, used);
}

/** Length of the texts that hooks have added to a result, which are at its end. */
function hookCharacters(message: Message): number {
  if (message.role !== "tool") return 0;
  const start = message.content.indexOf(`\n\n${HOOK_TEXT_HEAD}`);
  return start === -1 ? 0 : message.content.length - start;
}

/** Lengths of the layers. The prompt is read as it was stored, because it never changes within a session. */
function layersOf(prompt: string): readonly (readonly [HermesContextPart, number])[] {
  let from = 0;
  const starts = LAYERS.flatMap(([part, head]) => {
    const start = prompt.indexOf(`\n\n${head}`, from);
    if (start === -1) return [];
    from = start;
    return [{ part, start }];
  });
  const all = [{ part: "system-prompt" as const, start: 0 }, ...starts];
  return all.map(({ part, start }, index) => [part, (all[index + 1]?.start ?? prompt.length) - start]);
}

function partOf(message: Message): HermesContextPart {
  switch (message.role) {
    case "system":
      return "system-prompt";
    case "user":
      return message.synthetic ? "notes" : "user";
    case "assistant":
      return "answers";
    case "tool":
      return "results";
  }
}

/** Rounds the running sum, so that no rounding error adds up. */
function scaled(sizes: ReadonlyMap<HermesContextPart, number>, used: number): HermesContext["parts"] {
  const total = [...sizes.values()].reduce((sum, tokens) => sum + tokens, 0);
  let before = 0;
  let rounded = 0;
  return HermesContextPart.options.map((part) => {
    before += sizes.get(part) ?? 0;
    const end = total === 0 ? 0 : Math.round((before / total) * used);
    const tokens = end - rounded;
    rounded = end;
    return { part, tokens };
  });
}
