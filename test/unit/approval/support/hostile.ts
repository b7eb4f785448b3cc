/** Commands that are made to take long or to break their parser. */

/** Length of the longest command that is read (UTF-16 units). */
export const LONGEST_READ = 65_536;

/** `piece`, repeated as often as the longest readable command has room for next to `rest`. */
function filled(piece: string, rest = ""): string {
  return piece.repeat(Math.floor((LONGEST_READ - rest.length) / piece.length)) + rest;
}

/** `inner` in as many layers as fit. */
function deepest(open: string, inner: string, close: string): string {
  const layers = Math.floor((LONGEST_READ - inner.length) / (open.length + close.length));
  return nested(open, inner, close, layers);
}

function nested(open: string, inner: string, close: string, times: number): string {
  return open.repeat(times) + inner + close.repeat(times);
}

/** Each of them asks (or is blocked), at once and without an exception. The key says what it is. */
export function hostileCommands(): Readonly<Record<string, string>> {
  const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
  return {
    "nested command substitutions": nested("$(", "rm a", ")", 5000),
    "nested command substitutions, as deep as they are read": nested("$(", "rm a", ")", 1499),
    "nested quoted substitutions": nested('"$(', "rm a", ')"', 200),
    "nested quoted substitutions, as deep as they are read": nested('"$(', "rm a", ')"', 1499),
    "nested process substitutions": nested("cat <(", "rm a", ")", 1499),
    "nested parameter defaults": nested("$".concat("{a:-"), "$(rm a)", "}", 1400),
    "nested arithmetic": `rm a; echo $((${nested("(", "1", ")", 30_000)}))`,
    "nested backticks": "`".repeat(60_001),
    "nested subshells": deepest("(", "rm a", ")"),
    "nested groups": deepest("{ ", "rm a;", " };"),
    "nested conditions": deepest("if a; then ", "rm a", "; fi"),
    "nested loops": `${"for x in a b c d e f g h; do ".repeat(8)}rm a; ${"done; ".repeat(8)}`,
    "deeply nested loops": deepest("while a; do ", "rm a", "; done"),
    "nested cases": deepest("case a in a) ", "rm a", ";; esac"),
    "nested functions": nested("f() { ", "rm a", "; }; f", 300),
    "deeply nested functions": deepest("f() { ", "rm a", "; }"),
    "nested tests": `rm a; [[ ${nested("( ", "a", " )", 15_000)} ]]`,
    "nested evals": filled("eval ", "rm a"),
    "nested negations": filled("! ", "rm a"),
    "nested wrappers": filled("sudo env ", "rm a"),
    "nested shells": nested("sh -c '", "rm a", "'", 8000),
    "many substitutions": `${"$(a)".repeat(1499)}; rm a`,
    "many substitutions in one word": `rm ${"$(rm a)x".repeat(1499)}`,
    "many parameters in one word": `rm ${"$a".repeat(32_000)}`,
    "many words": `rm ${"a ".repeat(32_000)}`,
    "many quoted words": `rm ${"'a' ".repeat(16_000)}`,
    "many quotes in one word": `rm ${"'a'".repeat(21_000)}`,
    "many double quotes in one word": `rm ${'"a"'.repeat(21_000)}`,
    "one long word": `rm ${"a".repeat(65_000)}`,
    "a long path": `rm ${"a/".repeat(32_000)}`,
    "a long path that goes up": `rm ${"../".repeat(21_000)}a`,
    "many long paths": `rm ${`${"a/".repeat(1000)} `.repeat(32)}`,
    "many paths": `rm ${numbers(9_000)
      .map((at) => `a${at}`)
      .join(" ")}`,
    "many deep paths": `rm ${numbers(1_000)
      .map((at) => `a/b${at}/c/d/e/f/g/h/i/j/k/l/m/n/o`)
      .join(" ")}`,
    "many assignments": filled("a=b ", "rm a"),
    "many assignments of different names": `${numbers(6_000)
      .map((at) => `v${at}=b`)
      .join(" ")} rm a`,
    "many statements that assign": `${numbers(5_000)
      .map((at) => `v${at}=b;`)
      .join(" ")} rm a`,
    "assignments and branches": `${numbers(900)
      .map((at) => `v${at}=b; a && b=c || c=d; if a; then b=$c; fi;`)
      .join(" ")} rm a`,
    "assignments and functions": `${numbers(900)
      .map((at) => `f${at}() { v${at}=$v${at}x; }; f${at};`)
      .join(" ")} rm a`,
    "assignments and pipes": `${numbers(2_000)
      .map((at) => `v${at}=b | v=c | d=e;`)
      .join(" ")} rm a`,
    "assignments and loops": `${numbers(700)
      .map((at) => `for i in 1 2 3; do v${at}=$i; done;`)
      .join(" ")} rm a`,
    "an array": `a=(${"b ".repeat(30_000)}); rm a`,
    "array subscripts": `${"a[1]=b; ".repeat(8_000)}rm a`,
    "aliases that double": "alias a='a a a'; a; ".repeat(2000),
    commands: filled("rm a;"),
    "commands without an end": filled("rm a&"),
    "and-lists": filled("a&&", "rm a"),
    "or-lists": filled("a||", "rm a"),
    pipes: filled("a|", "rm a"),
    "functions that double": `${numbers(30)
      .map((at) => `f${at}() { f${at + 1}; f${at + 1}; }`)
      .join(";")}; f0`,
    "values that double": `a=rmrmrmrm; ${"a=$a$a; ".repeat(40)}$a x`,
    "values that double in an array": `a=(a b); ${'a=("${a[@]}" "${a[@]}"); '.repeat(40)}rm "\${a[@]}"`,
    "values that are long": `a=${"x".repeat(30_000)}; ${"b=$a$a; ".repeat(700)}rm $b`,
    "replacements that multiply": `x=${"a".repeat(4000)}; y=\${x//a/bbbb}; z=\${y//b/cccc}; w=\${z//c/dddd}; $w`,
    "replacements with stars": `x=${"a".repeat(20_000)}; y=\${x//*a*a*a*a*b/c}; rm $y`,
    "prefixes with stars": `x=${"a".repeat(20_000)}; y=\${x##*a*a*a*a*a*b}; z=\${x%%b*a*a*a*a*a}; rm $y`,
    braces: `rm ${"{a,b}".repeat(13_000)}`,
    "nested braces": `rm ${nested("{a,", "b", "}", 15_000)}`,
    "a brace range": "rm {1..1000000000}",
    "brace ranges that multiply": `rm ${"{1..99}".repeat(9_000)}`,
    "open braces": `rm ${"{".repeat(65_000)}`,
    "braces with many items": `rm {${"a,".repeat(32_000)}b}`,
    patterns: `rm ${"*?[a]".repeat(13_000)}`,
    "many patterns": `rm ${"* ".repeat(32_000)}`,
    "open brackets": `rm ${"[".repeat(65_000)}`,
    "nested extended patterns": `rm ${nested("@(a|", "b", ")", 13_000)}`,
    redirections: `ls ${"> /etc/a ".repeat(7000)}`,
    "a here-document": `sh <<E\n${filled("rm a\n").slice(0, 65_000)}E`,
    "many here-documents": `${"cat <<E\nrm a\nE\n".repeat(4_000)}rm a`,
    "here-documents without an end": filled("cat <<E\n", "rm a"),
    "many here-documents on one line": `cat ${"<<E ".repeat(10_000)}\n${"E\n".repeat(10_000)}rm a`,
    "here-strings": `sh ${"<<<a ".repeat(13_000)}`,
    "a search": `find ${". ".repeat(10_000)}${"-exec rm {} + ".repeat(3000)}`,
    "sed commands": `sed '${"s/a/b/;".repeat(8000)}e rm a'`,
    "brackets in sed": `sed 's/${"[[:".repeat(20_000)}/b/'`,
    "short brackets in sed": `sed 's/${"[[:a:]".repeat(650)}'; rm a`,
    "brackets in awk": `awk '/${"[[:a:]".repeat(650)}'; rm a`,
    "an unclosed address": `sed '${"/".repeat(60_000)}'; rm a`,
    awk: `awk '${"{print > $1}".repeat(5000)}'`,
    "quotes in awk": `awk '${'"'.repeat(64_001)}'; rm a`,
    "strings in python": `python3 -c '${'"a" '.repeat(16_000)}'`,
    "open calls in python": `python3 -c '${"open(".repeat(13_000)}'`,
    "code in perl": `perl -e '${"`a`;".repeat(16_000)}'`,
    "words for xargs": `echo ${"a ".repeat(32_000)} | xargs rm`,
    "base64 in layers": `echo ${"cm0gYQo".repeat(9_000)} | base64 -d | sh`,
    "printf with many words": `printf 'rm %s;' ${"a ".repeat(30_000)} | sh`,
    "translated letters": `echo ${"a".repeat(60_000)} | tr a-z A-Z | sh`,
    "curl options": `curl ${"-d a ".repeat(13_000)}`,
    "git options": `git ${"-c a=b ".repeat(9_000)}push`,
    "tar options": `tar ${"-C a b ".repeat(9_000)}-cf x`,
    "rsync options": `rsync ${"-a --delete ".repeat(5_000)}a b:c`,
    "docker options": `docker run ${"-v /:/a ".repeat(8_000)}b`,
    "ssh in layers": filled("ssh a ", "rm a"),
    blanks: filled(" ", "rm a"),
    "line feeds": filled("\n", "rm a"),
    "line continuations": filled("\\\n", "rm a"),
    backslashes: `rm ${"\\".repeat(65_001)}`,
    comments: `${filled("#\n", "rm a")}`,
    "unclosed single quote": `rm '${"a ".repeat(32_000)}`,
    "unclosed double quote": `rm "${"$a ".repeat(21_000)}`,
    "unclosed substitutions": "$(".repeat(1499),
    "unclosed parameters": `rm $${"{a".repeat(30_000)}`,
    "unclosed subshells": filled("( "),
    "unclosed groups": filled("{ "),
    "unclosed conditions": filled("if a; then "),
    "unclosed cases": filled("case a in "),
    "unclosed arithmetic": filled("(("),
    "only operators": filled("<>|&;"),
    "hidden characters": filled("\u200b", "rm a"),
    "combined emoji": filled("👩\u200d", "rm a"),
    "letters outside the basic plane": `rm ${"𝕏".repeat(32_000)}`,
    "lone surrogates": `rm ${"\ud835".repeat(65_000)}`,
    "ANSI quotes": `rm ${"$'\\x61'".repeat(8_000)}`,
    "one ANSI quote": `rm $'${"\\x61".repeat(16_000)}'`,
    "arithmetic without an end": `rm $((${"1+".repeat(32_000)}1))`,
    "subscripts in subscripts": `${nested("a[", "1", "]", 16_000)}=1; rm a`,
    "cd over and over": `${"cd a; ".repeat(10_000)}rm a`,
    "cd in branches": `${"cd a || cd b; ".repeat(4_600)}rm a`,
    "functions of one name": `${"f() { rm a; }; f; ".repeat(3_600)}`,
    traps: "trap 'rm a' EXIT; ".repeat(3_600),
    "selects and loops": `${"until a; do b; done; ".repeat(3_000)}rm a`,
    coprocesses: filled("coproc a; ", "rm a"),
    "time upon time": filled("time ", "rm a"),
    "words with equals": `env ${"a=b ".repeat(16_000)}rm a`,
    "options upon options": `rm ${"-r -f --force ".repeat(4_000)}a`,
    "long option values": `make ${"A=$(b) ".repeat(1400)}`,
  };
}
