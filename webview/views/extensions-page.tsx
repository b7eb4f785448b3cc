/** The page of extensions: MCP servers, plugins, hooks, skills and agents with their state and their actions. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { HermesExtensionAction, HermesExtensionItem } from "../../agent-core/protocol/extensions.ts";
import type { ExtensionPlace } from "../../agent-core/protocol/panel-messages.ts";
import type { Panel } from "../panel.ts";
import { attentionText, extensionsOf, needingAttention } from "../state/extensions.ts";
import { t } from "../texts.ts";
import { useFocusKept } from "./focus-kept.ts";
import { Fold } from "./fold.tsx";
import { BackButton, Button, Icon, IconButtons } from "./icon.tsx";
import { onKeys } from "./keys.ts";
import { usePanel } from "./panel-context.ts";

type ItemProps = { readonly item: HermesExtensionItem };

type Way = { readonly icon: string; readonly label: string; readonly run: (panel: Panel) => void };

type Group = {
  readonly kind: HermesExtensionItem["kind"];
  readonly title: string;
  /** Shown while the group is empty. */
  readonly about: string;
  /** Way to more items. */
  readonly add?: Way;
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
    add: { icon: "add", label: t("Add MCP Server…"), run: ({ post }) => post({ type: "add-server" }) },
    places: [CONFIG, { place: "workspaceServers", label: ".mcp.json" }],
  },
  {
    kind: "plugin",
    title: t("Plugins"),
    about: t(
      "Plugins are JavaScript programs that add tools, slash commands and hooks. Put each one into its own folder in the plugins folder, then enable it here.",
    ),
    places: [{ place: "plugins", label: t("Plugins Folder") }],
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
    // The agent answers a search in the conversation, and shows each skill before it installs it.
    add: {
      icon: "search",
      label: t("Find Skills…"),
      run: (panel) => {
        panel.closeExtensions();
        panel.compose("/skills search ");
      },
    },
    places: [{ place: "skills", label: t("Skills Folder") }],
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

export function ExtensionsPage() {
  const panel = usePanel();
  const items = extensionsOf(panel.store.shown.value);
  const rows = useFocusKept<HTMLDivElement>(items, ".extension-actions button, button", "#extensions-title");
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => title.current?.focus(), []);
  const leave = (): void => panel.closeExtensions();
  return (
    <section class="history extensions" aria-labelledby="extensions-title" onKeyDown={onKeys({ Escape: leave })}>
      <div class="history-head">
        <BackButton act={leave} />
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
  const panel = usePanel();
  const { post } = panel;
  const headingId = `extensions-${group.kind}`;
  const { add: way } = group;
  const add = way !== undefined && (
    <Button onClick={() => way.run(panel)}>
      <Icon name={way.icon} /> {way.label}
    </Button>
  );
  const places = group.places.map(({ place, label }) => (
    <Button
      key={place}
      aria-label={t("Open {0} for {1}", label, group.title)}
      onClick={() => post({ type: "extension-place", place })}
    >
      {items.length === 0 ? t("Open {0}", label) : label}
    </Button>
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
          <Button
            class="extension-source"
            title={path}
            aria-label={t("Open {0}: it defines {1}", source, name)}
            onClick={() => post({ type: "extension-open", id })}
          >
            {source}
          </Button>
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
  "sign-in": t("Sign In"),
  "sign-out": t("Sign Out"),
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
      <IconButtons
        of={[["close", t("Dismiss the Note About Extensions"), t("Dismiss"), () => panel.seeExtensions()]]}
      />
    </div>
  );
}
