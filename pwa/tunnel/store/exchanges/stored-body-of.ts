import { DICTIONARY_LEAST, DICTIONARY_MOST } from "../../../../shared/coding/link-coding.ts";
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, StoredBody } from "../../../../shared/http/heads.ts";
import {
  bodyName,
  HIDDEN_ETAG,
  HIDDEN_LAST_MODIFIED,
  NAMED_BODY_LEAST,
  NAMED_BODY_MOST,
} from "../../../../shared/http/phone-fields.ts";
import type { StoredDictionaries } from "../dictionary/stored-dictionaries.ts";
import { isBasic } from "./stored-exchange.ts";
import type { Variant } from "./variants-of.ts";

type Dictionaries = Pick<StoredDictionaries, "isOffered" | "decoderFor">;

/** In this order: an origin heeds the date only where there is no tag (RFC 9110 section 13.2.2). */
const VALIDATORS = [HIDDEN_ETAG, "etag", HIDDEN_LAST_MODIFIED, "last-modified"];

/**
 * What the edge is told of the body that is stored for a request, so that it need not send it: its name, and of another
 * origin what that knows it by. Null where that is not worth its bytes, and where a part is asked for.
 *
 * @param dictionaries undo what is coded against the body; null where there are none.
 */
export function storedBodyOf(
  head: RequestHead,
  variant: Variant,
  dictionaries: Dictionaries | null,
): StoredBody | null {
  const { entry } = variant;
  const { meta, body } = entry;
  if (meta.status !== 200 || head.headers.some(([name]) => name === "range")) return null;
  const validator = isBasic(head) ? null : validatorOf(meta.headers);
  const name = {
    ...bodyName(body.hash, body.size),
    ...(dictionaries === null ? {} : { decode: dictionaries.decoderFor(entry) }),
  };
  if (validator !== null) return { ...name, validator };
  if (body.size < NAMED_BODY_LEAST || body.size > NAMED_BODY_MOST) return null;
  if (meta.wasOther !== true) return name;
  // The edge has to read all of a body to know it by its name: in vain if it is another each time. But that may be like
  // this one.
  return dictionaryOf(variant, dictionaries);
}

/** What the edge is told of a body that the answer may be like, though it is another. Null where that is of no use. */
export function dictionaryOf({ entry }: Variant, dictionaries: Dictionaries | null): StoredBody | null {
  const { hash, size } = entry.body;
  if (dictionaries?.isOffered !== true || size < DICTIONARY_LEAST || size > DICTIONARY_MOST) return null;
  return { ...bodyName(hash, size), size: 0, decode: dictionaries.decoderFor(entry) };
}

function validatorOf(headers: HeaderList): string | null {
  for (const name of VALIDATORS) {
    const value = headerValue(headers, name);
    if (value !== null) return value;
  }
  return null;
}
