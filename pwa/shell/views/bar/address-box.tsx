import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../../app/language.ts";
import type { BrowserActions, BrowserState } from "../../app/state.ts";
import type { LibraryViews } from "../library/library-chunk.tsx";
import { connectionOf, Host, Icon, SIGNS } from "../parts/icons.tsx";

interface AddressBoxProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly isEditing: boolean;
  /** Its suggestions come with it. */
  readonly library: LibraryViews | null;
  readonly onEditing: (isEditing: boolean) => void;
  readonly onSiteInfo: () => void;
}

/** The address of the page; while somebody types, what they may mean. */
export function AddressBox({ state, actions, isEditing, library, onEditing, onSiteInfo }: AddressBoxProps) {
  const { formRef, inputRef, draft, finish, onFocusOut, onKeyDown, onClear, onFocus, onDraft } = useAddressEditing(
    isEditing,
    (isBegun) => {
      if (isBegun && !isEditing) actions.app.prepareToGo();
      onEditing(isBegun);
    },
  );
  const go = (input: string) => {
    if (input.trim() === "") return;
    actions.tab.go(library?.meant(input) ?? input);
    finish();
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
        <LeadingButton state={state} isEditing={isEditing} onSiteInfo={onSiteInfo} />
        <AddressField {...{ state, inputRef, isEditing, draft, onFocus, onDraft }} />
        <TrailingButton state={state} actions={actions} isEditing={isEditing} onClear={onClear} />
      </div>
      {isEditing && (
        <button type="button" class="address-cancel" onClick={finish}>
          {t("Cancel")}
        </button>
      )}
      {isEditing &&
        library?.suggestions({ box: inputRef, typed: draft ?? "", searchUrl: state.settings.searchUrl, onChoose: go })}
    </form>
  );
}

interface LeadingButtonProps {
  readonly state: BrowserState;
  readonly isEditing: boolean;
  readonly onSiteInfo: () => void;
}

/** How the page came, which leads to more of it. */
function LeadingButton({ state, isEditing, onSiteInfo }: LeadingButtonProps) {
  if (isEditing || state.url === "") {
    return (
      <span class="address-sign">
        <Icon name="search" />
      </span>
    );
  }
  return (
    <button type="button" class="address-button address-site" aria-label={t("Site information")} onClick={onSiteInfo}>
      <Icon name={SIGNS[connectionOf(state)]} />
      <span class="link-dot" data-link={state.link.kind} />
    </button>
  );
}

interface TrailingButtonProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly isEditing: boolean;
  readonly onClear: () => void;
}

/** A button for the words that are typed, or for the page. */
function TrailingButton({ state, actions, isEditing, onClear }: TrailingButtonProps) {
  if (isEditing) {
    return (
      <button
        type="button"
        class="address-button"
        aria-label={t("Clear the address")}
        onMouseDown={keepFocus}
        onClick={onClear}
      >
        <Icon name="close" />
      </button>
    );
  }
  if (state.phase === "loading") {
    return (
      <button type="button" class="address-button" aria-label={t("Stop")} onClick={() => actions.tab.stop()}>
        <Icon name="close" />
      </button>
    );
  }
  if (state.url === "") return null;
  return (
    <button
      type="button"
      class="address-button address-reload"
      aria-label={t("Reload")}
      onClick={({ shiftKey }) => (shiftKey ? actions.tab.hardReload() : actions.tab.reload())}
    >
      <Icon name="reload" />
    </button>
  );
}

interface AddressFieldProps {
  readonly state: BrowserState;
  readonly inputRef: RefObject<HTMLInputElement | null>;
  readonly isEditing: boolean;
  /** The words that are typed, or null while there are none. */
  readonly draft: string | null;
  readonly onFocus: (event: FocusEvent) => void;
  readonly onDraft: (draft: string) => void;
}

/**
 * Its value is always the page's real URL, except while somebody edits: then what they typed, at first an address that did
 * not open; unfocused, a short host is drawn over it. The
 * input is uncontrolled: a render must never touch what is being typed.
 */
