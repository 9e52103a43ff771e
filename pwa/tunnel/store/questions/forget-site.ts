import { ErrorCode } from "../../../../shared/errors.ts";
import { EdgeRequest } from "../../../../shared/subprotocol.ts";
import { edgeRequest } from "../../requests/edge-request.ts";
import { readWhole } from "../../requests/read-whole.ts";
import type { Ask } from "../../requests/response-source.ts";

/**
 * Forgets what a site has left, on the phone and at the edge: the store sees the message before the edge does.
 *
 * @param site as `siteName` has it.
 * @param origin of the app.
 * @returns "", or why something is still there.
 */
export async function forgetSite(ask: Ask, site: string, origin: string): Promise<string> {
  const message = {
    method: "DELETE",
    url: EdgeRequest.SITE,
    headers: [["host-name", site]] as const,
    origin: null,
    topLevelOrigin: origin,
  };
  try {
    const { response } = await readWhole(ask, edgeRequest(message), 0);
    return response.status === 204 ? "" : `Cannot forget ${site}: the edge answers ${response.status}`;
  } catch (error) {
    // Errors of the tunnel's script are of another class.
    const { code = null, message = "try again" } = error as Partial<Record<"code" | "message", unknown>>;
    if (code !== ErrorCode.PROTOCOL_ERROR) return `Cannot forget all of ${site}: ${message}`;
    return `Cannot forget the cookies of ${site}: your edge is of an older release. It can clear those of all sites`;
  }
}
