/**
 * Starts the tunnel's worker while the app's script is still read: each of the two takes as long as the other. Where no
 * service worker has the scripts, all come over the link, and the app's is wanted first.
 */
import { tunnelWorker } from "./tunnel-client.ts";

if (navigator.serviceWorker?.controller) window.ropewayWorker = tunnelWorker();
