/** What the browser says of the network, told to the tunnel, which makes sure of its link. */
import type { TunnelClient } from "./tunnel-client.ts";

/** Network Information API; not in all browsers. */
interface NetworkInformation extends EventTarget {
  readonly type?: string;
}

export function watchNetwork(tunnel: Pick<TunnelClient, "tell">): void {
  window.addEventListener("online", () => tunnel.tell({ type: "network", online: true }));
  window.addEventListener("offline", () => tunnel.tell({ type: "network", online: false }));
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") tunnel.tell({ type: "hint", hint: "visible" });
  });
  // A page that comes out of the back/forward cache, or that was frozen.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) tunnel.tell({ type: "hint", hint: "visible" });
  });
  document.addEventListener("resume", () => tunnel.tell({ type: "hint", hint: "visible" }));
  const { connection } = navigator as Navigator & { readonly connection?: NetworkInformation };
  let type = connection?.type;
  connection?.addEventListener("change", () => {
    // The event also comes with each new estimate of the network's speed.
    if (connection.type === type) return;
    type = connection.type;
    tunnel.tell({ type: "hint", hint: "network" });
  });
}
