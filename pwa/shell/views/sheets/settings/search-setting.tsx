import { useId, useState } from "preact/hooks";
import { SEARCH_ENGINES } from "../../../app/search-engines.ts";
import { searchUrlProblem } from "./search-url-problem.ts";

const CUSTOM = "custom";

/** Search engine: one of the presets, or an address of the person's own. */
export function SearchSetting({ searchUrl, onChange }: { searchUrl: string; onChange: (searchUrl: string) => void }) {
  const id = useId();
  const isPreset = SEARCH_ENGINES.some((engine) => engine.searchUrl === searchUrl);
  const [isCustom, setCustom] = useState(!isPreset);
  const [problem, setProblem] = useState<string | null>(null);

  return (
    <section class="setting">
      <h3>
        <label for={id}>Search with</label>
      </h3>
      <select
        id={id}
        class="field"
        value={isCustom ? CUSTOM : searchUrl}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          setCustom(chosen === CUSTOM);
          setProblem(null);
          if (chosen !== CUSTOM) onChange(chosen);
        }}
      >
        {SEARCH_ENGINES.map((engine) => (
          <option key={engine.searchUrl} value={engine.searchUrl}>
            {engine.name}
          </option>
        ))}
        <option value={CUSTOM}>Another one…</option>
      </select>
      {isCustom && (
        <>
          <input
            class="field"
            type="text"
            inputMode="url"
            aria-label="Search address, with %s where the words go"
            placeholder="https://search.example/?q=%s"
            autocapitalize="off"
            autocomplete="off"
            spellcheck={false}
            defaultValue={searchUrl}
            aria-invalid={problem !== null}
            aria-describedby={`${id}-hint`}
            onChange={(event) => {
              const entered = event.currentTarget.value.trim();
              const found = searchUrlProblem(entered);
              setProblem(found);
              if (found === null) onChange(entered);
            }}
          />
          <p class={problem ? "problem" : "fine"} id={`${id}-hint`} role={problem ? "alert" : undefined}>
            {problem ?? "%s stands for the words."}
          </p>
        </>
      )}
    </section>
  );
}
