const NAMES =
  "RTCPeerConnection webkitRTCPeerConnection RTCDataChannel WebTransport WebSocketStream CookieStore cookieStore fetchLater";

/** Takes away what reaches the network, or cookies, past the service worker. Sites fall back or do without. */
export function removeNetworkFeatures(realm: Window): void {
  for (const name of NAMES.split(" ")) Reflect.deleteProperty(realm, name);
}
