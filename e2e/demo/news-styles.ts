import { GLYPHS } from "./glyph-font.ts";

function glyph(name: keyof typeof GLYPHS): string {
  return `"\\${GLYPHS[name].toString(16)}"`;
}

export const SITE_STYLE = `@import url("type.css");
@import url("layout.css");
@import url("dark.css");
`;

export const TYPE_STYLE = `@font-face {
  font-family: "Harbour Glyphs";
  src: url("glyphs.woff") format("woff");
  font-display: block;
}
:root {
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, Charter, "Noto Serif", Georgia, serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
body { font: 1.0625rem/1.6 var(--serif); text-rendering: optimizeLegibility; }
h1, h2, h3 { font-weight: 700; letter-spacing: -.012em; line-height: 1.16; text-wrap: balance; }
h1 { font-size: clamp(1.9rem, 7vw, 2.8rem); margin: .35em 0 .3em; }
h2 { font-size: 1.35rem; margin: .2em 0; }
.summary { color: var(--soft); margin: .2em 0; }
.standfirst { color: var(--soft); font-size: 1.2rem; line-height: 1.45; margin: 0 0 1rem; }
.kicker, .byline, nav, footer, form, figcaption, time, .note { font-family: var(--sans); }
.kicker { color: var(--accent); font-size: .78rem; font-weight: 650; letter-spacing: .06em; text-transform: uppercase; }
.byline, figcaption, time, .note { color: var(--soft); font-size: .84rem; }
.icon::before { font: 1em/1 "Harbour Glyphs"; }
.icon-search::before { content: ${glyph("search")}; }
.icon-moon::before { content: ${glyph("moon")}; }
.icon-comment::before { content: ${glyph("comment")}; }
.icon-feed::before { content: ${glyph("feed")}; }
.icon-forward::before { content: ${glyph("forward")}; }
`;

export const LAYOUT_STYLE = `:root {
  --paper: #fdfcf9; --ink: #1c2326; --soft: #59656b; --line: #dcdad3; --accent: #0d5c75; --field: #fff;
  color-scheme: light;
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { background: var(--paper); color: var(--ink); margin: 0 auto; max-width: 66rem; padding: 0 1.15rem 3rem; }
img { background: var(--line); border-radius: 6px; display: block; height: auto; max-width: 100%; }
a { color: inherit; text-decoration-color: color-mix(in srgb, currentColor 35%, transparent); text-underline-offset: .16em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.masthead { align-items: center; border-bottom: 3px double var(--line); display: flex; gap: .6rem; padding: .9rem 0 .7rem; }
.masthead img { background: none; border-radius: 8px; }
.masthead a { font-size: 1.3rem; font-weight: 700; letter-spacing: -.015em; margin-right: auto; text-decoration: none; }
button, input, textarea { background: var(--field); border: 1px solid var(--line); border-radius: 9px; color: inherit;
  font: inherit; min-height: 44px; padding: .5rem .8rem; }
button { cursor: pointer; }
.masthead button { border-radius: 50%; min-width: 44px; padding: 0; }
nav { border-bottom: 1px solid var(--line); display: flex; font-size: .95rem; gap: 1.3rem; overflow-x: auto; }
nav a { padding: .75rem 0; text-decoration: none; white-space: nowrap; }
nav a[aria-current] { box-shadow: inset 0 -3px var(--accent); font-weight: 650; }
form { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; }
form input, form textarea { flex: 1 1 12rem; min-width: 0; }
.stories { display: grid; gap: 1.9rem; list-style: none; margin: 1.4rem 0 0; padding: 0; }
.stories a { text-decoration: none; }
.stories a:hover h2 { text-decoration: underline; text-decoration-thickness: 2px; }
.stories img { aspect-ratio: 3 / 2; margin-bottom: .7rem; object-fit: cover; width: 100%; }
article { margin: 0 auto; max-width: 38rem; }
figure { margin: 1.3rem 0; }
figcaption { margin-top: .45rem; }
article > p { hyphens: auto; }
#comments ol { list-style: none; padding: 0; }
#comments li { border-top: 1px solid var(--line); padding: .8rem 0; }
#comments li p { margin: .2rem 0 0; }
#comments textarea { flex-basis: 100%; min-height: 6rem; }
footer { border-top: 3px double var(--line); font-size: .92rem; margin-top: 3rem; padding-top: 1rem; }
[hidden] { display: none; }
@media (min-width: 48rem) {
  .stories { grid-template-columns: repeat(6, 1fr); }
  .stories li { grid-column: span 2; }
  .front .stories li:nth-child(-n + 2) { grid-column: span 3; }
}
`;

const DARK = `--paper: #12181b; --ink: #e8e6e0; --soft: #a0abb0; --line: #2c363b; --accent: #6cc4df; --field: #1a2226;
  color-scheme: dark;`;

export const DARK_STYLE = `@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) { ${DARK} }
}
:root[data-theme="dark"] { ${DARK} }
`;
