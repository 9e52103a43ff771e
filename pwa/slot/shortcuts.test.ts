import { describe, expect, it } from "vitest";
import type { KeyPress } from "../messages/page-messages.ts";
import { isShortcut, shortcutFor } from "./shortcuts.ts";

function press(key: string, modifiers: Partial<KeyPress> = {}): KeyPress {
  return { key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers };
}

describe("shortcutFor", () => {
  it.each([
    [press("l", { ctrlKey: true }), "address"],
    [press("L", { ctrlKey: true }), "address"],
    [press("r", { ctrlKey: true }), "reload"],
    [press("f", { ctrlKey: true }), "find"],
    [press("f", { ctrlKey: true, shiftKey: true }), null],
    [press("F5"), "reload"],
    [press("ArrowLeft", { altKey: true }), "back"],
    [press("ArrowRight", { altKey: true }), "forward"],
    [press("l"), null],
    [press("l", { metaKey: true }), null],
    [press("l", { ctrlKey: true, altKey: true }), null],
    [press("R", { ctrlKey: true, shiftKey: true }), "hardReload"],
    [press("F5", { ctrlKey: true }), "hardReload"],
    [press("F5", { shiftKey: true }), "hardReload"],
    [press("R", { ctrlKey: true, shiftKey: true, altKey: true }), null],
    [press("ArrowLeft"), null],
    [press("Escape"), null],
  ])("%o", (key, shortcut) => expect(shortcutFor(key, "loaded", false)).toBe(shortcut));

  it("uses the Command key on a Mac, and leaves Option and the arrows to the text", () => {
    expect(shortcutFor(press("l", { metaKey: true }), "loaded", true)).toBe("address");
    expect(shortcutFor(press("f", { metaKey: true }), "loaded", true)).toBe("find");
    expect(shortcutFor(press("f", { ctrlKey: true }), "loaded", true)).toBeNull();
    expect(shortcutFor(press("[", { metaKey: true }), "loaded", true)).toBe("back");
    expect(shortcutFor(press("]", { metaKey: true }), "loaded", true)).toBe("forward");
    expect(shortcutFor(press("l", { ctrlKey: true }), "loaded", true)).toBeNull();
    expect(shortcutFor(press("ArrowLeft", { altKey: true }), "loaded", true)).toBeNull();
  });

  it("has no key that the page would keep, nor takes others from it", () => {
    const keys = ["l", "r", "f", "[", "]", "F5", "Escape", "ArrowLeft", "ArrowRight", "a"];
    const single = [{}, { ctrlKey: true }, { metaKey: true }, { altKey: true }];
    const modifiers = [...single, ...single.map((each) => ({ ...each, shiftKey: true }))];
    for (const isMac of [false, true])
      for (const key of keys)
        for (const modifier of modifiers) {
          const pressed = press(key, modifier);
          expect(isShortcut(pressed, isMac)).toBe(shortcutFor(pressed, "loading", isMac) !== null);
        }
  });

  it("stops only what loads, and reloads only what is there", () => {
    expect(shortcutFor(press("Escape"), "loading", false)).toBe("stop");
    expect(shortcutFor(press("F5"), "idle", false)).toBeNull();
    expect(shortcutFor(press("f", { ctrlKey: true }), "idle", false)).toBeNull();
    expect(shortcutFor(press("r", { ctrlKey: true }), "idle", false)).toBeNull();
    expect(shortcutFor(press("R", { ctrlKey: true, shiftKey: true }), "idle", false)).toBeNull();
    expect(shortcutFor(press("r", { ctrlKey: true }), "failed", false)).toBe("reload");
  });
});
