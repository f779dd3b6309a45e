/** Asks for fonts before the first text that is set in them has been laid out. */
function loadFonts(...fonts: readonly string[]): void {
  // Where a font cannot be loaded, the text is shown in one of the system's.
  for (const font of fonts) document.fonts.load(font).catch(() => {});
}

/** The font of the page, which `fonts.css` declares. */
export const loadTextFont = (): void => loadFonts('1rem "Inter Variable"');

/** The fonts of nearly every formula, which the style sheet of KaTeX declares. */
export const loadFormulaFonts = (): void => loadFonts('1rem KaTeX_Main', 'italic 1rem KaTeX_Math');

/** Resolves when the text that is on the page, or is about to be, has its fonts or does without them. */
export async function fontsShown(): Promise<void> {
  // A font is asked for when text is laid out with it.
  await new Promise(resolve => requestAnimationFrame(resolve));
  await document.fonts.ready;
}
