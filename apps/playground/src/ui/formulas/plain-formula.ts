const signs: Readonly<Record<string, string>> = {
  ...{ alpha: 'α', beta: 'β', delta: 'δ', lambda: 'λ', ell: 'ℓ', partial: '∂', sum: '∑', sqrt: '√' },
  ...{ top: '⊤', prime: '′', cdot: '·', times: '×', circ: '∘', approx: '≈', le: '≤', ge: '≥', in: '∈' },
};

/** Commands of which nothing shows: spaces, and how what follows is set. */
const silent = /\\(?:[,;:! ]|(?:qquad|quad|left|right|text|mathrm|operatorname|mathrel|bar)(?![a-zA-Z]))/g;

/**
 * A formula in TeX as a line of characters, about as wide as the formula that takes its place: text around it
 * must not move when it does.
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
