/** Real OpenSSH server on the loopback interface with its own keys, and an `ssh` that trusts it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";

export type SshServer = {
  readonly port: number;
  readonly user: string;
  /** File of the private key that it accepts. */
  readonly key: string;
  /** Folder with an `ssh` that trusts this server, to be first on the PATH. */
  readonly programs: string;
  stop(): Promise<void>;
};

/** `loginShell`: every command line that comes in goes to `<loginShell> -c`; default: the user's own shell. */
export async function startSshServer(loginShell?: string): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-sshd-"));
  const at = (name: string): string => join(folder, name);
  for (const name of ["host", "user"]) {
    execFileSync(find("ssh-keygen"), ["-q", "-t", "ed25519", "-N", "", "-f", at(name)]);
  }
  execFileSync("cp", [at("user.pub"), at("authorized")]);
  mkdirSync(at("home")); // bash reads the start file of the home, which may do anything, and wait for a minute
  const port = await freePort();
  const force = loginShell === undefined ? "" : `ForceCommand ${loginShell} -c "$SSH_ORIGINAL_COMMAND"\n`;
  writeFileSync(
    at("sshd_config"),
    `Port ${port}\nListenAddress 127.0.0.1\nHostKey ${at("host")}\nAuthorizedKeysFile ${at("authorized")}\n` +
      `PidFile none\nSetEnv TMPDIR=${tmpdir()} HOME=${at("home")}\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n${force}`,
  );
  const [type, hostKey] = execFileSync("cat", [at("host.pub")], { encoding: "utf8" }).split(" ");
  writeFileSync(at("known"), `[127.0.0.1]:${port} ${type} ${hostKey}\n`);
  writeFileSync(at("ssh_config"), `Host *\n  UserKnownHostsFile ${at("known")}\n  StrictHostKeyChecking yes\n`);
  mkdirSync(at("bin"));
  const ssh = find("ssh");
  writeFileSync(join(at("bin"), "ssh"), `#!/bin/sh\nexec ${ssh} -F ${at("ssh_config")} "$@"\n`);
  chmodSync(join(at("bin"), "ssh"), 0o755);
  // Chroot of its unprivileged part if root runs it.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const server = spawn(find("sshd"), ["-D", "-e", "-f", at("sshd_config")], { stdio: ["ignore", "ignore", "pipe"] });
  await listening(server);
  return {
    port,
    user: userInfo().username,
    key: at("user"),
    programs: at("bin"),
    async stop() {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill();
      await ended;
    },
  };
}

function find(program: string): string {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  const found = folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
  if (found === undefined)
    throw new Error(`${program} is not there: npm test installs openssh-server, or do it by hand.`);
  return found;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === "object" ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

function listening(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("Server listening")) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`sshd ended with code ${code}: ${log}`)));
  });
}
