import { Icon } from "../parts/icons.tsx";
import { SiteIcon } from "../parts/site-icon.tsx";
import type { Suggestion } from "./suggestions.ts";

/** What the address box offers while somebody types. A list of buttons: the box itself stays a plain textbox. */
export function SuggestionList({ rows, onChoose }: { rows: readonly Suggestion[]; onChoose: (input: string) => void }) {
  if (rows.length === 0) return null;
  return (
    <ul class="suggestions" aria-label="Suggestions" onMouseDown={keepFocus}>
      {rows.map((row) => (
        <li key={`${row.kind} ${row.input}`}>
          <button type="button" class="suggestion" onClick={() => onChoose(row.input)}>
            {row.kind === "site" ? (
              <SiteIcon site={row.site} />
            ) : (
              <span class="site-icon site-icon-plain">
                <Icon name={row.kind === "search" ? "search" : "globe"} />
              </span>
            )}
            <span class="row-text">
              <span class="row-title">{row.label}</span>
              <span class="row-hint">{row.hint}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Keeps the focus, and with it a phone's keyboard, in the address box while something near it is pressed. */
export function keepFocus(event: MouseEvent): void {
  event.preventDefault();
}

/** Arrow keys walk from the box through the suggestions and back. */
export function moveFocus(event: KeyboardEvent, form: HTMLFormElement | null): void {
  const stops = [...(form?.querySelectorAll<HTMLElement>("input, .suggestion") ?? [])];
  const at = stops.findIndex((stop) => stop.matches(":focus"));
  const next = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
}
