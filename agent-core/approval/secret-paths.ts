/** Secret paths: files with keys and passwords, which ask before they are read. */
import { join, win32 } from "node:path";
import { INVISIBLE } from "../platform/visible-text.ts";
import { type CommandScope, homeOf, partsBelow } from "./command-scope.ts";

/** Characters that HFS+ ignores in a comparison of names, and that users do not see. */
const { override, direction, widthless, joiner, byteOrderMark } = INVISIBLE;
const IGNORED_CHARACTERS = new RegExp(`[${override}${direction}${widthless}${joiner}${byteOrderMark}\\u2065]`, "gu");

const HOME_SECRETS = new Set([
  ...[
    ".ssh .aws .azure .gnupg .kube .docker .netrc _netrc .git-credentials .npmrc .pypirc .pgpass .my.cnf .vault-token",
    ".password-store .mozilla .thunderbird .bash_history .zsh_history .config/gh .config/gcloud .config/op",
    ".config/hub .config/sops .config/google-chrome .config/chromium .local/share/keyrings .cargo/credentials",
    ".cargo/credentials.toml .gem/credentials .terraform.d .terraformrc .m2/settings.xml .m2/settings-security.xml",
    ".gradle/gradle.properties .nuget/nuget/nuget.config .bundle/config .composer/auth.json",
    ".config/composer/auth.json .config/containers .config/rclone .rclone.conf .s3cfg .boto .oci .authinfo",
    ".authinfo.gpg .smbcredentials .databrickscfg .snowsql .kaggle .huggingface .cache/huggingface/token .pulumi",
    ".heroku .fly .putty .electrum .bitcoin .ethereum .claude .claude.json .codex .gemini .cursor",
    ".config/github-copilot .config/anthropic .config/openai .config/doctl .config/hcloud .config/stripe",
    ".config/1password .config/bitwarden .config/keepassxc .config/bravesoftware .config/microsoft-edge",
    ".config/vivaldi .config/opera snap/firefox snap/chromium .var/app .local/share/kwalletd .local/share/fish",
    ".psql_history .mysql_history .python_history .node_repl_history library/keychains library/cookies library/safari",
    "appdata/roaming/mozilla appdata/local/google appdata/local/microsoft appdata/roaming/microsoft",
    "appdata/roaming/gcloud appdata/roaming/gnupg appdata/roaming/nuget appdata/roaming/postgresql",
    "appdata/roaming/composer appdata/roaming/rclone .config/git/credentials .config/pnpm/rc .ivy2/.credentials",
    ".local/share/uv/credentials .sbt/.credentials .hex/hex.config",
  ].flatMap((line) => line.split(" ")),
  ...["google", "firefox", "bravesoftware", "microsoft edge", "com.apple.tcc"].map(
    (name) => `library/application support/${name}`,
  ),
  "appdata/roaming/github cli",
]);
/** As NuGet writes it, for file systems that tell cases apart. */
const NUGET = ".nuget/NuGet/NuGet.Config";
const SYSTEM_FILES = ["/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/ssl/private"];
const SYSTEM_SECRETS =
  /^\/(?:private\/)?(?:etc\/(?:g?shadow-?|sudoers(?:\.d(?:\/|$)|$)|ssh\/ssh_host_|krb5\.keytab|ssl\/private)|proc\/[^/]+\/(?:environ|mem|maps|root|cwd\/\.env)|var\/run\/secrets|run\/secrets|dev\/(?:k?mem|port)$)|^[a-z]:\\windows\\(?:system32\\config|repair)(?:\\|$)/i;
const SECRET_NAMES =
  /^(?:\.env(?:$|[.\-_](?!example$|sample$|template$|dist$|defaults$)).*|\.netrc|\.git-credentials|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.+\.(?:p12|pfx|pem|ppk|keystore|jks|kdbx|keychain|keychain-db)|credentials\.json|service[-_]?account.*\.json)$/;
const CERTIFICATES = /^\/(?:etc\/(?:ssl\/certs|pki\/(?:tls\/certs|ca-trust))|usr)\//;

/** Absolute paths of the user's and the system's secrets; they need not exist. */
export function secretPlaces(scope: CommandScope): readonly string[] {
  const home = homeOf(scope);
  const names = [...HOME_SECRETS, NUGET];
  return [...names.map((name) => join(home, name)), ...SYSTEM_FILES, scope.resolvePath(scope.hermesHome)];
}

/** True for the name of a file that usually holds keys or passwords, in any folder. */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.test(foldName(name));
}

/** The diff without the lines of files that usually hold keys or passwords. */
export function withoutSecretFiles(diff: string): string {
  return diff
    .split(/^(?=diff --git )/m)
    .map((file) => {
      const [header = ""] = file.split("\n", 1);
      const names = header.startsWith("diff --git ") ? header.split(/[\s"/]+/) : [];
      return names.some(isSecretName) ? `${header}\n[left out: such files usually hold keys or passwords]\n` : file;
    })
    .join("");
}

/** True for a file of the gateway to chats: pairing, ledger, chats. No session reads or writes it, whatever a user answers. */
export function isOfGateway(path: string, scope: CommandScope): boolean {
  const home = scope.resolvePath(scope.hermesHome);
  return [path, scope.resolvePath(path)].some((each) => partsBelow(home, each)?.[0] === "gateway");
}

export const OF_GATEWAY = "it belongs to the gateway to chats, and decides who may command this machine";

/** Reason why reading `path` (absolute) may show a secret; undefined for an ordinary file. */
export function secretReason(path: string, scope: CommandScope): string | undefined {
  const real = scope.resolvePath(path);
  return reasonOf(real, scope) ?? (real === path ? undefined : reasonOf(path, scope));
}

function reasonOf(path: string, scope: CommandScope): string | undefined {
  const below = partsBelow(homeOf(scope), path) ?? partsBelow(scope.home, path);
  if (below !== undefined && holdsHomeSecret(below)) return "it holds keys or passwords of your home folder";
  if (SYSTEM_SECRETS.test(path)) return "it holds secrets of the system";
  // The rules of Windows find the name in a path of any system.
  if (isSecretName(win32.basename(path)) && !CERTIFICATES.test(path)) return "it usually holds keys or passwords";
  const own = partsBelow(scope.resolvePath(scope.hermesHome), path);
  if (own !== undefined && /^(?:\.env|auth\.json)/.test(own[0] ?? "")) return "it holds the keys of Hermes";
  return undefined;
}

function holdsHomeSecret(below: readonly string[]): boolean {
  const [first = "", second = "", third = ""] = below.slice(0, 3).map(foldName);
  return [first, `${first}/${second}`, `${first}/${second}/${third}`].some((key) => HOME_SECRETS.has(key));
}

/** Folds a name as case-insensitive file systems, Windows (trailing dots, streams) and macOS do. */
export function foldName(part: string): string {
  const plain = part.normalize("NFKC").replace(IGNORED_CHARACTERS, "").toLowerCase();
  const stream = plain.indexOf(":");
  return (stream > 0 ? plain.slice(0, stream) : plain).replace(/[. ]+$/, "");
}
