/**
 * Fields of the document that the person has changed, as browsers keep them for a page that comes again: within one life of
 * the app the browser does that.
 */
import { type KeptField, MOST_TYPED } from "../../messages/page-messages.ts";

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** Those that no person types or chooses in. */
const OTHER = /^(?:hidden|file|submit|image|button|reset)$/;
/** Words in the names of fields that nobody wants written down. */
const SECRET = /\boff\b|pass|pwd|\bpin\b|otp|one-time|cc-|card|cvc|cvv|ssn|secret/i;

const changed = new WeakSet<Element>();
/** Some pages show a password as text. */
const secret = new WeakSet<Element>();
let hasChanged = false;

/** @param onChange the person has changed a field. */
export function watchFields(onChange: () => void): void {
  const hear = ({ target }: Event) => {
    note(target as Field);
    onChange();
  };
  document.addEventListener("input", hear, { capture: true, passive: true });
}

function note(field: Field): void {
  hasChanged = true;
  changed.add(field);
  if (field.type === "password") secret.add(field);
}

/** @returns undefined where the person has changed none. */
export function typedFields(): readonly KeptField[] | undefined {
  if (!hasChanged) return undefined;
  let left = MOST_TYPED;
  return fields().flatMap((field) => {
    if (!changed.has(field) || !mayBeKept(field)) return [];
    const { name } = field;
    const value = read(field);
    left -= name.length + value.length;
    return left < 0 ? [] : [{ at: fields(name).indexOf(field), name, value }];
  });
}

/** Puts into them again what they had, once they are there; not where the person was faster. */
export function fillIn(kept: readonly KeptField[]): void {
  const fill = () => {
    for (const { at, name, value } of kept) {
      const field = fields(name)[at];
      if (field === undefined || changed.has(field) || !mayBeKept(field)) continue;
      note(field);
      write(field, value);
      // Scripts keep what they know of a field by these.
      for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    }
  };
  if (document.readyState !== "loading") fill();
  for (const type of ["DOMContentLoaded", "load"]) window.addEventListener(type, fill, { once: true });
}

function fields(name?: string): Field[] {
  const all = [...document.querySelectorAll<Field>("input,select,textarea")];
  return name === undefined ? all : all.filter((field) => field.name === name);
}

function mayBeKept(field: Field): boolean {
  const { type, name, id, autocomplete, form } = field;
  return (
    !OTHER.test(type) &&
    !secret.has(field) &&
    !SECRET.test([type, name, id, autocomplete, form?.autocomplete].join(" "))
  );
}

const isChosen = ({ type }: Field): boolean => /^(?:checkbox|radio)$/.test(type);

function read(field: Field): string {
  if ("options" in field) return [...field.options].flatMap(({ selected }, at) => (selected ? [at] : [])).join();
  return isChosen(field) ? String((field as HTMLInputElement).checked) : field.value;
}

function write(field: Field, value: string): void {
  if ("options" in field) {
    const chosen = value.split(",");
    for (const [at, option] of [...field.options].entries()) option.selected = chosen.includes(String(at));
    return;
  }
  // Past a property that a library has put onto the element to hear of changes by scripts.
  const [name, given] = isChosen(field) ? ["checked", value === "true"] : ["value", value];
  Reflect.set(Object.getPrototypeOf(field), name as string, given, field);
}
