import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/icons.tsx";
import { heightWithoutSliver } from "./sheet-height.ts";

interface SheetProps {
  readonly title: string;
  /** Shown in place of the plain title; the title stays the dialog's name. */
  readonly header?: ComponentChildren;
  /** `menu` hangs below the menu button on a wide screen. */
  readonly kind?: "card" | "menu";
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog: a sheet from the bottom on a phone, a card on a wide screen. Unmounting it gives the focus back. */
export function Sheet({ title, header, kind = "card", onClose, children }: SheetProps) {
  const dialogRef = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useLayoutEffect(() => {
    const dialog = dialogRef.current;
    if (!dialog) return;
    // The close event comes a task later, when another sheet may be open already: only this one's own counts.
    let isMounted = true;
    const closed = () => {
      if (isMounted) onClose();
    };
    dialog.addEventListener("close", closed);
    dialog.showModal();
    const { top, height } = dialog.getBoundingClientRect();
    const rows = [...dialog.querySelectorAll("button, select, input, summary, label")].map((control) => {
      const box = control.getBoundingClientRect();
      return { top: box.top - top, height: box.height };
    });
    const lower = heightWithoutSliver(height, rows);
    if (lower !== null) dialog.style.setProperty("--uncut-height", `${lower}px`);
    return () => {
      isMounted = false;
      dialog.removeEventListener("close", closed);
      dialog.close();
    };
  }, []);

  const closeOnBackdrop = (event: MouseEvent) => {
    if (event.target === dialogRef.current) dialogRef.current?.close();
  };

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the platform closes a modal dialog with Escape itself
    <dialog class={`sheet sheet-${kind}`} ref={dialogRef} aria-labelledby={titleId} onClick={closeOnBackdrop}>
      <div class="sheet-body">
        <header class="sheet-header">
          <h2 id={titleId} class={header ? "visually-hidden" : ""}>
            {title}
          </h2>
          {header}
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dialogRef.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
