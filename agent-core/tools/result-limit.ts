/** Length of a tool's result. */
import { fallbackOutputFile } from "../platform/children/output-flow.ts";
import { messageOf } from "../platform/errors.ts";
import { spillPath } from "../sessions/session-files.ts";

/** A longer result goes to a file, and the model gets both ends and the path. Characters. */
const RESULT_LIMIT = 100_000;
const HEAD_CHARS = 20_000;
const TAIL_CHARS = 20_000;

/** Place of a result that is too long. `callId` names the file under `spillFolder`. */
export type SpillPlace = {
  readonly callId: string;
  /** Absolute. */
  readonly spillFolder: string;
  writeSpill(path: string, text: string): Promise<void>;
};

/** `text` itself when it has at most `limit` characters; `limit` is more than both ends. */
export async function limitResult(
  text: string,
  { callId, spillFolder, writeSpill }: SpillPlace,
  limit = RESULT_LIMIT,
): Promise<string> {
  if (text.length <= limit) return text;
  const path = spillPath({ callId, spillFolder }, "result", ".txt");
  const stored = (at: string) => (): string => `The whole result (${text.length} characters) is in ${at}.`;
  const fallback = fallbackOutputFile(path);
  const where = await writeSpill(path, text)
    .then(stored(path), () => writeSpill(fallback, text).then(stored(fallback)))
    .catch((error: unknown) => `The whole result could not be stored: ${messageOf(error)}.`);
  const omitted = text.length - HEAD_CHARS - TAIL_CHARS;
  return `${text.slice(0, HEAD_CHARS)}\n\n[… ${omitted} characters left out. ${where} …]\n\n${text.slice(-TAIL_CHARS)}`;
}
