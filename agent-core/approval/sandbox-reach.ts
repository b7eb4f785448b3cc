/** Reach of a program: inside a sandbox without network, with the network, or beyond every sandbox. */
import type { Call } from "./command-effect.ts";
import { buildTools } from "./rules/build-rules.ts";
import { diskTools, processTools, windowsTools } from "./rules/machine-rules.ts";
import { fetchers, networkTools } from "./rules/network-rules.ts";
import { nodePackages, packageManagers } from "./rules/package-rules.ts";
import { containers, databases } from "./rules/service-rules.ts";
import type { Finding, Reach } from "./shell/recorder.ts";

/** Network programs that need neither keys nor services of this machine. */
const CLIENTS = words(
  "ping ping6 dig nslookup host traceroute tracepath mtr whois getent nc ncat netcat telnet ftp lftp tftp aria2c http https xh",
);
/** Programs that take other rights, or start something beyond their own processes. */
const OUTSIDE = words(
  "sudo doas pkexec run0 su runuser sg gosu su-exec chroot unshare nsenter systemd-run systemctl loginctl service launchctl rc-service tmux screen",
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
  const asks = findings.some(({ contained }) => contained !== true);
  if (OUTSIDE.has(name) || containers.has(name) || diskTools.has(name) || windowsTools.has(name)) return "outside";
  if (databases.has(name)) return FILE_DATABASES.has(name) ? "inside" : "outside";
  if (fetchers.has(name) || CLIENTS.has(name)) return "network";
  if (networkTools.has(name)) return "outside";
  const texts = args.map(({ text }) => text);
  if (name === "git") return gitReach(texts);
  if (!asks) return "inside";
  if (processTools.has(name)) return texts.some((text) => /^%/.test(text)) ? "inside" : "outside";
  if (!nodePackages.has(name) && !packageManagers.has(name) && !buildTools.has(name)) return "inside";
  const leaves = MACHINE_MANAGERS.has(name) || texts.some((text) => GLOBAL_OPTION.test(text));
  return leaves || ACCOUNT_COMMAND.test(texts.find((text) => !text.startsWith("-")) ?? "") ? "outside" : "network";
}

function gitReach(args: readonly string[]): Reach {
  const at = args.findIndex((text, index) => !text.startsWith("-") && !GIT_OPTION_WITH_VALUE.test(args[index - 1] ?? ""));
  const [command = "", action = ""] = at < 0 ? [] : args.slice(at);
  if (GIT_OUTSIDE.has(command)) return "outside";
  if (command === "config") return /^(?:--get.*|--list|-l|get|list)$/.test(action) ? "inside" : "outside";
  if (command === "remote") return /^(?:|-v|--verbose|get-url)$/.test(action) ? "inside" : "outside";
  return "inside";
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
