import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { BrowserActions, BrowserState } from "../browser-state.ts";
import { connectionOf, SIGNS } from "../parts/connection.ts";
import { shortHost } from "../parts/format.ts";
import { Icon } from "../parts/icons.tsx";
import { keepFocus, moveFocus, SuggestionList } from "./suggestion-list.tsx";
import { suggest } from "./suggestions.ts";

interface AddressBoxProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly isEditing: boolean;
  readonly onEditing: (isEditing: boolean) => void;
  readonly onSiteInfo: () => void;
}

/**
 * The address box. Its value is always the page's real URL, except while somebody types; unfocused, a short host is
 * drawn over it. The input is uncontrolled: a render must never touch what is being typed.
 */
export function AddressBox({ state, actions, isEditing, onEditing, onSiteInfo }: AddressBoxProps) {
  const formRef = useRef<HTMLFormElement>(null);
  const inputRef = useRef<HTMLInputElement>(null);
  const selectOnClick = useRef(false);
  /** The person, or the app, is about to move the focus. Nothing else but a script of the page does. */
  const mayLeave = useRef(false);
  const [draft, setDraft] = useState<string | null>(null);

  useLayoutEffect(() => {
    const input = inputRef.current;
    if (!input || draft !== null) return;
    input.value = state.url;
    if (isEditing && document.activeElement === input) input.select();
  }, [state.url, state.phase, isEditing, draft]);

  useEffect(() => {
    const onPointerDown = ({ target }: PointerEvent) => {
      mayLeave.current = !(target instanceof Node && formRef.current?.contains(target));
    };
    window.addEventListener("pointerdown", onPointerDown, { capture: true });
    return () => window.removeEventListener("pointerdown", onPointerDown, { capture: true });
  }, []);

  const leave = () => {
    setDraft(null);
    onEditing(false);
  };
  const finish = () => {
    mayLeave.current = true;
    // First, since a focused button that a render removes would lose the focus in the middle of that render.
    const focused = document.activeElement;
    if (focused instanceof HTMLElement && formRef.current?.contains(focused)) focused.blur();
    leave();
  };
  const go = (input: string) => {
    if (input.trim() === "") return;
    actions.tab.go(input);
    finish();
  };
  const onFocusOut = (event: FocusEvent) => {
    // A button that kept the focus after its click gives it up to anything.
    if (!isEditing) return;
    const next = event.relatedTarget;
    // Without the focus the whole window was left: what is typed stays for when the person comes back.
    if ((next instanceof Node && formRef.current?.contains(next)) || !document.hasFocus()) return;
    if (next !== null || mayLeave.current) return leave();
    // Taken back after the browser has moved it. A page can take a key that is pressed meanwhile: neither inert nor a
    // frame that is not displayed keeps its scripts from window.focus() (Chromium 156).
    setTimeout(() => {
      if (mayLeave.current) leave();
      else inputRef.current?.focus();
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    selectOnClick.current = false;
    mayLeave.current = event.key === "Tab";
    if (event.key === "Tab" && !event.shiftKey && isLastStop(event.target, formRef.current)) {
      // The page, which may come next, must not be inert any more.
      finish();
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      if (draft === null) finish();
      else setDraft(null);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      moveFocus(event, formRef.current);
    }
  };

  return (
    <form
      class="address"
      ref={formRef}
      onSubmit={(event) => {
        event.preventDefault();
        go(inputRef.current?.value ?? "");
      }}
      onFocusOut={onFocusOut}
      onKeyDown={onKeyDown}
    >
      <div class="address-pill">
        {isEditing || state.url === "" ? (
          <span class="address-sign">
            <Icon name="search" />
          </span>
        ) : (
          <button type="button" class="address-button" aria-label="Site information" onClick={onSiteInfo}>
            <Icon name={SIGNS[connectionOf(state)]} />
            <span class="link-dot" data-link={state.link.kind} />
          </button>
        )}
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
              mayLeave.current = false;
              // Taken back, or the window has it again: the caret stays where it was.
              if (isEditing) return;
              selectOnClick.current = true;
              event.currentTarget.select();
              actions.app.prepareToGo();
              onEditing(true);
            }}
            onClick={(event) => {
              // The click that brought the focus puts the caret somewhere; select all once more, unless text was marked.
              const input = event.currentTarget;
              if (selectOnClick.current && input.selectionStart === input.selectionEnd) input.select();
              selectOnClick.current = false;
            }}
            onInput={(event) => {
              setDraft(event.currentTarget.value);
              onEditing(true);
            }}
          />
          {!isEditing && state.url !== "" && (
            <span class="address-host" aria-hidden="true">
              <bdi dir="ltr">{shortHost(state.url)}</bdi>
            </span>
          )}
        </div>
        <TrailingButton
          state={state}
          actions={actions}
          isEditing={isEditing}
          onClear={() => {
            const input = inputRef.current;
            if (!input) return;
            input.value = "";
            setDraft("");
            input.focus();
          }}
        />
      </div>
      {isEditing && (
        <button type="button" class="address-cancel" onClick={finish}>
          Cancel
        </button>
      )}
      {isEditing && <SuggestionList rows={suggest(draft ?? "", state)} onChoose={go} />}
    </form>
  );
}

function isLastStop(target: EventTarget | null, form: HTMLFormElement | null): boolean {
  return [...(form?.querySelectorAll("input, button") ?? [])].at(-1) === target;
}

interface TrailingButtonProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly isEditing: boolean;
  readonly onClear: () => void;
}

function TrailingButton({ state, actions, isEditing, onClear }: TrailingButtonProps) {
  if (isEditing) {
    return (
      <button
        type="button"
        class="address-button"
        aria-label="Clear the address"
        onMouseDown={keepFocus}
        onClick={onClear}
      >
        <Icon name="close" />
      </button>
    );
  }
  if (state.phase === "loading") {
    return (
      <button type="button" class="address-button" aria-label="Stop" onClick={() => actions.tab.stop()}>
        <Icon name="close" />
      </button>
    );
  }
  if (state.url === "") return null;
  return (
    <button type="button" class="address-button" aria-label="Reload" onClick={() => actions.tab.reload()}>
      <Icon name="reload" />
    </button>
  );
}
