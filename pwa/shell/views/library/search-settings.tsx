import { useState } from "preact/hooks";
import { t } from "../../app/language.ts";
import type { SearchEngine, SearchEngines } from "../../library/library.ts";
import { Icon } from "../parts/icons.tsx";
import { useId } from "../ui.ts";

interface SearchSettingsProps {
  readonly engines: SearchEngines;
  /** Of the one of choice. */
  readonly searchUrl: string;
  readonly onChange: (searchUrl: string) => void;
}

/** The search engine of choice, and the others, with the words that lead to them. */
export function SearchSettings({ engines, searchUrl, onChange }: SearchSettingsProps) {
  const id = useId();
  const [, setCount] = useState(0);
  const redraw = () => setCount((count) => count + 1);
  const all = engines.list(searchUrl);
  return (
    <section class="setting">
      <h4>
        <label for={id}>{t("Search with")}</label>
      </h4>
      <select id={id} class="field" value={searchUrl} onChange={(event) => onChange(event.currentTarget.value)}>
        {all.map((engine) => (
          <option key={engine.searchUrl} value={engine.searchUrl}>
            {engine.name}
          </option>
        ))}
      </select>
      <details class="engines">
        <summary>{t("Other search engines")}</summary>
        <p class="fine">{t("In the address box, “w rope” or “@w rope” searches Wikipedia for rope.")}</p>
        <ul>
          {all.map((engine) => (
            <EngineRow
              key={engine.searchUrl}
              engine={engine}
              onShortcut={(shortcut) => engines.setShortcut({ ...engine, shortcut })}
              onRemove={
                engine.isOwn && engine.searchUrl !== searchUrl
                  ? () => {
                      engines.remove(engine.searchUrl);
                      redraw();
                    }
                  : null
              }
            />
          ))}
        </ul>
        <NewEngine engines={engines} onAdded={redraw} />
      </details>
    </section>
  );
}

interface EngineRowProps {
  readonly engine: SearchEngine;
  /** @returns why it cannot be used, or null. */
  readonly onShortcut: (shortcut: string) => string | null;
  /** Null: it stays. */
  readonly onRemove: (() => void) | null;
}

function EngineRow({ engine: { name, shortcut }, onShortcut, onRemove }: EngineRowProps) {
  const id = useId();
  const [problem, setProblem] = useState<string | null>(null);
  return (
    <li>
      <span>{name}</span>
      <input
        class="field"
        type="text"
        aria-label={t("Shortcut for {name}", { name })}
        autocapitalize="off"
        autocomplete="off"
        spellcheck={false}
        defaultValue={shortcut}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : id}
        onChange={(event) => setProblem(onShortcut(event.currentTarget.value))}
      />
      {onRemove && (
        <button type="button" class="icon-button" aria-label={t("Remove {name}", { name })} onClick={onRemove}>
          <Icon name="close" />
        </button>
      )}
      {problem && (
        <p class="problem" id={id} role="alert">
          {problem}
        </p>
      )}
    </li>
  );
}

function NewEngine({ engines, onAdded }: Pick<SearchSettingsProps, "engines"> & { readonly onAdded: () => void }) {
  const id = useId();
  const [problem, setProblem] = useState<string | null>(null);
  const add = (form: HTMLFormElement) => {
    const [searchUrl = "", shortcut = ""] = [...form.querySelectorAll("input")].map(({ value }) => value.trim());
    const found = engines.add({ searchUrl, shortcut });
    setProblem(found);
    if (found !== null) return;
    form.reset();
    onAdded();
  };
  const field = {
    class: "field",
    type: "text",
    autocapitalize: "off",
    autocomplete: "off",
    spellcheck: false,
  } as const;
  return (
    <form
      aria-label={t("Add a search engine")}
      onSubmit={(event) => {
        event.preventDefault();
        add(event.currentTarget);
      }}
    >
      <input
        {...field}
        inputMode="url"
        aria-label={t("Search address, with %s where the words go")}
        placeholder="https://search.example/?q=%s"
        aria-invalid={problem !== null}
        aria-describedby={`${id}-hint`}
      />
      <p class={problem ? "problem" : "fine"} id={`${id}-hint`} role={problem ? "alert" : undefined}>
        {problem ?? t("%s stands for the words.")}
      </p>
      <div class="engine-end">
        <input {...field} aria-label={t("Shortcut")} placeholder={t("Shortcut")} />
        <button type="submit" class="button">
          {t("Add")}
        </button>
      </div>
    </form>
  );
}
