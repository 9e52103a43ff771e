/** `Content-Disposition` (RFC 6266) of what the browser is to save. */

/**
 * The field with the disposition type `attachment`. A file name that the origin gives counts, whatever its type, then
 * `name` (HTML section 4.6.5); without both the browser takes one from the address.
 */
export function asAttachment(field: string, name = ""): string {
  const [parameters = ""] = /;.*$/s.exec(field) ?? [];
  if (/;\s*filename\*?\s*=/i.test(parameters)) return `attachment${parameters}`;
  return name === "" ? "attachment" : `attachment; filename*=UTF-8''${extendedValue(name)}`;
}

/** RFC 8187 section 3.2.1. */
function extendedValue(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
}
