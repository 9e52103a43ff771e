/**
 * Bytes that deliveries of all phones in a process hold at once: pictures that are read whole, texts that are coded against
 * others, or wait to be kept. What finds no room goes as it is. Of the 128 MB that an isolate has on Cloudflare.
 */
export const HELD_BYTES = 12 * 1024 * 1024;
