const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 48;
const BOTTOM = 24;

export interface LinkSample {
  /** At the end of what was sampled, in ms. */
  readonly time: number;
  /** Body bytes that arrived, and that could have. */
  readonly carried: number;
  readonly could: number;
  /** Bytes that wait on the link and before it, in bandwidth-delay products. */
  readonly queue: number;
  /** The session's credit, in bandwidth-delay products. */
  readonly window: number;
}

/** A run as SVG: utilisation above, window and queue in bandwidth-delay products below. */
export function plotRun(name: string, samples: readonly LinkSample[]): string {
  const end = samples.at(-1)?.time ?? 1;
  const used = samples.map(({ time, carried, could }) => [time, carried / could] as const);
  const windows = samples.map(({ time, window }) => [time, Math.min(window, 4)] as const);
  const queues = samples.map(({ time, queue }) => [time, Math.min(queue, 4)] as const);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${2 * HEIGHT + 20}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="white"/><text x="${LEFT}" y="14">${name}</text>`,
    panel(20, "used", 1.2, end, [["#0a7", used]]),
    panel(20 + HEIGHT, "products", 4, end, [
      ["#05c", windows],
      ["#c30", queues],
    ]),
    `<text x="${LEFT + 8}" y="${HEIGHT + 40}" fill="#05c">credit</text>`,
    `<text x="${LEFT + 60}" y="${HEIGHT + 40}" fill="#c30">queue</text></svg>`,
  ].join("\n");
}

type Line = readonly (readonly [time: number, value: number])[];

function panel(
  top: number,
  label: string,
  most: number,
  end: number,
  lines: readonly (readonly [string, Line])[],
): string {
  const x = (time: number): string => (LEFT + (time / end) * (WIDTH - LEFT - 8)).toFixed(1);
  const y = (value: number): string => (top + (1 - value / most) * (HEIGHT - BOTTOM)).toFixed(1);
  const marks = [0, most / 2, most].map(
    (value) =>
      `<path d="M${LEFT} ${y(value)}H${WIDTH - 8}" stroke="#ddd"/><text x="4" y="${y(value)}" dy="4">${value.toFixed(1)}</text>`,
  );
  const curves = lines.map(
    ([colour, line]) =>
      `<polyline fill="none" stroke="${colour}" points="${line.map(([time, value]) => `${x(time)},${y(value)}`).join(" ")}"/>`,
  );
  const ends = `<text x="${WIDTH - 60}" y="${top + HEIGHT - 8}">${(end / 1000).toFixed(0)} s</text>`;
  return [`<text x="4" y="${top + 12}" dy="10">${label}</text>`, ...marks, ...curves, ends].join("\n");
}
