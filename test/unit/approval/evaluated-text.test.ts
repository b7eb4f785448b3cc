import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judgeCommand } from "../../../agent-core/approval/command-verdict.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";

const HIDDEN = "a[$(touch hit)]";
/** Bash code that may evaluate `HIDDEN` (H) as arithmetic, and run the command in it. */
const CODE =
  `RANDOM='H'|OPTIND='H'|HISTCMD='H'|SRANDOM='H'|declare -i n='H'|[[ 'H' -eq 0 ]]|test -v 'H'|[ -v 'H' ]|[[ -v H ]]
read 'H' <<<x|printf -v 'H' x|sleep 0 & wait -n -p 'H'|exec {H}>f|x='H'; echo \${!x}|declare 'H=1'|a=(['H']=1)
let 'H'|for ((i='H';0;)); do :; done|declare -n r='H'; echo $r|x='H'; : \${y[x]}|x='H'; [[ x -eq 1 ]]|[[ 1 -lt 'H' ]]
f() { local 'H=1'; }; f|x='H'; set -- a; echo \${@:x}|declare -ai a; a+=('H')|declare -i a; a+='H'
typeset -i n; read n <<< 'H'|typeset -i n; for n in 'H'; do :; done|typeset -i n; printf -v n %s 'H'
f() { local -i n; n='H'; }; f|x='H'; ((x))|x='H'; y=x; ((y))|x='H'; s=abc; echo \${s:x}|x='H'; s=abc; echo \${s:0:x}
echo $(( $(echo 'H') ))|echo $(( $(printf %s 'H') + 1 ))|x=$'H'; echo $(( x ))|declare -x 'H+=1'|declare -i x; export x='H'
H=1|echo $[ H ]|x='H'; echo $[x]|DIRSTACK[H]=x|declare -u 'H=1'|x='H'; (( y = x ))|x='H'; y=$((1 ? x : 0))|x='H'; echo $(( -x ))
f() { echo $(( $1 )); }; f 'H'|set -- 'H'; echo $(( $1 + 1 ))|echo 'H' > v; echo $(( $(cat v) ))|echo 'H' > v; x=$(cat v); (( x ))
echo 'H' > v; read x < v; echo $(( x ))|echo 'H' > v; mapfile -t x < v; [[ x -eq 1 ]]|x=(1 'H'); echo $(( x[1] ))|x='H'; y=(1); y[x]=2
x='H'; unset "y[$x]"; y=(1); unset "y[x]"|if false; then x='H'; fi; x='H'; (( x ))|x='H'; declare -i y; y=x|f() { touch hit; }; if false; then f() { ls; }; fi; f
f() { ls; }; if true; then f() { touch hit; }; fi; f|if true; then ls() { touch hit; }; fi; ls|true && ls() { touch hit; }; ls
f() { touch hit; }; false && f() { ls; }; f|f() { touch hit; }; (f() { ls; }); f|f() { touch hit; }; case a in b) f() { ls; };; esac; f
f() { touch hit; }; for i in; do f() { ls; }; done; f|g() { f() { touch hit; }; }; f() { ls; }; g; f`
    .split(/[|\n](?! )(?=\S)/)
    .map((code) => code.replaceAll("H", (_, at, whole) => (/[A-Z]/.test(whole[at + 1] ?? "") ? "H" : HIDDEN)));

const root = mkdtempSync(join(tmpdir(), "hermes-evaluated-"));
const scopeOf = (cwd: string) => ({
  cwd,
  roots: [cwd],
  home: "/home/someone",
  hermesHome: "/home/someone/.hermes",
  resolvePath,
});

/** True when bash runs the hidden command. */
function isHit(code: string, folder: string): Promise<boolean> {
  mkdirSync(folder);
  return new Promise((done) => {
    const child = execFile("bash", ["-c", code], { cwd: folder }, () => done(existsSync(join(folder, "hit"))));
    child.stdin?.end();
  });
}

test("text that bash evaluates as arithmetic never counts as reading, nor does a function of another branch", async () => {
  const hits = await Promise.all(CODE.map((code, at) => isHit(code, join(root, String(at)))));
  const missed = CODE.filter(
    (code, at) => hits[at] && judgeCommand(code.replaceAll("touch hit", "rm hit"), scopeOf(root)).level === "safe",
  );
  expect(missed).toEqual([]);
  expect(hits.filter(Boolean).length).toBeGreaterThan(50);
});

test.each([
  "for i in 1 2 3; do echo $((i * 2)); done",
  "n=$(wc -l < a.txt); echo $((n + 1))",
  "start=$(date +%s); echo $(( $(date +%s) - start ))",
  'a=(x y); for i in 0 1; do echo "${a[$i]}"; done',
  "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done",
  "for i in $(seq 1 5); do echo $((i % 2)); done",
  "(( RANDOM % 2 )) && ls",
  's=abc; echo "${s:0:1}"',
  "declare -i n=3; echo $n",
])("ordinary arithmetic reads: %s", (code) => {
  expect(judgeCommand(code, scopeOf(root))).toMatchObject({ level: "safe" });
});
