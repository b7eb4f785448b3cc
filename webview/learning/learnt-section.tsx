/** Learnt items with a search and filters, and the learnt skills. */
import { useState } from "preact/hooks";
import type { LearntItem } from "../../agent-core/protocol/learning.ts";
import { formatNumber, t } from "../texts.ts";
import { ActionButtons } from "./action-buttons.tsx";
import { ItemList, KINDS, scopeText } from "./item-list.tsx";
import { useLearning } from "./learning-panel.ts";

type Kind = LearntItem["kind"];

/** Id of everything that waits for the user. */
const WAITING = "waiting";

/** `current`: active, on trial or proposed. `past`: replaced or retired. */
type Shown = "current" | "past" | "all";

export type ItemFilter = {
  readonly words: string;
  readonly kind: LearntItem["kind"] | undefined;
  /** Scope of the items; undefined: all. */
  readonly scope: string | undefined;
  readonly shown: Shown;
};

const EVERYTHING: ItemFilter = { words: "", kind: undefined, scope: undefined, shown: "current" };

const PAST: readonly LearntItem["state"][] = ["closed", "retired"];

const SHOWN: Readonly<Record<Shown, string>> = {
  current: t("In use"),
  past: t("Replaced and retired"),
  all: t("All states"),
};

export function LearntSection({ items }: { readonly items: readonly LearntItem[] }) {
  const [filter, setFilter] = useState<ItemFilter>(EVERYTHING);
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
      <Filters items={items} filter={filter} change={change} />
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
          question={t("Forget everything that waits for you?")}
          act={act}
        />
      )}
    </section>
  );
}

type FiltersProps = {
  readonly items: readonly LearntItem[];
  readonly filter: ItemFilter;
  readonly change: (changed: Partial<ItemFilter>) => void;
};

function Filters({ items, filter, change }: FiltersProps) {
  const kinds = (Object.keys(KINDS) as Kind[]).filter((kind) => items.some((item) => item.kind === kind));
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
      <select
        aria-label={t("Kind")}
        value={filter.kind ?? ""}
        onChange={({ currentTarget }) => change({ kind: kinds.find((kind) => kind === currentTarget.value) })}
      >
        <option value="">{t("All kinds")}</option>
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {KINDS[kind].word}
          </option>
        ))}
      </select>
      <select
        aria-label={t("Project")}
        value={filter.scope ?? ""}
        onChange={({ currentTarget }) => change({ scope: currentTarget.value || undefined })}
      >
        <option value="">{t("All projects")}</option>
        {projectsOf(items).map((scope) => (
          <option key={scope} value={scope}>
            {scopeText(scope)}
          </option>
        ))}
      </select>
      <select
        aria-label={t("State")}
        value={filter.shown}
        onChange={({ currentTarget }) => change({ shown: currentTarget.value as Shown })} // its options are SHOWN
      >
        {Object.entries(SHOWN).map(([shown, word]) => (
          <option key={shown} value={shown}>
            {word}
          </option>
        ))}
      </select>
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
  const matching = items.filter(
    (item) => isShown(item, filter) && words.every((word) => searchedText(item).includes(word)),
  );
  const place = ({ state, kind }: LearntItem): number => (state === "proposed" ? 0 : 1 + Number(kind === "episode"));
  return matching.toSorted((one, other) => place(one) - place(other));
}

/** Scopes of the items: `user` first, then projects by their folder's name. */
function projectsOf(items: readonly LearntItem[]): readonly string[] {
  const scopes = [...new Set(items.map(({ scope }) => scope))].filter((scope) => scope !== "user").sort();
  return items.some(({ scope }) => scope === "user") ? ["user", ...scopes] : scopes;
}

function isShown(item: LearntItem, { kind, scope, shown }: ItemFilter): boolean {
  if (kind !== undefined && item.kind !== kind) return false;
  if (scope !== undefined && item.scope !== scope) return false;
  return shown === "all" || PAST.includes(item.state) === (shown === "past");
}

function searchedText({ id, text, reason, scope }: LearntItem): string {
  return `${id} ${text} ${reason} ${scope}`.toLowerCase();
}
