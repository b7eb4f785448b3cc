/** Attachments of files that the user dropped, picked or chose in a menu. */
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { Attachment, PictureType } from "../../agent-core/protocol/attachments.ts";
import { nameOf } from "./workspace-files.ts";

/** The panel scales a picture down. In base64 this is nearly 64 MiB, the limit of a message to it. */
const MAX_PICTURE_BYTES = 50_000_000;

const PICTURES: Readonly<Record<string, PictureType>> = {
  ...{ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" },
};

export type AttachedFiles = {
  readonly attachments: readonly Attachment[];
  /** Reasons why others are not attached, one sentence each. */
  readonly refused: readonly string[];
};

/** Files, folders and pictures as attachments. `within`: only those of the workspace. */
export async function attachFiles(
  uris: readonly vscode.Uri[],
  { within }: { readonly within: boolean },
): Promise<AttachedFiles> {
  const results = await Promise.all(uris.map((uri) => attachFile(uri, within)));
  return {
    attachments: results.filter((result) => typeof result !== "string"),
    refused: results.filter((result) => typeof result === "string"),
  };
}

async function attachFile(uri: vscode.Uri, within: boolean): Promise<Attachment | string> {
  const label = nameOf(uri);
  if (uri.scheme !== "file") return vscode.l10n.t("{0} is not attached: it is no file on this machine.", label);
  if (within && vscode.workspace.getWorkspaceFolder(uri) === undefined) {
    return vscode.l10n.t("{0} is not attached: it is outside the workspace.", label);
  }
  try {
    const { type, size } = await vscode.workspace.fs.stat(uri);
    if ((type & vscode.FileType.Directory) !== 0) return { kind: "folder", uri: uri.toString(), label };
    const mimeType = PICTURES[label.split(".").at(-1)?.toLowerCase() ?? ""];
    if (mimeType === undefined) return { kind: "file", uri: uri.toString(), label };
    if (size > MAX_PICTURE_BYTES) {
      return vscode.l10n.t(
        "{0} is not attached: a picture may have {1} MB, and it has {2} MB.",
        label,
        MAX_PICTURE_BYTES / 1e6,
        (size / 1e6).toLocaleString(vscode.env.language, { maximumFractionDigits: 1, minimumFractionDigits: 1 }),
      );
    }
    const bytes = await vscode.workspace.fs.readFile(uri);
    return { kind: "picture", label, mimeType, data: Buffer.from(bytes).toString("base64") };
  } catch (error) {
    return vscode.l10n.t("{0} is not attached: {1}", label, messageOf(error));
  }
}
