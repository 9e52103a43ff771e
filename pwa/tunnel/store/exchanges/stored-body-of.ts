import type { OpenDecoder } from "../../../../shared/coding/link-coding.ts";
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, StoredBody } from "../../../../shared/http/heads.ts";
import { HIDDEN_ETAG, HIDDEN_LAST_MODIFIED } from "../../../../shared/http/store-notes.ts";
import { bodyName, NAMED_BODY_LEAST, NAMED_BODY_MOST } from "../../../../shared/http/stored-body.ts";
import { isBasic } from "./stored-exchange.ts";
import type { Variant } from "./variants-of.ts";

/** In this order: an origin heeds the date only where there is no tag (RFC 9110 section 13.2.2). */
const VALIDATORS = [HIDDEN_ETAG, "etag", HIDDEN_LAST_MODIFIED, "last-modified"];

/**
 * What the edge is told of the body that is stored for a request, so that it need not send it: its name, and of another
 * origin what that knows it by. Null where that is not worth its bytes, and where a part is asked for.
 *
 * @param decode undoes what is coded against the body; undefined where the edge does not do that.
 */
export function storedBodyOf(
  head: RequestHead,
  { entry: { meta, body } }: Variant,
  decode: OpenDecoder | undefined,
): StoredBody | null {
  if (meta.status !== 200 || head.headers.some(([name]) => name === "range")) return null;
  const validator = isBasic(head) ? null : validatorOf(meta.headers);
  const name = { ...bodyName(body.hash, body.size), ...(decode === undefined ? {} : { decode }) };
  if (validator !== null) return { ...name, validator };
  if (body.size < NAMED_BODY_LEAST || body.size > NAMED_BODY_MOST) return null;
  if (meta.wasOther !== true) return name;
  // To know a body by its name the edge has to have all of it: in vain where it is another each time. It may be like it.
  return decode === undefined ? null : { ...name, size: 0 };
}

function validatorOf(headers: HeaderList): string | null {
  for (const name of VALIDATORS) {
    const value = headerValue(headers, name);
    if (value !== null) return value;
  }
  return null;
}
