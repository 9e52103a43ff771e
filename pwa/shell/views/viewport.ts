/**
 * Keeps `--viewport-height` and `--viewport-top` on the element at what is really visible, since iOS lays its keyboard
 * over the page instead of shrinking it. Zooming with two fingers changes nothing. Returns how to stop.
 */
export function followVisualViewport(element: HTMLElement, viewport: VisualViewport): () => void {
  const update = () => {
    if (viewport.scale > 1.01) return;
    element.style.setProperty("--viewport-height", `${viewport.height}px`);
    element.style.setProperty("--viewport-top", `${viewport.offsetTop}px`);
  };
  viewport.addEventListener("resize", update);
  viewport.addEventListener("scroll", update);
  update();
  return () => {
    viewport.removeEventListener("resize", update);
    viewport.removeEventListener("scroll", update);
  };
}
