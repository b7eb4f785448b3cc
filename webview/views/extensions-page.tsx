/** The page of extensions: MCP servers, plugins, hooks, skills and agents with their state and their actions. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { HermesExtensionAction, HermesExtensionItem } from "../../agent-core/protocol/extensions.ts";
import type { ExtensionPlace } from "../../agent-core/protocol/panel-messages.ts";
import { attentionText, extensionsOf, needingAttention } from "../state/extensions.ts";
import { t } from "../texts.ts";
import { useFocusKept } from "./focus-kept.ts";
import { Fold } from "./fold.tsx";
import { Icon, IconButton } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

type ItemProps = { readonly item: HermesExtensionItem };

type Group = {
  readonly kind: HermesExtensionItem["kind"];
  readonly title: string;
  /** Shown while the group is empty. */
  readonly about: string;
  readonly places: readonly { readonly place: ExtensionPlace; readonly label: string }[];
};

const CONFIG = { place: "config", label: "config.yaml" } as const;

const GROUPS: readonly Group[] = [
  {
    kind: "mcp",
    title: t("MCP Servers"),
    about: t(
      "MCP servers give the agent tools of other programs, for example an issue tracker. Those of VS Code are used as well.",
    ),
    places: [CONFIG, { place: "workspaceServers", label: ".mcp.json" }],
  },
  {
    kind: "plugin",
    title: t("Plugins"),
    about: t(
      "Plugins are JavaScript programs that add tools, slash commands and hooks. Put each one into its own folder in the plugins folder, then enable it here.",
    ),
    places: [{ place: "plugins", label: t("plugins folder") }],
  },
  {
    kind: "hook",
    title: t("Hooks"),
    about: t(
      "Hooks run your own commands at certain events, for example before each tool call. Add them to config.yaml under hooks.",
    ),
    places: [CONFIG],
  },
  {
    kind: "skill",
    title: t("Skills"),
    about: t(
      "Skills are instructions that the agent reads when a task needs them. Put each one into its own folder in the skills folder, with a file SKILL.md.",
    ),
    places: [{ place: "skills", label: t("skills folder") }],
  },
  {
    kind: "agent",
    title: t("Custom Agents"),
    about: t(
      "Custom agents are roles with instructions, tools and a model of their own. Add one as .github/agents/NAME.agent.md, .claude/agents/NAME.md or .hermes/agents/NAME.md, and begin a message with @NAME.",
    ),
    places: [],
  },
];

/** Focus after an action, whose button may have disappeared. */
const FOCUS = { inRow: ".extension-actions button, button", otherwise: "#extensions-title" };

export function ExtensionsPage() {
  const panel = usePanel();
  const items = extensionsOf(panel.store.shown.value);
  const rows = useFocusKept<HTMLDivElement>(items, FOCUS);
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => title.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    panel.closeExtensions();
    panel.compose();
  };
  return (
    <section class="history extensions" aria-labelledby="extensions-title" onKeyDown={onKeyDown}>
      <div class="history-head">
        <IconButton
          icon="arrow-left"
          name={t("Back to the conversation")}
          title={t("Back to the conversation (Escape)")}
          act={() => panel.closeExtensions()}
        />
        <h1 id="extensions-title" ref={title} tabIndex={-1}>
          {t("Extensions")}
        </h1>
      </div>
      <div class="history-rows extension-groups" ref={rows}>
        {GROUPS.map((group) => (
          <GroupView key={group.kind} group={group} items={items.filter(({ kind }) => kind === group.kind)} />
        ))}
      </div>
    </section>
  );
}

function GroupView({ group, items }: { readonly group: Group; readonly items: readonly HermesExtensionItem[] }) {
  const { post } = usePanel();
  const headingId = `extensions-${group.kind}`;
  const add = group.kind === "mcp" && (
    <button type="button" class="text-button" onClick={() => post({ type: "add-server" })}>
      <Icon name="add" /> {t("Add MCP Server…")}
    </button>
  );
  const places = group.places.map(({ place, label }) => (
    <button
      key={place}
      type="button"
      class="text-button"
      aria-label={t("Open {0} for {1}", label, group.title)}
      onClick={() => post({ type: "extension-place", place })}
    >
      {items.length === 0 ? t("Open {0}", label) : label}
    </button>
  ));
  return (
    <section class="extension-group" aria-labelledby={headingId}>
      <div class="extension-heading">
        <h2 id={headingId}>
          {group.title}
          {items.length > 0 && <span class="extension-count"> {items.length}</span>}
        </h2>
        {items.length > 0 && [add, ...places]}
      </div>
      {items.length === 0 ? (
        <div class="extension-about">
          <p>{group.about}</p>
          {add}
          {places}
        </div>
      ) : (
        <ul class="extension-list">
          {items.map((item) => (
            <Row key={item.id} item={item} />
          ))}
        </ul>
      )}
    </section>
  );
}

