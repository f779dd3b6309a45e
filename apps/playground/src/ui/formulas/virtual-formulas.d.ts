/** The HTML of all formulas of the page by their TeX, typeset when the page is built. */
declare module 'virtual:formulas' {
  export const inline: Readonly<Record<string, string>>;
  export const block: Readonly<Record<string, string>>;
}
