/** All that is ever asked for below the base host: a cookie for one of these paths, or one above it, is seen there. */
import { DOWN_PATH, UP_PATH } from "../../../shared/fetch-road/record.ts";
import {
  ACCEPT_PATH,
  CONFIG_PATH,
  DEVICES_PATH,
  HEALTH_PATH,
  PAIR_PATH,
  RESERVED_PATH,
  TOKEN_PATH,
  TUNNEL_PATH,
} from "../../../shared/subprotocol.ts";

/** Paths that slots' hosts are asked for. */
const BOOT_PATHS = ["boot", "boot.js", "frame", "frame.js", "notice.js", "sw.js", "wipe", "wipe.js", "cleared"].map(
  (name) => RESERVED_PATH + name,
);

const ROADS = [TUNNEL_PATH, TUNNEL_PATH + DOWN_PATH, TUNNEL_PATH + UP_PATH];

/** Devices have names that no page can guess. */
const DEVICES = [DEVICES_PATH, `${DEVICES_PATH}/codes`, `${DEVICES_PATH}/key`];

/** @param files of the app whose names change from release to release. */
export function appPaths(files: readonly string[]): string[] {
  const others = [PAIR_PATH, TOKEN_PATH, CONFIG_PATH, HEALTH_PATH, ACCEPT_PATH, "/sw.js"];
  return [...new Set([...files, ...ROADS, ...DEVICES, ...others, ...BOOT_PATHS])];
}

/**
 * Paths that a cookie may have which is sent to a path (RFC 6265 section 5.1.4), shortest first. Firefox and WebKit tell
 * of a cookie only that it is sent there.
 */
export function cookiePaths(path: string): string[] {
  const paths = ["/"];
  for (const [end, character] of [...path].entries()) {
    if (end > 0 && character === "/") paths.push(path.slice(0, end), path.slice(0, end + 1));
  }
  return path === "/" ? paths : [...new Set([...paths, path])];
}
