/** 0xRRGGBB of a hue in degrees and a saturation and lightness of 0 to 1 (CSS Color 4, section 7). */
export function hslToRgb(hue: number, saturation: number, lightness: number): number {
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const place = (offset + hue / 30) % 12;
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(place - 3, 9 - place, 1))));
  };
  return (channel(0) << 16) | (channel(8) << 8) | channel(4);
}
