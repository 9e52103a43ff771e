/**
 * For documents and workers alike, as a script of its own: the slot's service worker has it once, and puts it before the
 * scripts that run first in either.
 */
import { ownOrigin } from "../page/own-origin.ts";
import { createSockets } from "../page/web-socket.ts";

const common = { ownOrigin, createSockets };
export type Common = typeof common;

/** `withCommon` puts it around the scripts. */
// biome-ignore lint/style/useConst: it is declared elsewhere.
declare let ropewayCommon: Common;

ropewayCommon = common;