function AddressField({ state, inputRef, isEditing, draft, onFocus, onDraft }: AddressFieldProps) {
  const selectOnClick = useRef(false);

  useLayoutEffect(() => {
    const input = inputRef.current;
    if (!input || draft !== null) return;
    const value = (isEditing ? state.mistyped : null) ?? state.url;
    // A caret that was put somewhere stays there.
    if (input.value === value) return;
    input.value = value;
    if (isEditing && document.activeElement === input) input.select();
  }, [state.url, state.mistyped, state.phase, isEditing, draft]);

  return (
    <div class="address-field">
      <input
        ref={inputRef}
        type="text"
        dir="auto"
        aria-label={t("Address")}
        aria-autocomplete="list"
        placeholder={t("Search or address")}
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
          onFocus(event);
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
          <Host url={state.url} />
        </span>
      )}
    </div>
  );
}

/** Keeps the focus, and with it a phone's keyboard, in the address box while something near it is pressed. */
function keepFocus(event: MouseEvent): void {
  event.preventDefault();
}

/** From the moment that the address has the focus until it is left: what is typed, and what keys do. */
function useAddressEditing(isEditing: boolean, onEditing: (isEditing: boolean) => void) {
  const formRef = useRef<HTMLFormElement>(null);
  /** The element that had the focus before. */
  const cameFrom = useRef<HTMLElement | null>(null);
  const inputRef = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState<string | null>(null);
  const leave = () => {
    setDraft(null);
    onEditing(false);
  };
  const { mayLeave, onFocusOut } = useKeptFocus(formRef, inputRef, isEditing, leave);
  const finish = () => {
    mayLeave.current = true;
    // First, since a focused button that a render removes would lose the focus in the middle of that render.
    const focused = document.activeElement;
    if (focused instanceof HTMLElement && formRef.current?.contains(focused)) focused.blur();
    leave();
  };
  const onFocus = ({ relatedTarget }: FocusEvent) => {
    mayLeave.current = false;
    if (isEditing) return;
    cameFrom.current = relatedTarget instanceof HTMLElement ? relatedTarget : null;
    onEditing(true);
  };
  const onDraft = (typed: string) => {
    setDraft(typed);
    onEditing(true);
  };
  const onClear = () => {
    if (inputRef.current === null) return;
    inputRef.current.value = "";
    setDraft("");
    inputRef.current.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    mayLeave.current = event.key === "Tab";
    if (event.key === "Tab" && !event.shiftKey && isLastStop(event.target, formRef.current)) {
      // The page, which may come next, must not be inert any more.
      finish();
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      if (draft !== null) return setDraft(null);
      finish();
      // Once the page, if it was that, is not inert any more.
      setTimeout(() => cameFrom.current?.focus());
    }
  };
  return { formRef, inputRef, draft, finish, onFocus, onFocusOut, onDraft, onClear, onKeyDown };
}

function isLastStop(target: EventTarget | null, form: HTMLFormElement | null): boolean {
  return [...(form?.querySelectorAll("input, button") ?? [])].at(-1) === target;
}

/**
 * Keeps the focus in a form until the person, or the app, moves it away. Nothing else but a script of the page does.
 *
 * @param leave the focus goes elsewhere.
 */
function useKeptFocus(
  form: RefObject<HTMLFormElement | null>,
  input: RefObject<HTMLInputElement | null>,
  isEditing: boolean,
  leave: () => void,
) {
  /** The person, or the app, is about to move the focus. */
  const mayLeave = useRef(false);
  const isInForm = (target: EventTarget | null) => target instanceof Node && form.current?.contains(target) === true;

  useEffect(() => {
    const onPointerDown = ({ target }: PointerEvent) => {
      mayLeave.current = !isInForm(target);
    };
    window.addEventListener("pointerdown", onPointerDown, { capture: true });
    return () => window.removeEventListener("pointerdown", onPointerDown, { capture: true });
  }, []);

  const onFocusOut = ({ relatedTarget: next }: FocusEvent) => {
    // A button that kept the focus after its click gives it up to anything.
    if (!isEditing) return;
    // Without the focus the whole window was left: what is typed stays for when the person comes back.
    if (isInForm(next) || !document.hasFocus()) return;
    if (next !== null || mayLeave.current) return leave();
    // Taken back after the browser has moved it. A page can take a key that is pressed meanwhile: neither inert nor a
    // frame that is not displayed keeps its scripts from window.focus() (Chromium 156).
    setTimeout(() => {
      if (mayLeave.current) leave();
      else input.current?.focus();
    });
  };
  return { mayLeave, onFocusOut };
}
