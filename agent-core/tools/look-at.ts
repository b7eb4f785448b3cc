/** A picture for the model: a model that sees gets the picture itself, another one the answer of `auxiliary.vision`. */
import { wrapData } from "../prompt/injection-scan.ts";
import type { Picture } from "../web/web-access.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

type Looked = Pick<ToolResult, "ok" | "text" | "images">;

/** Result of `tool` when no model can see pictures, with `advice` for the user; undefined when one can. */
export function blindness(tool: string, { web }: ToolContext, advice: string): Looked | undefined {
  if (web?.sees?.() === true || web?.look !== undefined) return undefined;
  return { ok: false, text: `${tool}: this model cannot see pictures. ${advice}` };
}

/** `seen`: text beside the picture for a model that sees. `source`: kind and name of the foreign data. */
export async function lookAt(
  picture: Picture,
  about: {
    readonly tool: string;
    readonly seen: string;
    readonly question: string;
    readonly source: readonly [kind: "picture" | "web-page", name: string];
  },
  { web, signal }: ToolContext,
): Promise<Looked> {
  if (web?.sees?.() === true) return { ok: true, text: about.seen, images: [picture] };
  const answer = await web?.look?.(picture, about.question, signal);
  if (!answer?.ok) return { ok: false, text: `${about.tool}: ${answer?.text ?? "no model can see pictures"}.` };
  return { ok: true, text: wrapData(...about.source, answer.text) };
}
