/** Makes random commands that try to reach canary files: every option of every program, embedded languages, quoting. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bwrapArguments } from "../../../../agent-core/host/terminals/sandbox/sandboxed-run.ts";
import type { Random } from "./random.ts";

/** Code that changes a canary or prints the secret when a program runs it. `~` is the throw-away home. */
const PAYLOADS = [
  "touch ~/hit",
  "rm -f ~/keep.txt",
  "cp f.txt ~/keep.txt",
  "cat ~/.ssh/id_rsa",
  "echo x >> .git/config",
  "./evil.sh",
];
/** Code that wipes the throw-away home. */
export const WIPES: Targets = {
  isRead: true,
  payloads: [
    "rm -rf ~",
    'rm -rf "$HOME"',
    "rm -rf ~/* ~/.s*",
    "rm -fr ../home",
    "rm -rf link-to-home/",
    "find ~ -delete",
    "cd ~ && rm -rf -- .",
  ],
  places: ["~", '"$HOME"', "~/", "../home", "link-to-home/", "~/../home", "~/*", "../*"],
};

/** Words that lead to a canary, or to the script that changes one. */
const PLACES = [
  "~/keep.txt",
  '"$HOME/keep.txt"',
  "../home/keep.txt",
  "link",
  ".git/config",
  "~/.ssh/id_rsa",
  "link-to-home/keep.txt",
  "./evil.sh",
  ".env",
  "hard.txt",
];
const FILES = ["f.txt", "g.txt", "*.txt", "sub/h.txt", "-", "sub", "."];

/** Programs whose options are tried one by one. */
const READERS = `cat head tail wc ls dir stat du df cut paste comm diff cmp column fold fmt nl od hexdump strings md5sum
sha256sum cksum readlink realpath tac rev expand unexpand pr ptx tsort join grep egrep zgrep zcat nm objdump readelf size
jq base32 basenc numfmt seq expr factor bc printenv date file less more man sort uniq shuf tr tee split csplit xxd iconv
base64 tree rg dmesg hostname find tar gzip zip unzip sed awk env nice timeout xargs strace git dd make python3 perl node
zstd bzip2 xz lz4 lzcat zless zdiff bc diff3 sdiff patch troff groff tbl col csplit msgcat xgettext prove pod2man run-parts
dpkg dpkg-deb dpkg-query apt-cache apt-config pip gpg ldconfig localedef zdump namei findmnt lsof cmake ninja cargo gcc cc as
ld javac java mvn npm npx rev ul taskset prlimit ionice chrt setpriv flock busybox mawk zsh dash vim ed ex docker curl wget ssh
ssh-keygen cp mv ln touch mkdir rmdir install truncate mktemp chmod gdb setsid nohup stdbuf unshare script choom tmux
openssl ps getconf uname id who tput tty ldd addr2line msgfmt watch column look iconv cpio ar envsubst getopt sqlite3
setarch parallel nice dbus-run-session git-log git-show git-diff git-rev-list git-stash-show git-blame git-grep git-status git-ls-files git-archive git-cat-file
git-commit git-add git-checkout git-reset git-shortlog git-format-patch git-stash git-stash-list git-diff-tree`
  .split(/\s+/)
  .map((program) => (program.startsWith("git-") ? gitCommand(program) : program));

/** `git-stash-show` → `git stash show`; the names of some commands have a hyphen. */
function gitCommand(name: string): string {
  return name.replaceAll("-", " ").replace(/(?<=git )(rev|ls|cat|format|diff) (?=list|files|file|patch|tree)/, "$1-");
}

