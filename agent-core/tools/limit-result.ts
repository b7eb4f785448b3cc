/** Results too long for a message: the whole goes to a file, the model gets both ends and the path. */
import { join } from "node:path";
import { messageOf } from "../platform/errors.ts";

/** A longer result is written aside; behaviour.md §AIAgent, Tool runs. Characters. */
const RESULT_LIMIT = 100_000;
const HEAD_CHARS = 20_000;
const TAIL_CHARS = 20_000;

/** Gives `text` itself when it is short enough. `callId` names the file under `spillFolder`. */
export async function limitResult(
  text: string,
  callId: string,
  spillFolder: string,
  writeSpill: (path: string, text: string) => Promise<void>,
): Promise<string> {
  if (text.length <= RESULT_LIMIT) return text;
  const path = join(spillFolder, `result-${callId.replace(/[^\w-]/g, "_")}.txt`);
  const where = await writeSpill(path, text).then(
    () => `The whole result (${text.length} characters) is in ${path}.`,
    (error: unknown) => `The whole result could not be stored: ${messageOf(error)}.`,
  );
  const omitted = text.length - HEAD_CHARS - TAIL_CHARS;
  return `${text.slice(0, HEAD_CHARS)}\n\n[… ${omitted} characters left out. ${where} …]\n\n${text.slice(-TAIL_CHARS)}`;
}
