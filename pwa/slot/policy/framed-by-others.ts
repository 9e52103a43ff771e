/**
 * Whether a document of another origin stands between this one and the shell. What is below a page in a top-level slot
 * may do what the page may, so no other site may have such a frame.
 */
export function isFramedByOthers(): boolean {
  for (let ancestor = window.parent; ancestor !== window.top; ancestor = ancestor.parent) {
    try {
      void ancestor.document;
    } catch {
      return true;
    }
  }
  return false;
}
