/**
 * Names in config.yaml without effect: settings of the original Hermes Agent that are not supported here, misspelt names
 * and unknown ones. A misspelt name of a protection counts as an error, and the strict value applies.
 */
import * as z from "zod";
import { editDistance, nearestNames, nearName } from "../platform/names.ts";
import { sections } from "./sections.ts";

/** Protection that a misspelt name could switch off. The strict value applies until the name is corrected. */
export type Safeguard = "commands" | "approvals" | "certificates" | "tools";

/** Settings that protect the user, and the consequence of a misspelt name in words. */
const safeguards: readonly { readonly name: Safeguard; readonly settings: RegExp; readonly consequence: string }[] = [
  { name: "commands", settings: /^terminal(\.|$)/, consequence: "No command runs until this is corrected." },
  { name: "approvals", settings: /^approvals(\.|$)/, consequence: "Hermes asks as in mode manual until then." },
  { name: "certificates", settings: /^network(\.|$)/, consequence: "Certificates are checked until then." },
  {
    name: "tools",
    settings: /^(toolsets|platform_toolsets|agent\.disabled_toolsets)$/,
    consequence: "Only tools that read are available until this is corrected.",
  },
];

/**
 * Settings of the original Hermes Agent, by section; `""` has the sections. Those that a schema of sections.ts knows are
 * supported, and are not looked up here.
 */
const ORIGINAL: Readonly<Record<string, string>> = {
  "": `attachments bedrock bot_mode checkpoints command_allowlist context_file_max_chars
    context_file_read_timeout credential_pool_strategies curator custom_providers custom_toolsets dashboard database
    discord file_read_max_chars goals honcho human_delay kanban logging
    loops lsp matrix mattermost max_concurrent_sessions max_live_sessions mcp mcp_discovery_timeout
    mcp_single_query_discovery_timeout moa model_aliases model_catalog model_overrides models_dev monitoring openrouter
    personalities platform_hints privacy prompt_caching provider_routing quick_commands runtime secrets
    security session signal slack smart_model_routing streaming stt telegram timezone tool_budget
    tool_loop_guardrails tool_output tools tts updates voice wake_word web whatsapp`,
  model: "auth_mode default_headers entra extra_headers model ollama_num_ctx reasoning_echo streaming",
  agent: `agent_cache api_max_retries bot_mode_protocol budget_warning_ratio build_wait_timeout clarify_timeout
    coding_instructions cron_drain_timeout empty_response_guard environment_hint environment_probe
    execution_guidance fast_auto_seconds gateway_auto_continue_freshness gateway_notify_interval
    gateway_startup_restore_drain_timeout gateway_startup_warmup_timeout gateway_timeout gateway_timeout_warning
    gateway_turn_lease_timeout image_input_mode intent_ack_continuation local_stream_stale_timeout max_verify_nudges
    parallel_tool_call_guidance personalities reasoning_echo reasoning_overrides reconnect_attention_after
    restart_after_turn_timeout restart_drain_timeout run_budget_seconds sanitizer_heal_escalation_threshold service_tier
    session_stall_timeout stall_guards system_prompt task_completion_guidance tool_use_enforcement turn_liveness verbose
    verify_guidance verify_on_stop`,
  approvals: `cron_mode denial_breaker_threshold deny destructive_slash_confirm mcp_reload_confirm single_query_mode
    smart_policy timeout unattended_mode`,
  auxiliary: `curator free_only goal_judge kanban_decomposer memory_query_rewrite moa_aggregator
    moa_reference monitor openrouter_model profile_describer review session_search skills_hub stream_only_base_urls
    transient_retries triage_specifier tts_audio_tags vision web_extract`,
  "auxiliary.*": "download_timeout enabled extra_body language max_input_tokens prefer_fast_model reasoning_effort",
  browser: `auto_local_for_private_urls camofox cdp_url cloud_provider command_timeout dialog_policy
    dialog_timeout_s engine record_sessions`,
  compression: `abort_on_summary_failure checkpoint_required codex_app_server_auto codex_gpt55_autoraise
    codex_gpt55_autoraise_notice codex_responses_compact_threshold codex_responses_native context_timeout_seconds
    context_total_ceiling_seconds hygiene_failure_cooldown_seconds hygiene_hard_message_limit
    hygiene_max_turn_hold_seconds hygiene_timeout_seconds hygiene_total_ceiling_seconds idle_compact_after_seconds
    in_place max_attempts micro_compact micro_compact_defrag_threshold_tokens micro_compact_every_n_turns
    min_tail_user_messages model_thresholds proactive_prune_min_reclaim_tokens proactive_prune_min_result_chars
    proactive_prune_tokens progress_notices protect_first_n summary_base_url summary_model summary_provider tail_mode
    target_ratio threshold_tokens`,
  code_execution: "mode",
  context: "memory_trim",
  display: `bell_on_complete compact inline_diffs interim_assistant_messages personality platforms resume_display
    show_cost show_reasoning skin streaming tool_preview_length tool_progress_command`,
  fallback_providers: "extra_body reasoning_echo",
  memory: "flush_min_turns provider user_profile_enabled write_approval",
  "mcp_servers.*": `client_cert client_key connect_retries idle_timeout keepalive lazy roots sampling ssl_verify
    supports_parallel_tool_calls`,
  network: "force_ipv4",
  plugins: `allow_deprecated_imports auto_apply auto_update_check_hours clone_timeout_seconds`,
  "providers.*": `api extra_headers key_cmd model models name request_timeout_seconds session_affinity_header
    transport`,
  skills: `create_dir guard_agent_created inline_shell inline_shell_timeout ledger platform_disabled project_discovery
    template_vars tier1_advisory trusted_project_dirs`,
  terminal: `auto_source_bashrc container_disk container_persistent daemon_term_grace_seconds daytona_image
    degraded_mode docker_env docker_extra_args docker_forward_env docker_mount_cwd_to_workspace docker_network
    docker_run_as_host_user docker_shared_container_key docker_shm_size docker_snap_compat font_family home_mode
    lifetime_seconds modal_image modal_mode oneshot_completion_wait_seconds persistent_shell shell_init_files
    sudo_password temp_dir vercel_runtime`,
};

