/**
 * In place of a page on a host that is static files, where no service worker answers: to the boot page, which comes back.
 * An edge sends the browser there itself.
 */
import { BACK_QUERY, ropewayPath } from "../slot-url.ts";
import { holdLoad, isBackHere } from "./this-document.ts";

holdLoad();
const then = encodeURIComponent(location.pathname + location.search);
location.replace(`${ropewayPath.boot}${isBackHere() ? BACK_QUERY : "?"}then=${then}${location.hash}`);