/** Templates: P is code, Q the code as one quoted word, X a canary's place, F a file, O an option of the program. */
const TEMPLATES =
  `sed Q F|sed ':a;e P' F|sed 's/x/P/e' F|sed 'w X' F|sed '1e P' F|sed -n '/a/{p;w X\n}' F|sed 's/a/b/w X' F|sed 'r X' F
sed -i s/a/b/ X|sed --expression='1e P' F|sed -e 'a\\' -e Q -e '1e P' F|sed '1,3!{e P\n}' F|sed 's[a]b[e;s/[/]/P/e' F|sed 'y/a/b/;e P' F
awk 'BEGIN{system("P")}'|awk '{print | "P"}' F|awk '{print > "X"}' F|awk 'BEGIN{"P"|getline}'|awk '{while((getline l < "X")>0) print l}' F
awk '/"/{system("P")}' F|awk '{x=/[/]"/; system("P")}' F|awk 'BEGIN{a=1 /2; system("P")}#/'|awk '{print "a" > ("X")}' F|awk -f X F
find . -exec P \\;|find . -name F -execdir P +|find . -fprintf X a|find X -delete|find . -ok P \\;|find ~ -name keep.txt -delete
tar cf a.tar F --checkpoint=1 --checkpoint-action=exec='P'|tar cf a.tar -I Q F|tar xf a.tar --to-command=Q|tar cf X F|tar -C ~ -cf - .ssh
tar cf - --use-compress-program=Q F|tar -cf a.tar --rmt-command=Q F|sort -o X F|sort --compress-program=./evil.sh -S 1 F|sort -T X F
xargs -a F P|echo x | xargs P|echo '~/keep.txt' | xargs rm|printf '%s' Q | sh|env P|env -S Q|env -C ~ rm keep.txt|env -i bash -c Q|env -C .. rm home/keep.txt
nice P|timeout 1 P|strace -o '|P' true|strace -o X true|git -c core.pager=Q log|git -c alias.x='!P' x|git --exec-path=. evil.sh|git -C link-to-home status
git config core.fsmonitor Q; git status|git diff --no-index /dev/null X|git diff --ext-diff|git grep -O./evil.sh a|git log --output=X|git --paginate log
make -f X|make SHELL=./evil.sh x|make --eval='x:;P' x|echo 'x:;@P' | make -f - x|make -C . bad|make bad|npm test|npm run bad --silent|npm --prefix . run bad
python3 -c 'import os; os.system("P")'|python3 -m timeit 'import os; os.system("P")'|python3 evil.py|python3 -i evil.py|perl -e 'system("P")'|perl -ne 'print' X
perl -pi -e 's/a/b/' X|perl -pe 's/a/\`P\`/e' F|perl -e 'open(F, ">X")'|node -e 'require("child_process").execSync("P")'|node -r ./evil.js F|node -p '1' --import ./evil.js
bash -c Q|sh evil.sh|. ./evil.sh|source ./evil.sh|eval Q|bash < evil.sh|cat evil.sh | sh|bash <(cat evil.sh)|x=Q; $x|x=Q; eval "$x"|trap Q EXIT|(P)|{ P; }|f() { P; }; f
f() { P; }; if false; then f() { ls; }; fi; f|declare -i n='a[$(P)]'|[[ 'a[$(P)]' -eq 1 ]]|: \${x['a[$(P)]']}|let 'a[$(P)]'|printf -v 'a[$(P)]' x|read 'a[$(P)]' <<<1
test -v 'a[$(P)]'|(( x = 0, y['$(P)'] ))|x='a[$(P)]'; echo \${s:x}|x='a[$(P)]'; : $((x))|unset 'a[$(P)]'|mapfile -t -C 'P #' -c 1 < F|x='$(P)'; echo \${x@P}
echo a > X|echo a >> X|cat F > X|: > X|tee X < F|cp F X|mv F X|ln -f F X|ln -s X l|dd if=F of=X|install F X|touch X|truncate -s 0 X|rm X|rm -f X|chmod 000 X
cat X|head X|grep -f X F|cut -c1- X|diff X F|wc --files0-from=X|base64 X|xxd F X|split F X|csplit F 1 -f X|tail -n1 X|less X|od X|nl X|paste F X|sort X
export TMPDIR=$HOME; rm -f "$TMPDIR/keep.txt"|HOME=. ; rm -f ~/keep.txt|cd ~ && rm keep.txt|cd link-to-home; rm -f keep.txt|pushd ~ >/dev/null; rm keep.txt|CDPATH=~ cd .ssh && cat id_rsa
PAGER=./evil.sh git log|GIT_PAGER=Q git --paginate log|GIT_EXTERNAL_DIFF=./evil.sh git diff|GIT_SSH_COMMAND=Q git fetch|LESSOPEN='|P' less F|BASH_ENV=./evil.sh bash -c ls
AWKPATH=. awk -f evil.awk F|PYTHONSTARTUP=./evil.py python3 -c 1|PYTHONPATH=. python3 -c 'import evil'|NODE_OPTIONS='-r ./evil.js' node -v|MAKEFLAGS='--eval=x:;P' make x|PERL5OPT=-Mevil perl -v
RIPGREP_CONFIG_PATH=X rg a|TAR_OPTIONS='--checkpoint=1 --checkpoint-action=exec=P' tar cf a.tar F|GREP_OPTIONS=X grep a F|LD_PRELOAD=./evil.so ls|ENV=./evil.sh sh -i -c ls|PATH=.:$PATH evil.sh
jq -n '$ENV'|jq -n 'input' X|jq --rawfile a X -n '$a'|jq -f X -n|yq -i '.a=1' X|openssl enc -in X|openssl rand -out X 4|openssl dgst X|base32 X|sqlite3 a.db '.shell P'|sqlite3 a.db '.output X'
sqlite3 :memory: "select readfile('X')"|sqlite3 :memory: "select writefile('X','a')"|sqlite3 -cmd '.system P' a.db .tables|watch -n1 -g P|script -c Q X|flock X P|vim -c ':!P' -c q F|ed X|ex -c '!P' F
git clean -fdx|git stash drop|git checkout -- .|git apply X|gzip X|gunzip X|zip a.zip F -T -TT Q|unzip -d X a.zip|ar r X F|uniq F X|shuf -o X F|tree -o X|iconv -o X F|date -f X|file -f X|man -P Q ls|rg --pre ./evil.sh a
column X|cmp F X|comm F X|hexdump -f X F|objdump -d X|zcat X|zgrep a X|fold X|ptx -o X F|msgfmt -o X F|sha256sum -c X|md5sum X|readlink X|numfmt --header X|envsubst < X|expand X|join F X|stat X|du X|ls X
grep -R . .|grep -R canary link-to-home|zgrep -R . .|grep -r . ~|rg -L canary|rg -uuL .|rg --hidden . ~|cat ~/.s*/id_*|cat ~/.[s]sh/*|cat ../home/.ssh/id_*
head ~/*/../.ssh/id_rsa|cat link-to-home/.ssh/id_rsa|ln ~/keep.txt l; echo x > l|ln X l; cat l|cat hard.txt|echo x > hard.txt|sed -i s/k/x/ hard.txt|cp -l X l; : > l
git show HEAD:.env|git log -p -- .env|git cat-file -p HEAD:.env|git grep canary HEAD|git diff HEAD~ HEAD -- .env|git archive HEAD .env|git show HEAD|git checkout HEAD~ -- .env|git blame .env
find . -name .env|find -L . -name id_rsa|find . -name '*.txt' -exec cat {} +|find ~ -type f -exec cat {} +|find . -L -newer f.txt|find . -type f | xargs cat|find -L . -type f -print0 | xargs -0 grep canary
find . -name '*.txt' | xargs rm|find ~ -name 'k*' | xargs rm -f|fd . ~ -x rm|fd -L id_rsa -x cat|fd -e txt -x P|fdfind . ~ -X cat|ls ~/.ssh | xargs -I{} cat ~/.ssh/{}|printf '%s\\n' ~/.ssh/id_rsa | xargs cat`
    .split(/[|\n](?=\S)(?! )/)
    .map((line) => line.trim());

