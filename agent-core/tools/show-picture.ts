/** A picture for the model: itself if the model accepts pictures, otherwise the answer of the model in `auxiliary.vision`. */
import { wrapData } from "../prompt/injection-scan.ts";
import type { Picture } from "../web/web-access.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

type ShownPicture = Pick<ToolResult, "ok" | "text" | "images">;

/** Result of `tool` when no model can see pictures, with `advice` for the user; undefined when one can. */
export function refuseWithoutVision(tool: string, { web }: ToolContext, advice: string): ShownPicture | undefined {
  if (web?.acceptsPictures?.() === true || web?.askAboutPicture !== undefined) return undefined;
  return { ok: false, text: `${tool}: this model cannot see pictures. ${advice}` };
}

/** `seen`: text beside the picture. `source`: kind and name of the foreign data. */
export async function showPicture(
  picture: Picture,
  about: {
    readonly tool: string;
    readonly seen: string;
    readonly question: string;
    readonly source: readonly [kind: "picture" | "web-page", name: string];
  },
  { web, signal }: ToolContext,
): Promise<ShownPicture> {
  if (web?.acceptsPictures?.() === true) return { ok: true, text: about.seen, images: [picture] };
  const answer = await web?.askAboutPicture?.(picture, about.question, signal);
  if (!answer?.ok) return { ok: false, text: `${about.tool}: ${answer?.text ?? "no model can see pictures"}.` };
  return { ok: true, text: wrapData(...about.source, answer.text) };
}
