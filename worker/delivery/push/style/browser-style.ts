/** What browsers' own style sheets say of fonts, and of what is not shown (HTML section 15). */
export const BROWSER_STYLE = `
head, link, meta, script, style, template, title, base, area, datalist, noembed, noframes, param, rp, source, track,
[hidden], dialog:not([open]), details:not([open]) > :not(summary) { display: none }
input[type="hidden"] { display: none !important }
b, strong { font-weight: bolder }
h1, h2, h3, h4, h5, h6, th { font-weight: bold }
i, em, cite, var, dfn, address { font-style: italic }
code, kbd, samp, pre, tt { font-family: monospace }
math { font-family: math }
button, input, select, textarea { font: 1em system-ui }
textarea { font-family: monospace }
`;
