/**
 * `WebSocket` and `WebSocketStream` as a script of its own: the slot's service worker has it once, and puts it before the scripts that run first
 * in documents and in workers.
 */
import { type CreateSockets, createSockets } from "../page/web-socket.ts";

/** `withSockets` puts it around the scripts. */
// biome-ignore lint/style/useConst: it is declared elsewhere.
declare let ropewaySockets: CreateSockets;

ropewaySockets = createSockets;