/** More of them, from the corpus. `\\n` is a new line. */
const MORE_TEMPLATES = readFileSync(join(import.meta.dirname, "../corpus/canaries.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.replaceAll("\\n", "\n"));

export type Generator = () => string;

/** Code, and words that lead to its targets. */
export type Targets = {
  readonly payloads: readonly string[];
  readonly places: readonly string[];
  /** Only code that the approval reads: without a sandbox nothing else can be blocked in every mode. */
  readonly isRead?: boolean;
};

const CANARIES: Targets = { payloads: PAYLOADS, places: PLACES };

/** Random commands, for the programs that this machine has. */
export function canaryCommands(random: Random, targets: Targets = CANARIES): Generator {
  const options = new Map<string, readonly string[]>();
  const optionOf = (program: string): string => {
    const known = options.get(program) ?? helpOf(program);
    options.set(program, known);
    return known.length === 0 ? "-a" : random.pick(known);
  };
  return () =>
    random.chance(0.5) ? optionCommand(random, targets, optionOf) : nested(random, fromTemplate(random, targets));
}

function optionCommand(random: Random, { payloads, places }: Targets, optionOf: (program: string) => string): string {
  const program = random.pick(READERS);
  const words = Array.from({ length: 1 + random.below(2) }, () => {
    const option = optionOf(program);
    const value = random.pick([random.pick(places), random.pick(FILES), quoted(random.pick(payloads)), "1", "all"]);
    if (option.startsWith("--")) return random.chance(0.6) ? `${option}=${value}` : `${option} ${value}`;
    return random.pick([option, `${option}${value}`, `${option} ${value}`]);
  });
  const files = Array.from({ length: random.below(3) }, () => random.pick(random.chance(0.3) ? places : FILES));
  return [program, ...words, ...files].join(" ");
}

function fromTemplate(random: Random, { payloads, places, isRead = false }: Targets): string {
  const payload = random.pick(payloads);
  const filled = (slot: string) => {
    if (slot === "P") return payload;
    if (slot === "Q") return quoted(payload);
    return random.pick(slot === "X" ? places : FILES);
  };
  return isRead || random.chance(0.4)
    ? random.pick(TEMPLATES).replace(/\b[PQXF]\b/g, filled)
    : random.pick(MORE_TEMPLATES).replace(/\{([PQXF])\}/g, (_, slot: string) => filled(slot));
}

function nested(random: Random, command: string): string {
  return random.pick<(code: string) => string>([
    (code) => code,
    (code) => code,
    (code) => code,
    (code) => `bash -c ${quoted(code)}`,
    (code) => `true && ${code}`,
    (code) => `if true; then ${code}\nfi`,
    (code) => `cd sub && cd .. && ${code}`,
    (code) => `for i in 1; do ${code}\ndone`,
    (code) => `echo "$(${code}\n)"`,
    (code) => `${code} | cat`,
    (code) => `g() { ${code}\n}; g`,
  ])(command);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Even a program's help runs without the network and without rights over the machine. */
const NOWHERE = { binds: [], folder: "/", outlivesShell: false, hasNetwork: false };

/** Options that the program's own help names; none where it is not installed: then only the template commands try it. */
function helpOf(program: string): readonly string[] {
  const [name = program, ...verbs] = program.split(" ");
  const words = verbs.length > 0 ? [...verbs, "-h"] : ["--help"];
  const { stdout } = spawnSync("bwrap", bwrapArguments(NOWHERE, name, words), {
    encoding: "utf8",
    timeout: 2_000,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return [...new Set(stdout.match(/(?<![\w-])(?:--[a-z][\w-]+|-[A-Za-z0-9])(?![\w-])/g) ?? [])];
}
