/**
 * What Chromium tells of itself beside `User-Agent` without being asked (User-Agent Client Hints section 3, low entropy).
 * Sites hold one against the other, so it is read off that.
 */
import type { HeaderField } from "../../../shared/http/heads.ts";

/** As in `navigator.userAgentData.platform`; Android's says Linux, too. */
const PLATFORMS: readonly (readonly [sign: RegExp, name: string])[] = [
  [/Android/, "Android"],
  [/CrOS/, "Chrome OS"],
  [/Windows/, "Windows"],
  [/Macintosh/, "macOS"],
  [/Linux/, "Linux"],
];

/** None for other engines, which send none. */
export function clientHints(userAgent: string): HeaderField[] {
  const version = /\bChrome\/(\d{1,5})\b/.exec(userAgent)?.[1];
  if (version === undefined) return [];
  const [, edge] = /\bEdgA?\/(\d{1,5})\b/.exec(userAgent) ?? [];
  const brand = edge === undefined ? `"Google Chrome";v="${version}"` : `"Microsoft Edge";v="${edge}"`;
  const platform = PLATFORMS.find(([sign]) => sign.test(userAgent))?.[1] ?? "Unknown";
  return [
    ["sec-ch-ua", `"Chromium";v="${version}", ${brand}, "Not_A Brand";v="24"`],
    ["sec-ch-ua-mobile", /\bMobile\b/.test(userAgent) ? "?1" : "?0"],
    ["sec-ch-ua-platform", `"${platform}"`],
  ];
}
