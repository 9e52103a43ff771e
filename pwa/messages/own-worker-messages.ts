/** From the app's own service worker to its windows. */
import type { AcceptTable } from "../../shared/http/phone-fields.ts";

export type OwnWorkerToShell =
  /** Cookies of the app's host that nothing may keep: each as `document.cookie` takes it, so that it is deleted. */
  | { readonly type: "expired-cookies"; readonly cookies: readonly string[] }
  /** What this browser sends as `accept`, by what asks. */
  | { readonly type: "accept"; readonly accept: AcceptTable };
