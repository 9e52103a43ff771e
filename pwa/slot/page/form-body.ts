/** Request bodies of forms, as browsers build them. HTML section 4.10.22. */

export type FormEncoding = "application/x-www-form-urlencoded" | "multipart/form-data" | "text/plain";

export interface FormBody {
  readonly contentType: string;
  readonly body: ArrayBuffer;
}

type Entry = [name: string, value: FormDataEntryValue];

/** `enctype` and `formenctype`: unknown values mean urlencoded. */
export function parseEncoding(text: string): FormEncoding {
  const lower = text.toLowerCase();
  return lower === "multipart/form-data" || lower === "text/plain" ? lower : "application/x-www-form-urlencoded";
}

/** Files count by their names; line ends become CR LF (section 4.10.22.7). */
function textEntries(entries: Iterable<Entry>): [name: string, value: string][] {
  const normalize = (text: string) => text.replace(/\r\n?|\n/g, "\r\n");
  return [...entries].map(([name, value]) => [
    normalize(name),
    normalize(typeof value === "string" ? value : value.name),
  ]);
}

export function encodeQuery(entries: Iterable<Entry>): string {
  return new URLSearchParams(textEntries(entries)).toString();
}

/** The action with its query replaced by the entries (section 4.10.22.3, "mutate action URL"). */
export function withQuery(action: string, entries: Iterable<Entry>): string {
  const url = new URL(action);
  url.search = encodeQuery(entries);
  return url.href;
}

export async function encodeForm(data: FormData, encoding: FormEncoding): Promise<FormBody> {
  if (encoding === "multipart/form-data") {
    const response = new Response(data);
    const contentType = response.headers.get("content-type") ?? encoding;
    return { contentType, body: await response.arrayBuffer() };
  }
  const text =
    encoding === "text/plain"
      ? textEntries(data)
          .map(([name, value]) => `${name}=${value}\r\n`)
          .join("")
      : encodeQuery(data);
  return { contentType: encoding, body: new TextEncoder().encode(text).buffer };
}
