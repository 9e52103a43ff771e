import type { ServerResponse } from "../../shared/http/exchange.ts";
import type { CodedBody } from "./body/coded-body.ts";

/** A response with its body decoded. */
export interface UpstreamResponse extends ServerResponse {
  /** The same body as its origin coded it, where that can be passed on. Whoever does not drops it. */
  readonly coded?: CodedBody | null;
  /** Its origin found it worth a coding, which is undone. */
  readonly cameCoded?: boolean;
}
