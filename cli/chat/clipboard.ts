/** Picture in the system's clipboard, by the programs that desktops have for it. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const MAX_BYTES = 32 * 1024 * 1024;
/** Signature of a PNG file (RFC 2083, 3.1). */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Writes the picture as base64, since PowerShell changes bytes on standard output. */
const POWERSHELL = `Add-Type -AssemblyName System.Windows.Forms,System.Drawing
$image = [Windows.Forms.Clipboard]::GetImage()
if ($image) { $s = New-Object IO.MemoryStream; $image.Save($s, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($s.ToArray()) }`;

type Source = { readonly program: string; readonly args: readonly string[]; readonly isText?: boolean };

const PNG_TYPE = "image/png";
const WINDOWS: Source = {
  program: "powershell.exe",
  args: ["-NoProfile", "-STA", "-Command", POWERSHELL],
  isText: true,
};
const SOURCES: Partial<Readonly<Record<NodeJS.Platform, readonly Source[]>>> = {
  darwin: [{ program: "pngpaste", args: ["-"] }],
  win32: [WINDOWS],
  linux: [
    { program: "wl-paste", args: ["--no-newline", "--type", PNG_TYPE] },
    { program: "xclip", args: ["-selection", "clipboard", "-target", PNG_TYPE, "-out"] },
    WINDOWS, // under WSL
  ],
};

/**
 * Path of a file with the picture, which is removed with the process. Rejects with a sentence for people, also when the
 * clipboard holds no picture.
 */
export async function clipboardPicture(): Promise<string> {
  const sources = SOURCES[process.platform] ?? [];
  let isAsked = false;
  for (const { program, args, isText } of sources) {
    const options = { encoding: "buffer", maxBuffer: MAX_BYTES, timeout: 5_000 } as const;
    const found = await promisify(execFile)(program, [...args], options).catch((error: unknown) => error);
    isAsked ||= Object(found).code !== "ENOENT";
    const { stdout }: { stdout?: Buffer } = Object(found);
    const bytes = isText && stdout ? Buffer.from(stdout.toString("latin1"), "base64") : stdout;
    if (bytes?.subarray(0, PNG.length).equals(PNG)) return stored(bytes);
  }
  if (isAsked) throw new Error("The clipboard holds no picture. /image PATH attaches a file.");
  const names = sources.map(({ program }) => program).join(" or ") || "a program for the clipboard";
  throw new Error(`To read a picture from the clipboard, install ${names}. /image PATH attaches a file.`);
}

function stored(bytes: Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), "hermes-picture-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "clipboard.png");
  writeFileSync(path, bytes, { mode: 0o600 });
  return path;
}
