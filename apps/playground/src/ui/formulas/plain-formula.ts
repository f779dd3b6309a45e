const signs: Readonly<Record<string, string>> = {
  ...{ alpha: 'α', beta: 'β', delta: 'δ', lambda: 'λ', ell: 'ℓ', partial: '∂', sum: '∑', sqrt: '√' },
  ...{ top: '⊤', prime: '′', cdot: '·', times: '×', circ: '∘', approx: '≈', le: '≤', ge: '≥', in: '∈' },
};

/** Commands that print nothing: spaces, and styles for what follows. */
const silent = /\\(?:[,;:! ]|(?:qquad|quad|left|right|text|mathrm|operatorname|mathrel|bar)(?![a-zA-Z]))/g;

/**
 * A formula in TeX as a line of characters, about as wide as the formula that replaces it, so that the text
 * around it does not move then.
 */
export function plainFormula(tex: string): string {
  return tex
    .replace(silent, ' ')
    .replace(/\\([a-zA-Z]+)/g, (_, command: string) => signs[command] ?? command)
    .replace(/[{}_^]/g, '')
    .replace(/-/g, '−')
    .replace(/'/g, '′')
    .replace(/ +/g, ' ')
    .trim();
}