export type NameProblems = {
  /** One line for people each. */
  readonly warnings: readonly string[];
  /** One line for people each. */
  readonly errors: readonly string[];
  readonly safeguards: ReadonlySet<Safeguard>;
};

/** Checks the names in `raw`, a parsed config.yaml, against the schemas. */
export function checkNames(raw: Readonly<Record<string, unknown>>): NameProblems {
  const errors: string[] = [];
  const unknown: string[] = [];
  const unsupported: string[] = [];
  const strict = new Set<Safeguard>();
  for (const { name, section, known } of namesWithoutSchema(raw, [z.object(sections)], [])) {
    const path = [...section, name].join(".");
    if (isOriginal(section, name)) {
      unsupported.push(path);
      continue;
    }
    const near = misspelt(name, known);
    const safeguard = near === undefined ? undefined : safeguardOf([...section, near].join("."));
    if (safeguard === undefined) {
      const hint = near ?? nearName(name, known);
      unknown.push(hint === undefined ? path : `${path} (did you mean ${hint}?)`);
      continue;
    }
    strict.add(safeguard.name);
    errors.push(
      `config.yaml: ${path} is not a setting. Did you mean ${[...section, near].join(".")}? ${safeguard.consequence}`,
    );
  }
  const warnings = [
    ...lineOf("unknown settings without effect", unknown),
    ...lineOf("settings of Hermes Agent that this version does not support", unsupported),
  ];
  return { warnings, errors, safeguards: strict };
}

/** Protection that a setting belongs to, with its consequence in words. */
export function safeguardOf(path: string) {
  return safeguards.find(({ settings }) => settings.test(path));
}

function lineOf(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`config.yaml: ${what}: ${names.join(", ")}.`];
}

function isOriginal(section: readonly string[], name: string): boolean {
  const own = section.join(".");
  const kind = [...section.slice(0, -1), "*"].join(".");
  return [own, kind].some((key) => ORIGINAL[key]?.split(/\s+/).includes(name));
}

/** The known name that was probably meant: it differs in about every third character, or one begins with the other. */
function misspelt(name: string, known: readonly string[]): string | undefined {
  const written = name.toLowerCase();
  const isNear = (candidate: string): boolean =>
    (Math.min(written.length, candidate.length) > 2 &&
      (written.startsWith(candidate) || candidate.startsWith(written))) ||
    editDistance(written, candidate) <= Math.max(1, Math.floor(candidate.length / 3));
  return nearestNames(name, known, known.length).find(isNear);
}

type ForeignName = {
  readonly name: string;
  readonly section: readonly string[];
  /** Valid names at this place. */
  readonly known: readonly string[];
};

/** Names in the mappings of `value` that the schemas for it do not have. */
function namesWithoutSchema(
  value: unknown,
  schemas: readonly unknown[],
  section: readonly string[],
): readonly ForeignName[] {
  const possible = schemas.flatMap(withoutWrappers);
  if (Array.isArray(value)) {
    const elements = possible.flatMap((schema) => (schema instanceof z.ZodArray ? [schema.element] : []));
    return value.flatMap((item) => namesWithoutSchema(item, elements, section));
  }
  if (typeof value !== "object" || value === null) return [];
  const entries = Object.entries(value);
  const records = possible.flatMap((schema) => (schema instanceof z.ZodRecord ? [schema.valueType] : []));
  if (records.length > 0)
    return entries.flatMap(([name, item]) => namesWithoutSchema(item, records, [...section, name]));
  const shapes = possible.flatMap((schema) => (schema instanceof z.ZodObject ? [schema.shape] : []));
  // A schema without a shape, and one that is open for other names, accepts all of them.
  if (shapes.length === 0 || possible.some((schema) => schema instanceof z.ZodObject && schema.def.catchall)) return [];
  const known = [...new Set(shapes.flatMap((shape) => Object.keys(shape)))];
  return entries.flatMap(([name, item]) => {
    const inner = shapes.flatMap((shape) => (Object.hasOwn(shape, name) ? [shape[name]] : []));
    return inner.length === 0 ? [{ name, section, known }] : namesWithoutSchema(item, inner, [...section, name]);
  });
}

/** The schemas for arrays, records and objects behind defaults, unions and transformations. */
function withoutWrappers(schema: unknown): readonly unknown[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(withoutWrappers);
  if (schema instanceof z.ZodPipe) {
    return withoutWrappers(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  }
  const isWrapper = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault, z.ZodReadonly, z.ZodCatch, z.ZodLazy];
  const wrapper = isWrapper.find((kind) => schema instanceof kind);
  return wrapper === undefined ? [schema] : withoutWrappers((schema as z.ZodOptional).unwrap());
}