const STATES: Readonly<Record<HermesExtensionItem["state"], { readonly icon: string; readonly word: string }>> = {
  on: { icon: "pass", word: t("On") },
  off: { icon: "circle-slash", word: t("Off") },
  starting: { icon: "loading", word: t("Starting") },
  "needs-consent": { icon: "shield", word: t("Needs consent") },
  "needs-sign-in": { icon: "key", word: t("Needs sign-in") },
  failed: { icon: "error", word: t("Failed") },
};

function Row({ item }: ItemProps) {
  const { post } = usePanel();
  const { id, name, state, source, detail, error, path, tools = [] } = item;
  const isImpaired = state === "on" && error !== undefined;
  const { icon, word } = STATES[state];
  return (
    <li class={`extension-row extension-${isImpaired ? "impaired" : state}`} data-row={id}>
      <div class="extension-name">
        <Icon name={isImpaired ? "warning" : icon} spin={state === "starting"} />
        <strong class="tool-title" title={name}>
          {name}
        </strong>
        <span class="extension-state">{word}</span>
      </div>
      {detail !== "" && <p class={state === "needs-consent" ? "extension-command" : "extension-detail"}>{detail}</p>}
      {error !== undefined && <p class="extension-error">{error}</p>}
      <div class="extension-foot">
        {path === undefined ? (
          <span class="extension-source">{source}</span>
        ) : (
          <button
            type="button"
            class="text-button extension-source"
            title={path}
            aria-label={t("Open {0}, which defines {1}", source, name)}
            onClick={() => post({ type: "extension-open", id })}
          >
            {source}
          </button>
        )}
        <Actions item={item} />
      </div>
      <Outcome id={id} />
      {tools.length > 0 && <Tools item={item} tools={tools} />}
    </li>
  );
}

const LABELS: Readonly<Record<HermesExtensionAction, string>> = {
  allow: t("Allow"),
  enable: t("Enable"),
  disable: t("Disable"),
  restart: t("Restart"),
  "sign-in": t("Sign in"),
  "sign-out": t("Sign out"),
};

/** Actions that an item needs before it can run; shown as buttons. */
const URGENT: readonly HermesExtensionAction[] = ["allow", "sign-in"];

function Actions({ item: { id, name, actions } }: ItemProps) {
  const panel = usePanel();
  const isRunning = panel.store.shown.value.extensionActs.get(id)?.isRunning === true;
  return (
    <span class="extension-actions">
      {isRunning && <Icon name="loading" spin />}
      {actions.map((action) => (
        <button
          key={action}
          type="button"
          class={URGENT.includes(action) ? "button button-small button-primary" : "text-button"}
          aria-label={`${LABELS[action]} ${name}`}
          aria-disabled={isRunning}
          onClick={() => isRunning || panel.actOnExtension(id, action)}
        >
          {LABELS[action]}
        </button>
      ))}
    </span>
  );
}

/** Outcome of the last action. */
function Outcome({ id }: { readonly id: string }) {
  const act = usePanel().store.shown.value.extensionActs.get(id);
  if (act === undefined || act.isRunning) return null;
  return <p class={act.isError ? "extension-error" : "extension-detail"}>{act.text}</p>;
}

type ToolsProps = ItemProps & { readonly tools: NonNullable<HermesExtensionItem["tools"]> };

function Tools({ item: { id, name }, tools }: ToolsProps) {
  const panel = usePanel();
  const off = tools.filter(({ on }) => !on).length;
  const all = tools.length === 1 ? t("1 tool") : t("{0} tools", tools.length);
  const count = off === 0 ? all : t("{0}, {1} off", all, off);
  return (
    <Fold id={`extension ${id}`} openByDefault={false} summary={<span class="tool-title">{count}</span>}>
      <ul class="extension-tools" aria-label={t("Tools of {0}", name)}>
        {tools.map((tool) => (
          <li key={tool.name}>
            <label>
              <input
                type="checkbox"
                checked={tool.on}
                onChange={({ currentTarget }) => {
                  currentTarget.checked = tool.on; // until the agent reports the new state
                  panel.actOnExtension(id, tool.on ? "disable" : "enable", tool.name);
                }}
              />{" "}
              {tool.name}
            </label>
          </li>
        ))}
      </ul>
    </Fold>
  );
}

/** One line about extensions that need the user's attention; a click opens the page. */
export function ExtensionsLine(): ComponentChildren {
  const panel = usePanel();
  const { store } = panel;
  const { route } = store.shown.value;
  const text = attentionText(needingAttention(store.shown.value));
  if (text === undefined || route.extensions || route.sessions) return null;
  return (
    <div class="agent-line extensions-line">
      <button type="button" class="background-line" onClick={() => panel.showExtensions()}>
        <Icon name="extensions" /> <span>{text}</span>
      </button>
      <IconButton
        icon="close"
        name={t("Dismiss the note about extensions")}
        title={t("Dismiss")}
        act={() => panel.seeExtensions()}
      />
    </div>
  );
}
