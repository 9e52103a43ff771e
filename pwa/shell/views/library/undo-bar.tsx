import { useEffect, useRef } from "preact/hooks";
import { t } from "../../app/language.ts";
import type { Undo } from "../../library/library.ts";

export interface Done {
  readonly text: string;
  /** Null where nothing was done. */
  readonly undo: Undo | null;
}

/** @param text for where it was done. */
export function doneOf(text: string, undo: Undo | null): Done {
  return { text: undo === null ? t("Nothing has changed: this phone could not write it down.") : text, undo };
}

/** Says what was done, and takes it back. */
export function UndoBar({ done, onClose }: { readonly done: Done | null; readonly onClose: () => void }) {
  const undoRef = useRef<HTMLButtonElement>(null);
  // The button that was pressed is gone with its row, and the focus with it.
  useEffect(() => undoRef.current?.focus(), [done]);
  return (
    <div class="undo-bar" role="status">
      {done && (
        <>
          <span>{done.text}</span>
          {done.undo !== null && (
            <button
              type="button"
              class="text-button"
              ref={undoRef}
              onClick={() => {
                done.undo?.();
                onClose();
              }}
            >
              {t("Undo")}
            </button>
          )}
        </>
      )}
    </div>
  );
}
