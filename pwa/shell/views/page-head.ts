import type { BrowserState } from "./browser-state.ts";
import { shortHost } from "./parts/format.ts";

const APP_ICON = "/icons/icon.svg";
/** The bar's colour in each scheme, as in the style sheet and in index.html. */
const THEME_COLOURS = { light: "#ffffff", dark: "#1a2321" } as const;

/** Brings the document's own head and `<html>` in line with the state: phase, title, icon, theme. */
export function drawPageHead(document: Document, state: BrowserState): void {
  const { documentElement: html } = document;
  html.dataset.page = state.phase;
  if (state.settings.theme === "system") delete html.dataset.theme;
  else html.dataset.theme = state.settings.theme;
  document.title = state.url === "" ? "Ropeway" : state.title || shortHost(state.url);

  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const href = state.icon ?? APP_ICON;
  if (icon && icon.getAttribute("href") !== href) icon.setAttribute("href", href);
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const ownScheme = meta.media.includes("dark") ? "dark" : "light";
    meta.content = THEME_COLOURS[state.settings.theme === "system" ? ownScheme : state.settings.theme];
  }
}
