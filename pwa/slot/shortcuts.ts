/** The keys of the app, for the shell and for the page that has the focus. */
import type { KeyPress, PagePhase } from "../messages/page-messages.ts";

type Shortcut = "address" | "find" | "back" | "forward" | "reload" | "hardReload" | "stop";

/**
 * The browser command behind a key, or null to leave the key to the platform. On the start page reloads are left
 * alone, so that the app itself can still be reloaded; so is the search, which is then the browser's own.
 */
export function shortcutFor(press: KeyPress, phase: PagePhase, isMac: boolean): Shortcut | null {
  const shortcut = commands(isMac)[chordOf(press)] ?? null;
  if (phase === "idle" && ["reload", "hardReload", "find"].includes(shortcut ?? "")) return null;
  if (shortcut === "stop" && phase !== "loading") return null;
  return shortcut;
}

/** By chord, as `chordOf` writes it. On a Mac, Option with an arrow belongs to the text. */
function commands(isMac: boolean): Readonly<Record<string, Shortcut>> {
  const everywhere: Record<string, Shortcut> = { f5: "reload", "shift f5": "hardReload", escape: "stop" };
  if (isMac)
    return {
      ...everywhere,
      "meta l": "address",
      "meta f": "find",
      "meta r": "reload",
      "meta shift r": "hardReload",
      "meta [": "back",
      "meta ]": "forward",
    };
  return {
    ...everywhere,
    "ctrl l": "address",
    "ctrl f": "find",
    "ctrl r": "reload",
    "ctrl shift r": "hardReload",
    "ctrl f5": "hardReload",
    "alt arrowleft": "back",
    "alt arrowright": "forward",
  };
}

/** Whether `shortcutFor` may know it, in a few bytes: for the page. */
export function isShortcut(press: KeyPress, isMac: boolean): boolean {
  return (
    isMac
      ? /^(?:(?:shift )?f5|escape|meta (?:[flr[\]]|shift r))$/
      : /^(?:(?:shift |ctrl )?f5|escape|ctrl (?:[flr]|shift r)|alt arrow(?:left|right))$/
  ).test(chordOf(press));
}

function chordOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): string {
  return [ctrlKey && "ctrl", metaKey && "meta", altKey && "alt", shiftKey && "shift", key.toLowerCase()]
    .filter(Boolean)
    .join(" ");
}
