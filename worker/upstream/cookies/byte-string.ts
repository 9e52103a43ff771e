/**
 * A field value as bytes, one character each, as `Headers` in browsers, Deno and Node want it. workerd decodes UTF-8
 * in values; what does not fit a byte is encoded again.
 */
export function toByteString(value: string): string {
  if (!/[^\0-\xff]/.test(value)) return value;
  return Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join("");
}
