/** What stands where a picture was held back: one of its size that says how many bytes it has. */
import type { ImageFacts } from "./image-facts.ts";

/** @param bytes of the picture; 0 where nobody knows. */
export function placeholderOf({ width, height }: Pick<ImageFacts, "width" | "height">, bytes: number): string {
  const size = Math.max(8, Math.min(width / 8, height / 3, Math.max(24, width / 18)));
  const [x, y] = [width / 2, height / 2];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    "<style>rect{fill:#e7e9ec}text{fill:#41464d}@media(prefers-color-scheme:dark){rect{fill:#2a2d31}text{fill:#c3c8ce}}</style>" +
    '<rect width="100%" height="100%"/>' +
    `<text x="${x}" y="${y}" font-family="system-ui,sans-serif" font-size="${size.toFixed(1)}" text-anchor="middle" dominant-baseline="central">${labelOf(bytes)}</text></svg>`
  );
}

function labelOf(bytes: number): string {
  if (bytes === 0) return "↓";
  return bytes < 999_500 ? `↓ ${Math.max(1, Math.round(bytes / 1000))} kB` : `↓ ${(bytes / 1_000_000).toFixed(1)} MB`;
}
