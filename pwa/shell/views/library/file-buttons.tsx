import { useRef, useState } from "preact/hooks";
import { t } from "../../app/language.ts";
import { dayOf } from "../../app/phone.ts";
import type { Library, LibraryPart } from "../../library/library.ts";
import type { Done } from "./undo-bar.tsx";

interface FileButtonsProps {
  readonly library: Library;
  readonly part: LibraryPart;
  /** Something was imported, which can be taken back. */
  readonly onDone: (done: Done) => void;
}

/** Files in the format that browsers hand on bookmarks in. */
export function FileButtons({ library, part, onDone }: FileButtonsProps) {
  const inputRef = useRef<HTMLInputElement>(null);
  const [why, setWhy] = useState<string | null>(null);
  const onFile = async (file: File) => {
    const result = await library.importFile(part, file);
    if ("why" in result) setWhy(result.why);
    else {
      setWhy(null);
      onDone(result);
    }
  };
  const onExport = async () => {
    const text = await library.exportFile(part);
    setWhy(text === null ? t("The list cannot be had now") : null);
    if (text !== null) save(text, part);
  };
  return (
    <div class="library-files">
      <div class="actions">
        <button type="button" class="button" onClick={() => inputRef.current?.click()}>
          {t("Import")}
        </button>
        <button type="button" class="button" onClick={() => void onExport()}>
          {t("Export")}
        </button>
      </div>
      <input
        ref={inputRef}
        type="file"
        accept=".html,.htm,text/html"
        aria-label={part === "history" ? t("File with history") : t("File with bookmarks")}
        hidden
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          // The same file may be chosen again.
          if (file) void onFile(file).finally(() => (currentTarget.value = ""));
        }}
      />
      {why !== null && (
        <p class="problem" role="alert">
          {why}
        </p>
      )}
      <p class="fine">{t("An HTML file, as other browsers write and read it.")}</p>
    </div>
  );
}

/** Milliseconds in which the browser has begun to save. */
const SAVE_TIME = 60_000;

function save(text: string, part: LibraryPart): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/html" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `ropeway-${part}-${dayOf(Date.now())}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), SAVE_TIME);
}
