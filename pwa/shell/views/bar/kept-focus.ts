import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * Keeps the focus in a form until the person, or the app, moves it away. Nothing else but a script of the page does.
 *
 * @param leave the focus goes elsewhere.
 */
export function useKeptFocus(
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
