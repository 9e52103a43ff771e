/** Field values of runtimes that hand out their bytes, one character each (Deno, Node). */

/** What they say in UTF-8; the text itself where that is no UTF-8, or has characters that are no bytes. */
export function decodeByteString(text: string): string {
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text;
  try {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return text;
  }
}
