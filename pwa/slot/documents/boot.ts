/** `/.ropeway/boot`: installs the slot's service worker, gets it a port, and says that the slot is ready. */

import { bootSlot } from "./boot-slot.ts";
import { removeNetworkFeatures, shellOriginHere } from "./this-document.ts";

removeNetworkFeatures(window);

const shellOrigin = shellOriginHere();
// Pages of any tab can post messages to this frame of the app's, and scripts of this site could hear them here.
const hear = (event: MessageEvent) => event.origin !== shellOrigin && event.stopImmediatePropagation();
addEventListener("message", hear, true);

bootSlot(shellOrigin).catch((error: unknown) => {
  document.getElementById("failure")?.removeAttribute("hidden");
  throw error;
});
