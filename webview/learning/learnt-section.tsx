/** Learnt items with a search and filters, and the learnt skills. */
import { useState } from "preact/hooks";
import type { LearntItem } from "../../agent-core/protocol/learning.ts";
import { formatNumber, t } from "../texts.ts";
import { ActionButtons } from "./action-buttons.tsx";
import { ItemList, KINDS } from "./item-list.tsx";
import { useLearning } from "./learning-panel.ts";

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
