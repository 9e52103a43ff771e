import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { BrowserState } from "../browser-state.ts";
import { shortHost } from "../parts/format.ts";

interface AddressFieldProps {
  readonly state: BrowserState;
  readonly inputRef: RefObject<HTMLInputElement | null>;
  readonly isEditing: boolean;
  /** What is typed, or null while that is nothing. */
  readonly draft: string | null;
  readonly onFocus: () => void;
  readonly onDraft: (draft: string) => void;
}

/**
 * Its value is always the page's real URL, except while somebody edits: then what they typed, at first an address that did
 * not open; unfocused, a short host is drawn over it. The
 * input is uncontrolled: a render must never touch what is being typed.
 */
export function AddressField({ state, inputRef, isEditing, draft, onFocus, onDraft }: AddressFieldProps) {
  const selectOnClick = useRef(false);

  useLayoutEffect(() => {
    const input = inputRef.current;
    if (!input || draft !== null) return;
    input.value = (isEditing ? state.mistyped : null) ?? state.url;
    if (isEditing && document.activeElement === input) input.select();
  }, [state.url, state.mistyped, state.phase, isEditing, draft]);

  return (
    <div class="address-field">
      <input
        ref={inputRef}
        type="text"
        aria-label="Address"
        placeholder="Search or address"
        inputMode="url"
        enterkeyhint="go"
        autocapitalize="off"
        autocorrect="off"
        autocomplete="off"
        spellcheck={false}
        onFocus={(event) => {
          // Taken back, or the window has it again: the caret stays where it was.
          if (!isEditing) {
            selectOnClick.current = true;
            event.currentTarget.select();
          }
          onFocus();
        }}
        onClick={(event) => {
          // The click that brought the focus puts the caret somewhere; select all once more, unless text was marked.
          const input = event.currentTarget;
          if (selectOnClick.current && input.selectionStart === input.selectionEnd) input.select();
          selectOnClick.current = false;
        }}
        onKeyDown={() => {
          selectOnClick.current = false;
        }}
        onInput={(event) => onDraft(event.currentTarget.value)}
      />
      {!isEditing && state.url !== "" && (
        <span class="address-host" aria-hidden="true">
          <bdi dir="ltr">{shortHost(state.url)}</bdi>
        </span>
      )}
    </div>
  );
}
