/** `/.ropeway/boot`: installs the slot's service worker, gets it a port, and says that the slot is ready. */

import { removeNetworkFeatures } from "../page/network-features.ts";
import { bootSlot } from "./boot-slot.ts";
import { shellOriginHere } from "./shell-origin-here.ts";

removeNetworkFeatures(window);

bootSlot(shellOriginHere()).catch((error: unknown) => {
  document.getElementById("failure")?.removeAttribute("hidden");
  throw error;
});
