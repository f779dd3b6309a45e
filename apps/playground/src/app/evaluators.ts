/**
 * The chapters for those who want to know whether the library is for them; no formula is needed to read them.
 */
export const evaluators: readonly string[] = ['graph', 'doctor'];
