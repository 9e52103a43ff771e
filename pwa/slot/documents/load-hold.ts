/**
 * A document that only stands in for another one has no `load`: the frame's element would fire it before the real
 * document is there, and a page that posts its frame a message then would post it here. So the stand-in does not finish
 * loading before the next document replaces it, and neither does the page around it (HTML section 13.2.7, "the end").
 */

/** Milliseconds. What comes after is no document (a download, say), or has kept the page waiting for long enough. */
const LONGEST = 30_000;

/** For the documents that stand in for frames of pages. @returns gives the hold up: this document stays. */
export function holdLoad(): () => void {
  if (window.parent === window.top) return () => {};
  // A document that is being written is loading, whether there is a network or not.
  const written = document.createElement("iframe");
  written.hidden = true;
  document.documentElement.append(written);
  written.contentDocument?.open();
  const release = () => written.remove();
  setTimeout(release, LONGEST);
  return release;
}
