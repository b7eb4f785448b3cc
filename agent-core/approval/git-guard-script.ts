/** Commands that change files of the work tree. An alias of the user may be any of them, and the policy asks for it. */
export const CHANGING: readonly string[] = [
  "checkout switch restore reset merge pull cherry-pick revert rebase stash am apply read-tree bisect worktree submodule rm mv",
  "checkout-index sparse-checkout filter-branch filter-repo clean",
].flatMap((line) => line.split(" "));

/**
 * Script of the guard of git, for a POSIX shell. `touched` prints each path that a command of git may change in a work
 * tree, from the trees as they are before it begins; `filter` keeps the guarded ones. With `lists` it prints them, and
 * otherwise it starts git, or refuses.
 */
export const SCRIPT = `\
lines() { tr '\\0' '\\n'; }
# Two commits with three dots stand for the one at which they part. The end of a text is part of it.
commit() {
  id=$(left=\${1%%...*} right=\${1#*...}
  case $1 in *...*) "$git" merge-base "\${left:-HEAD}" "\${right:-HEAD}" ;; *) "$git" rev-parse -q --verify "$1" ;; esac 2>/dev/null)
  "$git" rev-parse -q --verify "$id^{commit}" 2>/dev/null
}
names() { "$git" ls-tree -r --name-only -z "$1" | lines; }
between() { "$git" diff-tree -r --no-renames --name-only -z "$1" "$2" | lines; }
against() { "$git" diff --no-ext-diff --no-renames --no-relative --name-only -z "$@" | lines; }
dirty() { against "$head"; }
commits() { "$git" diff-tree --stdin -r -m --root --no-renames --no-commit-id --name-only -z | lines; }
apart() { "$git" rev-list "$@" --not $("$git" merge-base --octopus "$@" || :) | commits; }
merged() { base=$("$git" merge-base "$head" "$1" || "$git" hash-object -t tree /dev/null)
  { between "$base" "$1" | sort -u; between "$head" "$1" | sort -u; } | sort | uniq -d; }
patches() { for patch; do "$git" apply --numstat "$patch" | cut -f 3-; done; }
# A given option may be the beginning of the one that it stands for.
flag() { for given in $flags; do for each; do case $each in "$given"*) return 0 ;; esac; done; done; return 1; }
under() { under=$1 awk '{ print ENVIRON["under"] $0 }'; }
stashes() { flag --autostash || [ "$("$git" config --type=bool --get "$1.autostash")" = true ]; }
# Commits of the steps that git has begun, and of those that are left.
begun() {
  for each in rebase-merge/onto rebase-merge/orig-head rebase-apply/onto rebase-apply/orig-head sequencer/head sequencer/todo \\
    MERGE_HEAD BISECT_START; do cat "$("$git" rev-parse --git-path "$each")"; done | sed '/^#/d; s/^ref: //; s/^[a-z]* //; s/ .*//'
  "$git" for-each-ref --format='%(objectname)' refs/bisect/
}

touched() {
  while :; do
    case \${1-} in
      -C) cd "$2" || return 0; shift 2 ;;
      --git-dir=*) export GIT_DIR="\${1#*=}"; shift ;;
      --work-tree=*) export GIT_WORK_TREE="\${1#*=}"; shift ;;
      --git-dir) export GIT_DIR="$2"; shift 2 ;;
      --work-tree) export GIT_WORK_TREE="$2"; shift 2 ;;
      -c)
        case $2 in alias.*=*)
          at=\${GIT_CONFIG_COUNT:-0}
          export "GIT_CONFIG_KEY_$at=\${2%%=*}" "GIT_CONFIG_VALUE_$at=\${2#*=}" GIT_CONFIG_COUNT=$((at + 1)) ;;
        esac
        shift 2 ;;
      --namespace | --config-env) shift 2 ;;
      -*) shift ;;
      *) break ;;
    esac
  done
  verb=\${1-}
  case $verb in
    "" | add | blame | branch | cat-file | commit | config | describe | diff | fetch | grep | help | init | log | ls-files | \\
    ls-remote | ls-tree | merge-base | push | reflog | remote | rev-list | rev-parse | show | show-ref | status | tag | version) return 0 ;;
    ${CHANGING.join(" | ")}) shift ;;
    *)
      alias=$("$git" config --get "alias.$verb") || return 0
      shift
      case $alias in '!'*) printf '!shell\\n' ;; *) set -f; touched $alias "$@" ;; esac
      return ;;
  esac
  top=$("$git" rev-parse --show-toplevel) || return 0
  printf '//%s\\n' "$top"
  head=$(commit HEAD) || head=$("$git" hash-object -t tree /dev/null)
  step= letters=_
  case $verb in merge | cherry-pick | revert | rebase | am) step=$* ;; esac
  # As the only word it is no value of an option.
  case $step in --quit | --edit-todo | --show-current-patch | --show-current-patch=*) return ;; esac
  # Short options whose value is the rest of the word, or the next one.
  case $verb in
    merge) letters=mFXs ;;
    rebase) letters=xXsC ;;
    cherry-pick | revert) letters=mX ;;
    am | apply) letters=pC ;;
    stash) letters=m ;;
    clean) letters=e ;;
  esac
  flags=' ' found= dashes= prefix= takes= count=$#
  while [ "$count" -gt 0 ]; do
    word=$1 count=$((count - 1)); shift
    if [ -n "$dashes" ]; then set -- "$@" "$word"; continue; fi
    case "$verb $word" in
      "read-tree --p"*=* | "checkout-index --p"*=*) prefix=\${word#*=}; continue ;;
      *=*) ;;
      "read-tree --p"* | "checkout-index --p"*) prefix=\${1-} takes=1 ;;
      "rebase --ex"* | "$verb --str"* | "$verb --pathspec-fr"* | "$verb --conf"* | "stash --me"* | "merge --"[mi]* | "merge --fi"* | \\
        "worktree --rea"* | "bisect --term-"* | "am --"[dpw]* | "am --exc"* | "am --inc"* | "am --resolvem"* | \\
        "clean --e"* | "apply --di"* | "apply --ex"* | "apply --inc"* | "apply --bu"* | "apply --w"*) takes=1 ;;
      "$verb -"[!-]*) case \${word%?} in *[$letters]*) ;; *) case $word in *[$letters]) takes=1 ;; esac ;; esac ;;
    esac
    if [ -n "$takes" ]; then flags="$flags$word " takes= count=$((count - 1)); shift; continue; fi
    case $word in
      --) dashes=1 ;;
      --*=*) flags="$flags\${word%%=*} " found="$found $(commit "\${word#*=}")" ;;
      -) found="$found $(commit '@{-1}')"; set -- "$@" "$word" ;;
      -[!-]?*) flags="$flags$word $(printf %s "\${word#-}" | sed 's/./-& /g')" ;;
      -*) flags="$flags$word " ;;
      *)
        found="$found $(commit "$word" || "$git" for-each-ref --format='%(objectname)' "refs/remotes/*/$word")"
        set -- "$@" "$word" ;;
    esac
  done
  # A list of paths in a file, or from the input, may be any.
  case $flags in *" --pathspec-f"*) dashes=1; set -- ;; esac
  if [ -n "$step" ] && { flag --abort --continue --skip --resolved || { [ "$verb" = am ] && flag -r; }; }; then
    dirty
    ( changes begun )
    case $step in --abort | --continue | --skip | --resolved | -r | "--continue --no-edit" | "--skip --no-edit") return ;; esac
  fi
  changes "$verb" "$@"
}

changes() {
  verb=$1; shift
  case $verb in
    checkout | switch)
      if flag -f --force -m --merge --discard-changes; then dirty; fi
      if flag --orphan && [ "$verb" = switch ]; then "$git" ls-files -z "$top" | lines; fi
      if [ "$verb" = checkout ] && ! flag -b -B --orphan -t --track; then
        if [ -n "$dashes" ] || [ $# -gt 1 ] || [ -z "\${found# }" ]; then
          set -f; [ $# -gt 0 ] || [ -n "$dashes" ] && against $found -- "$@"; return
        fi
      fi
      for each in $found; do between "$head" "$each"; done ;;
    restore)
      if flag --staged -S && ! flag --worktree -W; then return; fi
      if flag -s --source; then against $found -- "$@"; elif flag --staged -S; then against "$head" -- "$@"; else against -- "$@"; fi ;;
    reset)
      if flag --hard --merge --keep; then dirty; for each in $found; do between "$head" "$each"; done; fi ;;
    read-tree)
      if flag --reset; then dirty; fi
      flag -u || return
      for each; do if [ -n "$prefix" ]; then names "$each" | under "\${prefix%/}/"; else between "$head" "$each"; fi; done ;;
    merge | pull)
      if [ "$verb" = pull ] && [ -n "$fetches" ]; then "$git" fetch "$@" >&3 2>&3 || printf '!failed\\n'; fi
      [ "$verb" = pull ] && { found=; for each in $(sed '/not-for-merge/d; s/[^0-9a-f].*//' "$("$git" rev-parse --git-path FETCH_HEAD)"); do found="$found $each"; done; }
      [ -n "\${found# }" ] || found=$(commit '@{upstream}')
      if stashes merge || stashes rebase; then dirty; fi
      for each in $found; do merged "$each"; done
      if flag --rebase -r || [ "$verb $("$git" config --get pull.rebase)" = "pull true" ]; then apart "$head" $found; fi ;;
    cherry-pick | revert)
      revs=$("$git" rev-parse --revs-only "$@")
      [ -n "$revs" ] && "$git" rev-list --no-walk $revs | commits ;;
    rebase | bisect | begun)
      case "$verb \${1-}" in "bisect log" | "bisect view" | "bisect visualize") return ;; esac
      if [ "$verb" = rebase ]; then
        [ -n "\${found# }" ] || found=$(commit '@{upstream}')
        if stashes rebase; then dirty; fi
      else
        for each in $(begun); do found="$found $(commit "$each")"; done
        patches "$("$git" rev-parse --git-path rebase-apply)"/0*
      fi
      for each in $found; do between "$head" "$each"; done
      apart "$head" $found ;;
    stash)
      [ $# -gt 0 ] && { action=$1; shift; } || action=push
      case $action in
        push | save)
          [ "$action" = push ] || set --
          against "$head" -- "$@"
          if flag -a --all; then "$git" ls-files -oz --full-name -- "$top" "$@" | lines
          elif flag -u --include-untracked; then "$git" ls-files -oz --exclude-standard --full-name -- "$top" "$@" | lines; fi ;;
        pop | apply | branch)
          [ "$action" = branch ] && shift
          case \${1-} in "") entry=refs/stash ;; *[!0-9]*) entry=$1 ;; *) entry="stash@{$1}" ;; esac
          between "$entry^1" "$entry"; between "$entry^1" "$entry^2"; names "$entry^3"
          [ "$action" = branch ] && between "$head" "$entry^1" ;;
      esac ;;
    am) patches "$@" \${input:+"$input"} ;;
    apply)
      if flag --cached || { flag --check --stat --numstat --summary && ! flag --apply; }; then return; fi
      patches "$@" \${input:+"$input"} ;;
    worktree)
      [ "\${1-}" = add ] || return 0
      for each in \${found:-HEAD}; do names "$each"; done ;;
    submodule)
      [ "\${1-}" = update ] || return 0
      "$git" ls-files --stage | sed -n 's/^160000 \\([0-9a-f]*\\) 0	/\\1 /p' | while read -r hash path; do
        "$git" -C "$top/$path" diff-tree -r --no-renames --name-only -z HEAD "$hash" | lines
      done ;;
    rm | mv)
      if flag --cached -n --dry-run; then return; fi
      "$git" ls-files --full-name -z -- "$@" | lines
      [ "$verb" = mv ] && for each; do :; done && printf '%s\\n' "$("$git" rev-parse --show-prefix)$each" ;;
    clean)
      if flag -n --dry-run; then return; fi
      others=--exclude-standard folders=--directory
      if flag -x; then others=; elif flag -X; then others="-i $others"; fi
      if flag -d; then folders=; fi
      "$git" ls-files -oz $others $folders --full-name -- "$@" | lines | sed '/\\/$/d' ;;
    checkout-index)
      if [ -z "$prefix" ] || flag -a --all || [ $# -eq 0 ]; then set -- "$top"; fi
      "$git" ls-files -z --full-name -- "$@" | lines | under "$prefix" ;;
    *) [ "\${1-}" = list ] || "$git" ls-files -z --full-name "$top" | lines ;;
  esac
}

# Paths that are guarded, absolute: protected names, and files outside the workspace.
filter() { roots=$roots open=$open protected=$protected templates=$templates awk '
  BEGIN { count = split(ENVIRON["roots"], root, "\\n"); split(ENVIRON["open"], names, "\\n"); for (at in names) isOpen[names[at]] = 1 }
  substr($0, 1, 2) == "//" {
    top = substr($0, 3)
    for (at = 1; at <= count; at++) if (index(top "/", root[at] "/") == 1 || index(root[at] "/", top "/") == 1) isNear = 1
    if (!isNear) exit
    next
  }
  substr($0, 1, 1) == "!" { print; next }
  $0 == "" || seen[top $0]++ { next }
  {
    isElsewhere = substr($0, 1, 1) == "/"; path = isElsewhere ? $0 : top "/" $0; isInside = 0; name = tolower($0)
    for (at = 1; at <= count; at++) if (index(path, root[at] "/") == 1) isInside = 1
    isGuarded = isInside ? name ~ ENVIRON["protected"] && name !~ ENVIRON["templates"] : !isElsewhere
    if (isGuarded && !(path in isOpen)) print path
  }'
}

if [ -n "\${lists-}" ]; then touched "$@" 2>/dev/null | filter; exit; fi
if [ -n "\${HERMES_GIT_GUARD-}" ]; then exec "$git" "$@"; fi
exec 3>&2
for last; do :; done
case " $* " in
  *" am "* | *" apply "*)
    case \${last-} in am | apply | -*) if [ ! -t 0 ]; then input=$(mktemp) && cat >"$input" && exec <"$input"; fi ;; esac ;;
esac
paths=$(fetches=1; touched "$@" 2>/dev/null | filter)
[ -z "\${input-}" ] || rm -f "$input"
case $paths in
  *'!failed'*) exit 1 ;;
  '!shell') exec "$git" "$@" ;;
  "") HERMES_GIT_GUARD=1; export HERMES_GIT_GUARD; exec "$git" "$@" ;;
esac
count=$(printf '%s\\n' "$paths" | wc -l)
shown=$(printf '%s\\n' "$paths" | head -n 8 | paste -s -d , - | sed 's/,/, /g')
[ "$count" -le 8 ] || shown="$shown and $((count - 8)) more"
printf '%s\\n' "hermes: \\\`git $*\\\` was not started, because it changes protected files: $shown. Call it again as a command of its own, with its target written out: the user is then asked. After a pull, call \\\`git merge FETCH_HEAD\\\`." >&2
exit 1
`;
