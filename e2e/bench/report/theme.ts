/**
 * Colours of report and pictures, in light and dark. Those of contestants stay apart with every kind of colour
 * blindness (CIE76 distance of at least 14 after Machado's simulations), and markers and dashes tell them apart too.
 */
import { type Markup, trusted } from "./markup.ts";

const LIGHT = {
  ground: "#f3f6f4",
  surface: "#ffffff",
  sunken: "#e9efec",
  text: "#14211e",
  muted: "#53635e",
  line: "#dbe3df",
  axis: "#8b9994",
  accent: "#0b6b62",
  "accent-soft": "#d9efeb",
  danger: "#b3261e",
  "danger-soft": "#fbe4e1",
  floor: "#14211e",
  "direct-1": "#98a5a0",
  "direct-2": "#71807b",
  "direct-3": "#465450",
  "ours-1": "#2165b8",
  "ours-2": "#c98a00",
  "ours-3": "#c43419",
  "fixed-1": "#d390d5",
  "fixed-2": "#b829ff",
  "fixed-3": "#32203c",
} as const;

const DARK: Record<keyof typeof LIGHT, string> = {
  ground: "#101715",
  surface: "#1a2321",
  sunken: "#26312e",
  text: "#e9f0ed",
  muted: "#a3b3ad",
  line: "#2d3936",
  axis: "#6f7f79",
  accent: "#6fd6c6",
  "accent-soft": "#17403a",
  danger: "#ff9a8f",
  "danger-soft": "#4a211d",
  floor: "#e9f0ed",
  "direct-1": "#687672",
  "direct-2": "#8e9c97",
  "direct-3": "#b9c6c1",
  "ours-1": "#5aa2f0",
  "ours-2": "#e8b93a",
  "ours-3": "#ff6f4e",
  "fixed-1": "#764b8b",
  "fixed-2": "#b829ff",
  "fixed-3": "#e0b6ed",
};

/** How drawings look, wherever they stand. */
const DRAWING_STYLE = `
.drawing text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
.drawing { color: var(--text); fill: currentColor; }
.drawing .muted { fill: var(--muted); }
.drawing .heading { fill: var(--muted); stroke: var(--surface); stroke-width: 4; paint-order: stroke; }
.drawing .strong { font-weight: 600; }
.drawing .bad { fill: var(--danger); }
.drawing .grid { stroke: var(--line); }
.drawing .axis { stroke: var(--axis); }
.drawing .one { stroke: var(--text); stroke-width: 1.5; }
.drawing .floor { fill: none; stroke: var(--floor); stroke-width: 1.5; stroke-dasharray: 1 4; stroke-linecap: round; }
.drawing .beyond { fill: var(--axis); opacity: 0.12; }
.drawing .band { opacity: 0.16; }
.drawing .quartiles { stroke: var(--text); stroke-width: 1.25; }
.drawing .run { fill: var(--text); opacity: 0.6; }
.drawing .behind-side { fill: var(--danger-soft); opacity: 0.5; }
.drawing .behind-mark { fill: var(--surface); stroke: var(--danger); stroke-width: 2; }
.drawing .film-frame { fill: none; stroke: var(--line); }
`;

/** Style of the page: variables for both colour schemes, then drawings. */
export function themeStyle(): Markup {
  return trusted(
    `:root { color-scheme: light dark; ${variables(LIGHT)} }\n@media (prefers-color-scheme: dark) { :root { ${variables(DARK)} } }\n${DRAWING_STYLE}`,
  );
}

/** Style inside of a picture that stands alone. */
export function pictureStyle(): Markup {
  return trusted(
    `svg { ${variables(LIGHT)} }\n@media (prefers-color-scheme: dark) { svg { ${variables(DARK)} } }\n${DRAWING_STYLE}
.drawing .ground { fill: var(--surface); }
.drawing .title { font-size: 17px; font-weight: 650; }
`,
  );
}

function variables(colours: Readonly<Record<string, string>>): string {
  return Object.entries(colours)
    .map(([name, colour]) => `--${name}: ${colour};`)
    .join(" ");
}
