/**
 * Marks that an edge sets around a script's reads of `location` and `top`, so that the page sees the real site there
 * (PROTOCOL.md section 5.12). They are unambiguous: whoever wants the bytes that the origin sent takes them out again.
 */

import { byteStringToBytes, bytesToByteString } from "../base-encodings.ts";

/** The function that a read passes through. A text that has its name comes as it is. */
export const READ_HOOK = "ropeway$";

/** As a script has them: `open` before what is read, and a closing one after it. */
export const READ_MARKS = {
  /** Before the first statement: where no page script has set the hook, values pass through as they are. */
  prelude: `var ${READ_HOOK}=globalThis.${READ_HOOK}||(v=>v);`,
  open: `${READ_HOOK}(`,
  close: `,${READ_HOOK})`,
  /** After a window or document whose members are taken apart. */
  closeParts: `,${READ_HOOK},1)`,
  /** After what a message is posted to. */
  closePosted: `,${READ_HOOK},2)`,
  /** In a property that was shorthand: its name and a colon come before `open`. */
  closeShorthand: `,${READ_HOOK},0)`,
} as const;

const ANY_MARK =
  /var ropeway\$=globalThis\.ropeway\$\|\|\(v=>v\);|(?:location|top):ropeway\$\((location|top),ropeway\$,0\)|ropeway\$\(|,ropeway\$(?:,[12])?\)/g;
/** The text without the marks. */
export const withoutReadMarks = (text: string): string => text.replace(ANY_MARK, "$1");

/** The bytes of a body without the marks, once all of them are there: few ask for a script or a document to read it. */
export function unmarkedBody(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const bytes = new Uint8Array(await new Response(body).arrayBuffer());
      controller.enqueue(byteStringToBytes(withoutReadMarks(bytesToByteString(bytes))));
      controller.close();
    },
  });
}
