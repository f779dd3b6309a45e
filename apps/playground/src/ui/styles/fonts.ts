/** Requests fonts before the first text that uses them is laid out. */
function loadFonts(...fonts: readonly string[]): void {
  // If a font cannot be loaded, the text is shown in a system font.
  for (const font of fonts) document.fonts.load(font).catch(() => {});
}

/** The font of the page, which `fonts.css` declares. */
export const loadTextFont = (): void => loadFonts('1rem "Inter Variable"');

/** The fonts of nearly every formula, which the style sheet of KaTeX declares. */
export const loadFormulaFonts = (): void => loadFonts('1rem KaTeX_Main', 'italic 1rem KaTeX_Math');

/** Resolves when the text that is on the page, or about to be, has its fonts or has fallen back. */
export async function fontsShown(): Promise<void> {
  // A browser requests a font when it lays out text with it.
  await new Promise(resolve => requestAnimationFrame(resolve));
  await document.fonts.ready;
}
