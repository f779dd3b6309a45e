/**
 * The chapters for readers who want to find out whether the library suits them; none of these needs formulas.
 */
export const evaluators: readonly string[] = ['graph', 'doctor'];
