/** The editor's models as something that answers here: no key, and no address either. */
import { Deadline } from "../../platform/deadline.ts";
import { editor } from "../deployments.ts";
import type { EditorModels } from "../wire/wire.ts";
import type { Found } from "./local-servers.ts";

/** A list that takes longer is not waited for; the editor tells when it has one. Milliseconds. */
const LIMIT_MS = 200;

/** One group, its first model as the default; none when the editor offers none. Rejects when it cannot be asked. */
export async function findEditorModels(models: EditorModels): Promise<readonly Found[]> {
  const over = new AbortController();
  const list = models.list(over.signal).catch((error: unknown) => {
    if (over.signal.aborted) return [];
    throw error;
  });
  await new Deadline(LIMIT_MS).waitFor(list);
  over.abort();
  const offered = await list;
  const [first] = offered;
  if (first === undefined) return [];
  return [
    {
      deployment: { ...editor, defaultModel: first.id },
      models: offered.map(({ id, name, maxInputTokens }) => ({
        id,
        name,
        ...(maxInputTokens > 0 && { facts: { contextWindow: maxInputTokens } }),
      })),
    },
  ];
}
