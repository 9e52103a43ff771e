/** RFC 9218 priorities by destination, in Chromium's order by resource type. Urgency 3, the default, costs no byte. */
import type { Destination } from "../../../shared/http/heads.ts";
import type { Priority } from "../../../shared/wire/frame.ts";

const FIRST: Priority = { urgency: 0, incremental: true };
const RENDER_BLOCKING: Priority = { urgency: 1, incremental: false };
const SCRIPT: Priority = { urgency: 2, incremental: false };
const DEFAULT: Priority = { urgency: 3, incremental: false };
/** For what nobody has asked for. */
export const LAST: Priority = { urgency: 7, incremental: false };
const BULK: Priority = { urgency: 5, incremental: true };

export function priorityOf(destination: Destination): Priority {
  switch (destination) {
    case "document":
    case "frame":
    case "iframe":
      return FIRST;
    case "style":
    case "font":
      return RENDER_BLOCKING;
    case "script":
    case "worker":
    case "json":
    case "xslt":
      return SCRIPT;
    case "audio":
    case "video":
    case "track":
      return BULK;
    default:
      return DEFAULT;
  }
}
