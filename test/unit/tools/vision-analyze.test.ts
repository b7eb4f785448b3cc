import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { encode } from "fast-png";
import jpeg from "jpeg-js";
import { describe, expect, test } from "vitest";
import type { ToolResult } from "../../../agent-core/tools/tool.ts";
import { tool as visionAnalyze } from "../../../agent-core/tools/vision-analyze.ts";
import { checkPicture, fitPicture } from "../../../agent-core/web/picture.ts";
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

describe("a picture that is too large", () => {
  const { signal } = new AbortController();
  /** Left half red, right half as `right`. */
  const halves = (
    width: number,
    height: number,
    right: readonly number[],
    data: Uint8Array | Uint16Array,
  ): typeof data => {
    const channels = data.length / (width * height);
    for (let at = 0; at < data.length; at += 1) {
      const isLeft = Math.floor(at / channels) % width < width / 2;
      data[at] = (isLeft ? [255, 0, 0, 255] : right)[at % channels] ?? 0;
    }
    return data;
  };
  const fitted = async (bytes: Uint8Array) => {
    const fits = await fitPicture(Buffer.from(bytes), "p", signal);
    if (!fits.ok) return fits.text;
    const { picture, width, height, scaledFrom } = fits;
    const { data } = jpeg.decode(Buffer.from(picture.data, "base64"));
    const at = (x: number) => [...data.subarray(x * 4, x * 4 + 3)].map((value) => Math.round(value / 51) * 51);
    return { type: picture.mimeType, size: [width, height], scaledFrom, colours: [at(10), at(width - 10)] };
  };
  const expected = (right: readonly number[], height: number, from: string) => ({
    type: "image/jpeg",
    size: [1568, height],
    scaledFrom: from,
    colours: [[255, 0, 0], right],
  });

  test("is scaled down: a wide PNG, its transparent part on white", async () => {
    const [width, height] = [9_000, 12];
    const data = halves(width, height, [0, 0, 255, 0], new Uint8Array(width * height * 4));
    expect(await fitted(encode({ width, height, data, channels: 4 }))).toEqual(
      expected([255, 255, 255], 2, "9000 × 12 pixels"),
    );
  });

  test("is scaled down: a grey PNG with 16 bits, and a JPEG", async () => {
    const grey = new Uint16Array(9_000 * 12).fill(0xffff);
    expect(await fitted(encode({ width: 9_000, height: 12, data: grey, channels: 1, depth: 16 }))).toMatchObject({
      colours: [
        [255, 255, 255],
        [255, 255, 255],
      ],
    });
    const data = halves(8_010, 40, [0, 0, 255, 255], new Uint8Array(8_010 * 40 * 4));
    const photo = jpeg.encode({ width: 8_010, height: 40, data }, 95).data;
    expect(await fitted(photo)).toEqual(expected([0, 0, 255], 8, "8010 × 40 pixels"));
  });

  test.each([
    [
      "a GIF",
      Buffer.from("474946383961 ffff ffff".replaceAll(" ", ""), "hex"),
      /^p is too large \(65535 × 65535 pixels\): scale/,
    ],
    ["a cut PNG", png(9_000, 10), /^p is too large .*could not be scaled here: unexpected end of file\)$/],
    ["a PNG with 10 billion pixels", png(100_000, 100_000), /more than 50 million pixels/],
    ["a PNG whose data is longer than its size says", bomb(), /could not be scaled here: .*larger than/],
  ])("%s is refused with one sentence", async (_, bytes, reason) => {
    expect(await fitted(bytes)).toMatch(reason);
  });

  /** Packed to 100 kB, 100 MB of zeros: more than 9,000 × 10 pixels have. */
  function bomb(): Buffer {
    const packed = deflateSync(Buffer.alloc(100_000_000));
    const header = png(9_000, 10, 33);
    header.writeUInt32BE(13, 8);
    header.write("IHDR", 12, "latin1");
    header.set([8, 2], 24);
    const begin = Buffer.alloc(8);
    begin.writeUInt32BE(packed.length, 0);
    begin.write("IDAT", 4, "latin1");
    return Buffer.concat([header, begin, packed, Buffer.alloc(4)]);
  }
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
