import type { HeaderList } from "../../shared/http/heads.ts";

/** The encodings of forms (HTML section 4.10.22); a boundary as RFC 2046 section 5.1.1 has it, in quotes or not. */
const FORM_TYPE =
  /^(?:application\/x-www-form-urlencoded|text\/plain|multipart\/form-data; ?boundary="?[\w'()+,./:=?-]{1,70}"?)(?:; ?charset=[\w-]{1,40})?$/i;

/**
 * What of a page's fields goes along with a form to another origin: another field, or another type, would be a request
 * across sites that no browser sends without asking the other site first.
 */
export function formFields(fields: unknown): HeaderList {
  for (const field of Array.isArray(fields) ? fields : []) {
    const [name, value] = (Array.isArray(field) ? field : []) as readonly unknown[];
    if (name === "content-type" && typeof value === "string" && FORM_TYPE.test(value)) return [["content-type", value]];
  }
  return [];
}
