/** List of items that were learnt: their reasons, sessions and actions, in pages. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { LearntAction, LearntItem } from "../../agent-core/protocol/learning.ts";
import { formatNumber, t } from "../texts.ts";
import { useFocusKept } from "../views/focus-kept.ts";
import { Button, Icon } from "../views/icon.tsx";
import { ActionButtons } from "./action-buttons.tsx";
import { figure, momentText } from "./figures.ts";
import { useLearning } from "./learning-panel.ts";
import { SessionLinks } from "./session-links.tsx";

/** Rows of one page of the list: a long list would be slow to draw and to read. */
const PAGE_ROWS = 50;

/** Length of an item's text in the name of a button. Characters. */
const LABEL_CHARS = 80;

/** Sessions that a row links. */
const LINKED = 3;

export const KINDS: Readonly<Record<LearntItem["kind"], { readonly icon: string; readonly word: string }>> = {
  preference: { icon: "account", word: t("Preference") },
  fact: { icon: "book", word: t("Fact") },
  episode: { icon: "history", word: t("Episode") },
  skill: { icon: "tools", word: t("Skill") },
};

const STATES: Readonly<Record<LearntItem["state"], string>> = {
  active: t("active"),
  trial: t("on trial"),
  proposed: t("waits for you"),
  closed: t("replaced"),
  retired: t("retired"),
};

export function ItemList({ items }: { readonly items: readonly LearntItem[] }) {
  const [pages, setPages] = useState(1);
  const rows = useFocusKept<HTMLUListElement>(items, ".learning-actions button, button", "#learning-search");
  const left = items.length - pages * PAGE_ROWS;
  if (items.length === 0) return <p class="learning-empty">{t("Nothing matches the search.")}</p>;
  return (
    <>
      <ul class="learning-list" ref={rows}>
        {items.slice(0, pages * PAGE_ROWS).map((item) => (
          <ItemRow key={item.id} item={item} />
        ))}
      </ul>
      {left > 0 && (
        <Button kind="secondary" onClick={() => setPages(pages + 1)}>
          {t("Show {0} More ({1} left)", Math.min(PAGE_ROWS, left), formatNumber(left))}
        </Button>
      )}
    </>
  );
}

type ItemProps = { readonly item: LearntItem };

function ItemRow({ item }: ItemProps) {
  const { post } = useLearning();
  const { id, text, reason, sessions, state, kind, path } = item;
  return (
    <li class={`learning-row learning-${state}`} data-row={id}>
      <p class="learning-text" dir="auto">
        <Icon name={KINDS[kind].icon} /> {withCode(text)}
      </p>
      <p class="learning-facts">{factsOf(item).join(" · ")}</p>
      {kind !== "episode" && (
        <p class="learning-why" dir="auto">
          {withCode(reason)}
        </p>
      )}
      <div class="learning-foot">
        <div class="learning-links">
          <SessionLinks ids={sessions} count={LINKED} />
          {path !== undefined && (
            <Button title={path} onClick={() => post({ type: "open-item", id })}>
              {t("Open File")}
            </Button>
          )}
        </div>
        <ItemActions item={item} />
      </div>
    </li>
  );
}

/** `text` with its parts between backticks as code. */
function withCode(text: string): ComponentChildren {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return text;
  return parts.map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>));
}

function factsOf({ kind, state, scope, seen, used, at, pinned, version, score, uses }: LearntItem): readonly string[] {
  const isSkill = kind === "skill";
  const mean = score === null || score === undefined ? undefined : figure("score_rate", score);
  return [
    isSkill ? t("Version {0}", version ?? "1") : KINDS[kind].word,
    ...(state === "active" && !isSkill ? [] : [STATES[state]]),
    ...(pinned ? [t("pinned")] : []),
    scopeText(scope),
    ...(isSkill ? [scoreText(mean, uses ?? used)] : []),
    ...(isSkill || kind === "episode" ? [] : [t("seen {0}×", formatNumber(seen))]),
    ...(isSkill ? [] : [used === 0 ? t("not used yet") : t("used {0}×", formatNumber(used))]),
    momentText(at),
  ];
}

function scoreText(mean: string | undefined, uses: number): string {
  if (mean === undefined) return uses === 1 ? t("no score yet, 1 use") : t("no score yet, {0} uses", uses);
  return uses === 1 ? t("score {0} from 1 use", mean) : t("score {0} from {1} uses", mean, uses);
}

/** Last part of a project's folder. */
export function scopeText(scope: string): string {
  if (scope === "user") return t("everywhere");
  return scope.split(/[\\/]/).findLast((part) => part !== "") ?? scope;
}

const LABELS: Readonly<Record<LearntAction, string>> = {
  accept: t("Accept"),
  both: t("Keep Both"),
  pin: t("Pin"),
  unpin: t("Unpin"),
  undo: t("Undo"),
  forget: t("Forget"),
};

const ORDER: readonly LearntAction[] = ["accept", "both", "pin", "unpin", "undo", "forget"];

function ItemActions({ item: { id, text, kind, state, actions } }: ItemProps) {
  const panel = useLearning();
  const isWaiting = state === "proposed" && (kind === "fact" || kind === "preference");
  const keep = actions.includes("both") ? t("Only the New One") : t("Keep");
  return (
    <ActionButtons
      name={text.slice(0, LABEL_CHARS)}
      isRunning={panel.running.value.has(id)}
      labels={isWaiting ? { ...LABELS, accept: keep } : LABELS}
      actions={ORDER.filter((action) => actions.includes(action) && !(isWaiting && action === "undo"))}
      primary="accept"
      asked="forget"
      question={t("Forget it, and everything derived from it?")}
      act={(action) => panel.act(id, { type: "act", id, action })}
    />
  );
}
