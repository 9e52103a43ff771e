import { useRef, useState } from "preact/hooks";
import { useKeptFocus } from "./kept-focus.ts";
import { moveFocus } from "./suggestion-list.tsx";

/** From the moment that the address has the focus until it is left: what is typed, and what keys do. */
export function useAddressEditing(isEditing: boolean, onEditing: (isEditing: boolean) => void) {
  const formRef = useRef<HTMLFormElement>(null);
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
  const onFocus = () => {
    mayLeave.current = false;
    if (!isEditing) onEditing(true);
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
      if (draft === null) finish();
      else setDraft(null);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      moveFocus(event, formRef.current);
    }
  };
  return { formRef, inputRef, draft, finish, onFocus, onFocusOut, onDraft, onClear, onKeyDown };
}

function isLastStop(target: EventTarget | null, form: HTMLFormElement | null): boolean {
  return [...(form?.querySelectorAll("input, button") ?? [])].at(-1) === target;
}
