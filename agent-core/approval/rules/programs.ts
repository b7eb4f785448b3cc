/** Every known program by name, and the reach that a call needs. */
import type { Call, Program } from "../command-effect.ts";
import type { Finding, Reach } from "../shell/recorder.ts";
import { archives } from "./archive-rules.ts";
import { buildTools } from "./build-rules.ts";
import { fileRemovers, fileWriters } from "./file-rules.ts";
import { finders } from "./find-rules.ts";
import { gits } from "./git-rules.ts";
import { interpreters, shells } from "./interpreter-rules.ts";
import { diskTools, processTools, windowsTools } from "./machine-rules.ts";
import { fetchers, networkTools } from "./network-rules.ts";
import { nodePackages } from "./node-package-rules.ts";
import { packageManagers } from "./package-manager-rules.ts";
import { textPrograms } from "./script-rules.ts";
import { containers, databases } from "./service-rules.ts";
import { readers } from "./text-rules.ts";
import { wrappers } from "./wrapper-rules.ts";

/** Of two groups with the same name the later one wins. */
export const programs: ReadonlyMap<string, Program> = new Map(
  [
    windowsTools,
    readers,
    networkTools,
    fetchers,
    fileWriters,
    fileRemovers,
    finders,
    textPrograms,
    archives,
    gits,
    interpreters,
    shells,
    buildTools,
    nodePackages,
    packageManagers,
    containers,
    databases,
    processTools,
    diskTools,
    wrappers,
  ].flatMap((group): readonly (readonly [string, Program])[] => [...group]),
);

/** Readers that cannot run a program or write a file, and the shell's own words for small steps. */
export const textFilters = words("cat head tail grep wc cut tr uniq jq echo printf true cd pwd ls date sleep test [");

/** Network programs that need neither keys nor services of this machine. */
const CLIENTS = words(
  "ping ping6 dig nslookup host traceroute tracepath mtr whois getent nc ncat netcat telnet ftp lftp tftp aria2c http https xh",
);
/** Programs that take other rights, or start something beyond their own processes. */
const OUTSIDE = words(
  "sudo doas pkexec run0 su runuser sg gosu su-exec chroot unshare nsenter systemd-run systemctl loginctl service launchctl rc-service tmux screen at batch crontab hermes hermes-acp",
);
/** Databases in plain files. */
const FILE_DATABASES = words("sqlite3 sqlite duckdb");
/** Package managers that install outside of a project. */
const MACHINE_MANAGERS = words(
  "apt apt-get apt-cache dnf yum zypper apk snap flatpak port pkg pacman brew winget choco nix dpkg rpm pipx cpan",
);
const GLOBAL_OPTION = /^(?:-g|--global|--user|--location=global)$/;
/** Commands of package managers that use the user's account. */
const ACCOUNT_COMMAND = /^(?:publish|unpublish|login|logout|adduser|token|access|owner|deprecate|dist-tag|yank)$/;
/** Commands of git that need another machine, the user's keys, or git's own settings. */
const GIT_OUTSIDE = words(
  "fetch pull push clone ls-remote fetch-pack send-pack submodule init worktree svn p4 lfs send-email imap-send credential maintenance",
);
const GIT_OPTION_WITH_VALUE = /^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env)$/;

/** Reach of one call. `findings`: reasons why the call asks. A call that asks for nothing is tried inside first. */
export function reachOf({ name, args }: Call, findings: readonly Finding[]): Reach {
  const texts = args.map(({ text }) => text);
  if (name === "git") return gitReach(texts);
  if (fetchers.has(name) || CLIENTS.has(name)) return "network";
  if (FILE_DATABASES.has(name)) return "inside";
  if (OUTSIDE.has(name) || BEYOND.some((group) => group.has(name))) return "outside";
  const asks = findings.some(({ contained }) => contained !== true);
  if (asks && processTools.has(name)) return texts.some((text) => text.startsWith("%")) ? "inside" : "outside";
  return asks && MANAGERS.some((group) => group.has(name)) ? managerReach(name, texts) : "inside";
}

/** Groups of programs that work with keys, services and devices of this machine. */
const BEYOND = [containers, databases, diskTools, windowsTools, networkTools];
const MANAGERS = [nodePackages, packageManagers, buildTools];

function managerReach(name: string, args: readonly string[]): Reach {
  const leaves = MACHINE_MANAGERS.has(name) || args.some((text) => GLOBAL_OPTION.test(text));
  return leaves || ACCOUNT_COMMAND.test(args.find((text) => !text.startsWith("-")) ?? "") ? "outside" : "network";
}

function gitReach(args: readonly string[]): Reach {
  const at = args.findIndex(
    (text, index) => !text.startsWith("-") && !GIT_OPTION_WITH_VALUE.test(args[index - 1] ?? ""),
  );
  const [command = "", action = ""] = at < 0 ? [] : args.slice(at);
  if (GIT_OUTSIDE.has(command)) return "outside";
  if (/^(?:worktree list|submodule (?:status|summary))$/.test(`${command} ${action}`)) return "inside";
  // One key alone is read.
  const isRead = /^(?:--get.*|--list|-l|get|list)$/.test(action) || args.length === at + 2;
  if (command === "config") return isRead ? "inside" : "outside";
  if (command === "remote") return /^(?:|-v|--verbose|get-url)$/.test(action) ? "inside" : "outside";
  return "inside";
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
