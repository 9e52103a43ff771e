/** What the browser says of the network, told to the tunnel, which makes sure of its link. */
import type { LinkHint } from "../../messages/link.ts";

interface HintedTunnel {
  setOnline(online: boolean): void;
  hint(hint: LinkHint): void;
}

/** Network Information API; not in all browsers. */
interface NetworkInformation extends EventTarget {
  readonly type?: string;
}

export function watchNetwork(tunnel: HintedTunnel): void {
  window.addEventListener("online", () => tunnel.setOnline(true));
  window.addEventListener("offline", () => tunnel.setOnline(false));
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") tunnel.hint("visible");
  });
  // A page that comes out of the back/forward cache, or that was frozen.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) tunnel.hint("visible");
  });
  document.addEventListener("resume", () => tunnel.hint("visible"));
  const { connection } = navigator as Navigator & { readonly connection?: NetworkInformation };
  let type = connection?.type;
  connection?.addEventListener("change", () => {
    // The event also comes with each new estimate of the network's speed.
    if (connection.type === type) return;
    type = connection.type;
    tunnel.hint("network");
  });
}
