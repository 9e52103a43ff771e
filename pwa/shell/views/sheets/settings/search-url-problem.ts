/** Why a search URL cannot be used, or null if it can. */
export function searchUrlProblem(searchUrl: string): string | null {
  if (!searchUrl.includes("%s")) return "The address needs %s where the words go.";
  const filled = searchUrl.replace("%s", "words");
  if (!URL.canParse(filled) || !/^https?:$/.test(new URL(filled).protocol)) return "This is not a web address.";
  return null;
}
