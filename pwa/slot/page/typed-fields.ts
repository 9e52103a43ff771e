/**
 * Fields of the document that the person has changed, as browsers keep them for a page that comes again: within one life of
 * the app the browser does that.
 */
import { type KeptField, MOST_TYPED } from "../../messages/page-messages.ts";

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** Those that no person types or chooses in. */
const OTHER = /^(?:hidden|file|submit|image|button|reset|password)$/;
/** Words in the names of fields that nobody wants written down, and of `autocomplete`. */
const SECRET =
  /\b(?:off|pass|pin|otp|tan|code|token|card)\b|\bcc|passw|passc|passp(?!ort)|pwd|one-time|pincode|card ?num|cvc|cvv|csc|ssn|secret/i;

const changed = new WeakSet<Element>();
/** Some pages show a password as text. */
const secret = new WeakSet<Element>();
let hasChanged = false;
/** The document was filled in. A later step of the history to it is the page's own. */
let isFilled = false;

/** @param onChange the person, or the page, has changed a field. */
export function watchFields(onChange: () => void): void {
  document.addEventListener("input", hear, { capture: true, passive: true });
  document.addEventListener("reset", onChange, { capture: true, passive: true });

  function hear({ target }: Event): void {
    note(target as Field);
    onChange();
  }
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
  return fields().flatMap(({ field, name, at }) => {
    if (!changed.has(field) || !mayBeKept(field)) return [];
    const value = read(field);
    const size = name.length + (value?.length ?? 0);
    if (value === null || size > left) return [];
    left -= size;
    return [{ at, name, value }];
  });
}

/** Gives each field its kept value once the field is there, unless the person has changed it. */
export function fillIn(kept: readonly KeptField[]): void {
  if (isFilled || kept.length === 0) return;
  isFilled = true;
  const fill = () => {
    const all = new Map(fields().map(({ field, name, at }) => [`${at} ${name}`, field]));
    for (const { at, name, value } of kept) {
      const field = all.get(`${at} ${name}`);
      if (field === undefined || changed.has(field) || !mayBeKept(field) || read(field) === value) continue;
      if (write(field, value)) note(field);
    }
  };
  if (document.readyState !== "loading") fill();
  for (const type of ["DOMContentLoaded", "load"]) window.addEventListener(type, fill, { once: true });
}

/** Each with its name and place as of `KeptField`. */
function fields(): { readonly field: Field; readonly name: string; readonly at: number }[] {
  const counts = new Map<string, number>();
  return [...document.querySelectorAll<Field>("input,select,textarea")].map((field) => {
    const name = `${field.type} ${field.name || field.id}`;
    const at = counts.get(name) ?? 0;
    counts.set(name, at + 1);
    return { field, name, at };
  });
}

const { getAttribute } = Element.prototype;

function mayBeKept(field: Field): boolean {
  // A field of the form may have the name of one of its properties.
  const ofForm = field.form && getAttribute.call(field.form, "autocomplete");
  const words = `${field.name} ${field.id}`.replace(/([a-z])(?=[A-Z])|_/g, "$1 ");
  return !OTHER.test(field.type) && !secret.has(field) && !SECRET.test(`${words} ${field.autocomplete} ${ofForm}`);
}

const isBox = ({ type }: Field): boolean => type === "checkbox" || type === "radio";

/** @returns null where it needs no keeping: another box of its group is checked. */
function read(field: Field): string | null {
  if ("options" in field) return [...field.selectedOptions].map(({ value }) => value).join("\n");
  if (!isBox(field)) return field.value;
  const { type, value, checked } = field as HTMLInputElement;
  return type === "radio" && !checked ? null : `${checked} ${value}`;
}

/** @returns whether it fits: the field may be another one now. */
function write(field: Field, kept: string): boolean {
  if ("options" in field) {
    const values = kept.split("\n");
    const chosen = [...field.options].filter(({ value }) => values.includes(value));
    for (const option of chosen.length === 0 ? [] : field.options) option.selected = chosen.includes(option);
    return chosen.length > 0;
  }
  // Past a property that a library has put onto the element to hear of changes by scripts.
  const set = (name: string, value: unknown) => Reflect.set(Object.getPrototypeOf(field), name, value, field);
  if (isBox(field)) {
    const checked = kept === `true ${field.value}`;
    return (checked || kept === `false ${field.value}`) && set("checked", checked);
  }
  set("value", kept);
  return field.dispatchEvent(new Event("input", { bubbles: true }));
}
