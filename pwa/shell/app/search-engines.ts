/** A search engine that the settings offer; `%s` stands for the percent-encoded words. */
interface SearchEngine {
  readonly name: string;
  readonly searchUrl: string;
}

/** The search URL of a phone on which nobody chose another. This one works without scripts, in one small page. */
export const DEFAULT_SEARCH_URL = "https://html.duckduckgo.com/html/?q=%s";

export const SEARCH_ENGINES: readonly SearchEngine[] = [
  { name: "DuckDuckGo (light)", searchUrl: DEFAULT_SEARCH_URL },
  { name: "DuckDuckGo", searchUrl: "https://duckduckgo.com/?q=%s" },
  { name: "Google", searchUrl: "https://www.google.com/search?q=%s" },
  { name: "Bing", searchUrl: "https://www.bing.com/search?q=%s" },
  { name: "Brave", searchUrl: "https://search.brave.com/search?q=%s" },
  { name: "Mojeek", searchUrl: "https://www.mojeek.com/search?q=%s" },
  { name: "Wikipedia", searchUrl: "https://en.wikipedia.org/w/index.php?search=%s" },
];

/** Name of the engine behind a search URL, its host for one that the person entered. */
export function searchEngineName(searchUrl: string): string {
  const known = SEARCH_ENGINES.find((engine) => engine.searchUrl === searchUrl);
  if (known) return known.name.replace(" (light)", "");
  return URL.canParse(searchUrl) ? new URL(searchUrl).host : "the web";
}
