/**
 * Starts the tunnel's worker while the app's script is still read: each of the two takes as long as the other. Where no
 * service worker has the scripts, all come over the link, and the app's is wanted first. Meanwhile the connection is made that
 * the first frames are to take.
 */
import { HEALTH_PATH } from "../../../shared/subprotocol.ts";
import { mayFly } from "./remembered.ts";
import { tunnelWorker } from "./tunnel-client.ts";

// The app is opened for a page; roughly as `parseLaunch`, which would make this script larger.
window.ropewayFlies = /[?#&](?:url|text)=/.test(location.href) && mayFly(localStorage);
if (window.ropewayFlies) void fetch(HEALTH_PATH).catch(() => {});
if (navigator.serviceWorker?.controller) window.ropewayWorker = tunnelWorker();
