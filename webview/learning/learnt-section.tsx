/** Learnt items with a search and filters, and the learnt skills, each with its reasons, sessions and actions. */
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

/** Id of everything that waits for the user. */
const WAITING = "waiting";

/** Items that a newer one replaced, or that made results worse. */
const PAST: readonly LearntItem["state"][] = ["closed", "retired"];

export type ItemFilter = {
  readonly words: string;
  /** Shows the replaced and retired items instead of the others. */
  readonly isPast: boolean;
};

export function LearntSection({ items }: { readonly items: readonly LearntItem[] }) {
  const [filter, setFilter] = useState<ItemFilter>({ words: "", isPast: false });
  const found = chosenItems(items, filter);
  const waiting = found.filter(({ state }) => state === "proposed");
  if (items.length === 0) {
    return (
      <p class="learning-empty">
        {t(
          "Nothing has been learnt yet. When a session has ended, Hermes keeps preferences and facts from what you said, kept, undid and corrected.",
        )}
      </p>
    );
  }
  const change = (changed: Partial<ItemFilter>): void => setFilter({ ...filter, ...changed });
  return (
    <>
      <Filters filter={filter} change={change} />
      <p class="learning-note" role="status">
        {t("{0} of {1}", formatNumber(found.length), formatNumber(items.length))}
      </p>
      {waiting.length > 0 && <Waiting items={waiting} />}
      {(found.length > waiting.length || waiting.length === 0) && (
        <ItemList key={JSON.stringify(filter)} items={found.slice(waiting.length)} />
      )}
    </>
  );
}

/** Items that no prompt has until the user confirms them. */
function Waiting({ items }: { readonly items: readonly LearntItem[] }) {
  const panel = useLearning();
  const act = (action: "accept" | "forget"): void => panel.act(WAITING, { type: "act", id: WAITING, action });
  return (
    <section class="learning-waiting" aria-label={t("Waiting for your yes")}>
      <h2>{t("Waiting for your yes")}</h2>
      <p class="learning-note">
        {t("Files, pages and commands said this, or you said it once. It is used when you keep it.")}
      </p>
      <ItemList items={items} />
      {items.length > 1 && (
        <ActionButtons
          name={t("Waiting for your yes")}
          isRunning={panel.running.value.has(WAITING)}
          labels={{ accept: t("Keep All"), forget: t("Forget All") }}
          actions={["accept", "forget"]}
          asked="forget"
          question={t("Forget all items that wait for your decision?")}
          act={act}
        />
      )}
    </section>
  );
}

type FiltersProps = {
  readonly filter: ItemFilter;
  readonly change: (changed: Partial<ItemFilter>) => void;
};

function Filters({ filter, change }: FiltersProps) {
  return (
    <search class="learning-filters">
      <input
        id="learning-search"
        type="search"
        placeholder={t("Search")}
        aria-label={t("Search what was learnt")}
        value={filter.words}
        onInput={({ currentTarget }) => change({ words: currentTarget.value })}
      />
      <label>
        <input
          type="checkbox"
          checked={filter.isPast}
          onChange={({ currentTarget }) => change({ isPast: currentTarget.checked })}
        />
        {t("Replaced and retired")}
      </label>
    </search>
  );
}

export function SkillsSection({ items }: { readonly items: readonly LearntItem[] }) {
  if (items.length === 0) {
    return (
      <p class="learning-empty">
        {t(
          "No skill has been learnt yet. Hermes distils one from three or more similar sessions, tries it, and keeps it only if it helps.",
        )}
      </p>
    );
  }
  return <ItemList items={items} />;
}

/** The matching items: those that wait for the user first, then in the given order, with the episodes last. */
export function chosenItems(items: readonly LearntItem[], filter: ItemFilter): readonly LearntItem[] {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = items.filter((item) => {
    return PAST.includes(item.state) === filter.isPast && words.every((word) => searchedText(item).includes(word));
  });
  const place = ({ state, kind }: LearntItem): number => (state === "proposed" ? 0 : 1 + Number(kind === "episode"));
  return matching.toSorted((one, other) => place(one) - place(other));
}

function searchedText({ id, kind, text, reason, scope }: LearntItem): string {
  return `${id} ${text} ${reason} ${scope} ${KINDS[kind].word}`.toLowerCase();
}

/** Rows of one page of the list: a long list would be slow to draw and to read. */
const PAGE_ROWS = 50;

/** Length of an item's text in the name of a button. Characters. */
const LABEL_CHARS = 80;

/** Sessions that a row links. */
const LINKED = 3;

const KINDS: Readonly<Record<LearntItem["kind"], { readonly icon: string; readonly word: string }>> = {
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

function ItemList({ items }: { readonly items: readonly LearntItem[] }) {
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
function scopeText(scope: string): string {
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
