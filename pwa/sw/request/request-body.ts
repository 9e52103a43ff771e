/** A request's body on its way to the tunnel. */
import { replaceSlotOrigin, type SlotIdentity } from "../../slot/slot-url.ts";

/** Up to here a body travels as one message, and text in it is looked through for slot URLs. */
const SMALL_BODY = 1024 * 1024;
const TEXT_TYPE = /^(?:text\/|application\/(?:json|x-www-form-urlencoded|[\w.-]+\+json))/i;

export interface OutgoingBody {
  readonly content: ArrayBuffer | ReadableStream<Uint8Array> | null;
  /** Bytes, for `content-length`: many servers take no upload without. */
  readonly length: number | null;
}

/**
 * Reads the body into the browser's blob storage first, which spills to disk: its length must be known. Where that storage
 * cannot be read, the body is held in memory.
 */
export async function outgoingBody(request: Request, slot: SlotIdentity): Promise<OutgoingBody> {
  if (request.method === "GET" || request.method === "HEAD") return { content: null, length: null };
  const whole = (await areBlobsReadable()) ? await request.blob() : await request.arrayBuffer();
  const size = whole instanceof ArrayBuffer ? whole.byteLength : whole.size;
  if (size === 0) return { content: null, length: request.method === "POST" || request.method === "PUT" ? 0 : null };
  if (size > SMALL_BODY) return { content: new Response(whole).body, length: size };
  const content = whole instanceof ArrayBuffer ? whole : await whole.arrayBuffer();
  const type = request.headers.get("content-type") ?? "";
  const rewritten = TEXT_TYPE.test(type) ? withRealUrls(content, slot) : content;
  return { content: rewritten, length: rewritten.byteLength };
}

let blobsAreReadable: Promise<boolean> | null = null;

/** In WebKit, a service worker of a frame on another host than the window's cannot read any (WebKitGTK 2.50). */
function areBlobsReadable(): Promise<boolean> {
  blobsAreReadable ??= new Blob(["?"]).arrayBuffer().then(
    () => true,
    () => false,
  );
  return blobsAreReadable;
}

/** Text that mentions the slot (a script sent `location.href`) mentions the real origin instead. */
function withRealUrls(content: ArrayBuffer, slot: SlotIdentity): ArrayBuffer {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return content;
  }
  const replaced = replaceSlotOrigin(text, slot);
  return replaced === text ? content : new TextEncoder().encode(replaced).buffer;
}
