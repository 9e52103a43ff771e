import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { t } from "../../app/language.ts";
import type { Library, SearchEngines, Suggestion } from "../../library/library.ts";
import { Icon, SiteIcon } from "../parts/icons.tsx";
import { useId } from "../ui.ts";

interface SuggestionListProps {
  readonly library: Library;
  readonly engines: SearchEngines;
  /** The box, which keeps the focus. */
  readonly box: RefObject<HTMLInputElement | null>;
  readonly typed: string;
  readonly searchUrl: string;
  readonly onChoose: (input: string) => void;
}

/**
 * What somebody may mean who types into the address box. Arrow keys walk through it, and the box says which row that is
 * (`aria-activedescendant`). The box stays a textbox, as programs that drive the app know it (docs/automation.md).
 */
export function SuggestionList({ library, engines, box, typed, searchUrl, onChoose }: SuggestionListProps) {
  const id = useId();
  const rows = library.suggest(typed, searchUrl, engines);
  const [walked, setWalked] = useState<{ readonly typed: string; readonly at: number }>({ typed, at: -1 });
  const at = walked.typed === typed && walked.at < rows.length ? walked.at : -1;

  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const chosen = rows[at];
      if (step !== undefined && rows.length > 0) {
        // Between the last row and the first lies the box itself.
        const count = rows.length + 1;
        setWalked({ typed, at: ((at + 1 + step + count) % count) - 1 });
      } else if (event.key === "Enter" && chosen !== undefined && !event.isComposing) onChoose(chosen.input);
      else return;
      event.preventDefault();
    };
    const input = box.current;
    input?.addEventListener("keydown", onKeyDown);
    return () => input?.removeEventListener("keydown", onKeyDown);
  });
  useLayoutEffect(() => {
    const attributes = at < 0 ? {} : { "aria-activedescendant": `${id}-${at}` };
    if (at >= 0) document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
    return withAttributes(box.current, rows.length === 0 ? {} : { "aria-controls": id, ...attributes });
  }, [id, at, rows.length]);

  if (rows.length === 0) return null;
  return (
    <div
      class="suggestions"
      id={id}
      role="listbox"
      aria-label={t("Suggestions")}
      onMouseDown={(event) => event.preventDefault()}
    >
      {rows.map((row, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the box has the focus, and its keys choose
        <div
          key={`${row.kind} ${row.input}`}
          id={`${id}-${index}`}
          class="suggestion"
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          onClick={() => onChoose(row.input)}
        >
          <RowIcon row={row} library={library} />
          <span class="row-text">
            <bdi class="row-title">{row.label}</bdi>
            <bdi class="row-hint">{row.hint}</bdi>
          </span>
        </div>
      ))}
    </div>
  );
}

function RowIcon({ row, library }: { readonly row: Suggestion; readonly library: Library }) {
  if (row.kind === "page") return <SiteIcon site={{ url: row.input, icon: library.iconOf(row.input) }} />;
  return (
    <span class="site-icon site-icon-plain">
      <Icon name={row.kind === "search" ? "search" : "globe"} />
    </span>
  );
}

/** @returns how to take them away. */
function withAttributes(element: Element | null, attributes: Readonly<Record<string, string>>): () => void {
  for (const [name, value] of Object.entries(attributes)) element?.setAttribute(name, value);
  return () => {
    for (const name of Object.keys(attributes)) element?.removeAttribute(name);
  };
}
