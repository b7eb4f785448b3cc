/** Web access of the tools by the settings: the search service, private addresses, and models for pages and pictures. */

/** Picture for a model; `data` is base64. */
export type Picture = { readonly mimeType: string; readonly data: string };

export type WebAccess = {
  /** True for `web.allow_private_urls`: pages of this machine and of private networks may be read. */
  readonly allowsPrivate: boolean;
  /** Undefined without a configured search service. */
  readonly search?: SearchChoice | undefined;
  /** Summary of a long page by the model of `auxiliary.web_extract`. Default: none. */
  readonly summarize?: ((page: string, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** True when the conversation's model accepts pictures. Default: it accepts none. */
  readonly acceptsPictures?: () => boolean;
  /** Answer about a picture by the model of `auxiliary.vision`. Default: none. */
  readonly askAboutPicture?:
    | ((
        image: Picture,
        question: string,
        signal: AbortSignal,
      ) => Promise<{ readonly ok: boolean; readonly text: string }>)
    | undefined;
};

export type SearchBackendName = "searxng" | "brave" | "tavily" | "exa" | "firecrawl" | "duckduckgo-html";

/** `key`: undefined for a service without one. */
export type SearchChoice = {
  readonly backend: SearchBackendName;
  /** Address in place of the public one. */
  readonly baseUrl?: string | undefined;
  readonly key?: string | undefined;
};

/** Environment variables that configure the services, in the order of preference. */
export const SEARCH_VARIABLES: Readonly<Record<SearchBackendName, string | undefined>> = {
  searxng: "SEARXNG_URL",
  brave: "BRAVE_SEARCH_API_KEY",
  tavily: "TAVILY_API_KEY",
  exa: "EXA_API_KEY",
  firecrawl: "FIRECRAWL_API_KEY",
  "duckduckgo-html": undefined,
};

/** Names of the original Hermes Agent for the services. */
const ALIASES: Readonly<Record<string, SearchBackendName>> = { ddgs: "duckduckgo-html", "brave-free": "brave" };

type Environment = Readonly<Record<string, string | undefined>>;

export type ChosenSearch = { readonly choice: SearchChoice | undefined; readonly warning?: string };

/**
 * The named service, else the first one whose variable is set. Without a name DuckDuckGo is never used, because it needs
 * no variable that shows the user's consent.
 */
export function chooseSearch(
  { backend, baseUrl }: { readonly backend?: string | undefined; readonly baseUrl?: string | undefined },
  environment: Environment,
): ChosenSearch {
  const names = Object.keys(SEARCH_VARIABLES) as SearchBackendName[]; // the keys of the record
  const named = names.find((name) => name === backend) ?? ALIASES[backend ?? ""];
  if (backend !== undefined && named === undefined) {
    return { choice: undefined, warning: `config.yaml: web.backend: ${backend} is not one of ${names.join(", ")}.` };
  }
  const name = named ?? names.find((each) => variableValue(each, environment) !== undefined);
  if (name === undefined) return { choice: undefined };
  const value = variableValue(name, environment);
  const variable = SEARCH_VARIABLES[name];
  if (variable !== undefined && value === undefined && (name !== "searxng" || baseUrl === undefined)) {
    return {
      choice: undefined,
      warning: `config.yaml: web.backend: ${name} needs the environment variable ${variable}.`,
    };
  }
  const ownAddress = name === "firecrawl" ? environment["FIRECRAWL_API_URL"] || undefined : undefined;
  if (name === "searxng") return { choice: { backend: name, baseUrl: baseUrl ?? value } };
  return { choice: { backend: name, baseUrl: baseUrl ?? ownAddress, key: value } };
}

function variableValue(name: SearchBackendName, environment: Environment): string | undefined {
  const variable = SEARCH_VARIABLES[name];
  return variable === undefined ? undefined : environment[variable]?.trim() || undefined;
}
