import type { LinkSettings } from "../lab/lab.ts";
import type { Site } from "./model.ts";

/** Bytes of IP, TCP (with timestamps) and TLS record headers that come with each full packet of 1,500 bytes. */
const PACKET_BYTES = 1500;
const PACKET_PAYLOAD = 1500 - 52;

/**
 * Least milliseconds in which any program can show a page over this link: one round trip for the asking, which nobody
 * can save, then the bytes at the link's rate, with nothing wasted. Handshakes, slow start and chains of objects cost
 * more round trips, but none that a better protocol could not save.
 *
 * @param settings link; a trace counts with its mean rate, which the caller gives as `down`.
 * @param bytes on the way down, such as `site.codedBytes`.
 */
export function loadFloor(settings: Pick<LinkSettings, "delay" | "down" | "loss">, bytes: number): number {
  return 2 * settings.delay + transferTime(settings, bytes);
}

/** Milliseconds that bytes of content take at the link's rate, packet headers and lost packets included. */
export function transferTime({ down, loss }: Pick<LinkSettings, "down" | "loss">, bytes: number): number {
  if (down === 0) return 0;
  const onLink = (bytes * PACKET_BYTES) / PACKET_PAYLOAD / (1 - loss / 100);
  return (onLink * 8) / down;
}

/** What the metrics of a visit to a site cannot be better than. */
export function visitFloor(
  settings: Pick<LinkSettings, "delay" | "down" | "loss">,
  site: Pick<Site, "bytes" | "codedBytes" | "atLoad">,
): Record<string, number> {
  const load = loadFloor(settings, (site.atLoad ?? site).codedBytes);
  return { load, bytesDown: site.codedBytes, throughput: (site.bytes * 8) / load };
}
