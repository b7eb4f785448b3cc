import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ToolResult } from "../../../agent-core/tools/tool.ts";
import { tool as visionAnalyze } from "../../../agent-core/tools/vision-analyze.ts";
import { checkPicture } from "../../../agent-core/web/picture.ts";
import type { WebAccess } from "../../../agent-core/web/web-access.ts";
import { toolBench } from "../../support/tool-context.ts";

/** Whole pictures of 1 × 1 to 3 × 2 pixels. */
const PICTURES = {
  "image/png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "image/gif": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
  "image/webp": "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=",
} as const;

/** Beginning of a JPEG with a comment before its frame of 640 × 480 pixels. */
const JPEG = Buffer.from("ffd8fffe0004aabbffc0001108 01e0 0280 03012200021101031101".replaceAll(" ", ""), "hex");

test.each(Object.entries(PICTURES))("%s is read with its size", (mimeType, data) => {
  expect(checkPicture(Buffer.from(data, "base64"), "p")).toEqual({
    ok: true,
    picture: { mimeType, data },
    width: 1,
    height: 1,
  });
});

test("JPEG, and the lossless and extended WebP, are read with their size", () => {
  expect(checkPicture(JPEG, "p")).toMatchObject({ picture: { mimeType: "image/jpeg" }, width: 640, height: 480 });
  const webp = (kind: string, rest: string): Buffer =>
    Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${kind}\0\0\0\0`, "latin1"), Buffer.from(rest.padEnd(40, "0"), "hex")]);
  expect(checkPicture(webp("VP8L", "2f02400000"), "p")).toMatchObject({ width: 3, height: 2 });
  expect(checkPicture(webp("VP8X", "00000000020000010000"), "p")).toMatchObject({ width: 3, height: 2 });
});

const png = (width: number, height: number, bytes = 30): Buffer => {
  const header = Buffer.alloc(bytes);
  header.write("\x89PNG\r\n\x1a\n", "latin1");
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return header;
};

test.each([
  ["an empty file", Buffer.alloc(0), "p is empty"],
  ["a text", Buffer.from("<svg/>"), "p is no PNG, JPEG, WebP or GIF picture"],
  ["a cut PNG", png(1, 1).subarray(0, 12), "p is a damaged picture: it declares no size"],
  ["a cut JPEG", JPEG.subarray(0, 8), "p is a damaged picture: it declares no size"],
  ["huge sides", png(100_000, 100_000), "p is too large (100000 × 100000 pixels): scale its longer side to 1568"],
  ["many bytes", png(100, 100, 4_000_000), "p is too large (4.0 MB): scale its longer side to 1568 pixels first"],
])("%s is refused with one sentence", (_, bytes, expected) => {
  expect(checkPicture(bytes, "p")).toMatchObject({ ok: false, text: expect.stringContaining(expected) });
});

async function look(image: string, web: Partial<WebAccess>): Promise<ToolResult> {
  const bench = toolBench();
  writeFileSync(join(bench.folder, "a.png"), Buffer.from(PICTURES["image/png"], "base64"));
  const prepared = visionAnalyze.prepare({ image, question: "Which colour?" }, bench.folder);
  if (!prepared.ok) throw new Error(prepared.text);
  const staged = await prepared.call.stage({ ...bench.context, web: { allowsPrivate: false, ...web } });
  return staged.ok ? staged.run() : { ok: false, text: staged.text };
}

test("a model that sees gets the picture itself", async () => {
  const result = await look("a.png", { acceptsPictures: () => true });
  expect(result).toMatchObject({ ok: true, images: [{ mimeType: "image/png", data: PICTURES["image/png"] }] });
  expect(result.text).toBe("The picture (image/png, 1 × 1 pixels) follows. Answer from it: Which colour?");
});

test("another model gets the answer of auxiliary.vision, or one line", async () => {
  const answered = await look("a.png", {
    askAboutPicture: async (_, question) => ({ ok: true, text: `${question} Red.` }),
  });
  expect(answered.text).toBe('<picture name="a.png">\nWhich colour? Red.\n</picture>');
  expect(answered.images).toBeUndefined();
  expect(answered.media).toHaveLength(1);
  expect((await look("a.png", {})).text).toContain("this model cannot see pictures. The user can set auxiliary.vision");
});

test("a missing file and a private address fail with one line", async () => {
  expect((await look("b.png", { acceptsPictures: () => true })).text).toMatch(
    /^vision_analyze: \/.*b\.png does not exist\.$/,
  );
  expect((await look("http://localhost:1/a.png", { acceptsPictures: () => true })).text).toContain(
    "it is this machine",
  );
});

test("a path is read like a file, and an address is a fetch", () => {
  const effect = (image: string) => {
    const prepared = visionAnalyze.prepare({ image, question: "?" }, "/project");
    return prepared.ok ? prepared.call.effect : undefined;
  };
  expect(effect("a.png")).toEqual({ kind: "read", paths: ["/project/a.png"] });
  expect(effect("https://example.com/a.png")).toEqual({
    kind: "fetch",
    sent: ["https://example.com/a.png"],
    places: ["example.com"],
  });
});
