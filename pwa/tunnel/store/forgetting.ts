import { headerValue } from "../../../shared/http/head-fields.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { siteName } from "../../messages/site-name.ts";

/** Whether a message to the edge has the phone forget something first. */
export function isForgetting({ url }: Pick<RequestHead, "url">): boolean {
  return url === EdgeRequest.SITE_DATA || url === EdgeRequest.SITE;
}

/**
 * What a message to the edge has the phone forget first.
 *
 * @returns whether a partition of the store goes; null where the message is another.
 */
export function forgottenBy({
  url,
  headers,
}: Pick<RequestHead, "url" | "headers">): ((partition: string) => boolean) | null {
  if (url === EdgeRequest.SITE_DATA) return () => true;
  if (url !== EdgeRequest.SITE) return null;
  const site = headerValue(headers, "host-name");
  // As the page's own, or as a frame's in the pages of others.
  return (partition) => partition.split(" ").some((origin) => siteName(origin) === site);
}
