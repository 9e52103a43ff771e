/** `/.ropeway/boot`: installs the slot's service worker, gets it a port, and says that the slot is ready. */

import { bootSlot } from "./boot-slot.ts";
import { removeNetworkFeatures, shellOriginHere } from "./this-document.ts";

removeNetworkFeatures(window);

bootSlot(shellOriginHere()).catch((error: unknown) => {
  document.getElementById("failure")?.removeAttribute("hidden");
  throw error;
});
