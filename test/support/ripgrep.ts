/** Path of a real ripgrep: the one of the VS Code that the tests run in, else the one on PATH. */
import { globSync } from "node:fs";
import { findProgram } from "../../agent-core/host/find-program.ts";
import { vscodeRipgrep } from "../../extension/agent/vscode-ripgrep.ts";
import { vscodeTestFolder } from "../../scripts/project.ts";

const servers = globSync(`${vscodeTestFolder}/code-server-*/lib/vscode`);

export const ripgrep = servers.map(vscodeRipgrep).find((path) => path !== undefined) ?? findProgram("rg");
