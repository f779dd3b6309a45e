/**
 * Symbols of attention that figures show. Elements of figures name their symbols in `data-symbol`, separated
 * by spaces.
 */
const symbols: ReadonlySet<string> = new Set(
  'Q K V O S P D M dQ dK dV dO dP dS q k v o s p x m d num lse'.split(' '),
);

/** Marks the symbols in a formula set by KaTeX, as figures mark theirs. */
export function markSymbols(formula: Element): void {
  const letters = [...formula.querySelectorAll<HTMLElement>('.katex-html .mord')].filter(
    letter => letter.childElementCount === 0,
  );
  for (const [n, letter] of letters.entries()) {
    if (letter.dataset.symbol) continue;
    const text = letter.textContent ?? '';
    const next = letters[n + 1];
    const gradient = `d${next?.textContent ?? ''}`;
    // KaTeX writes dS as two letters side by side.
    if (text === 'd' && next && next === letter.nextElementSibling && symbols.has(gradient)) {
      letter.dataset.symbol = gradient;
      next.dataset.symbol = gradient;
    } else if (symbols.has(text)) letter.dataset.symbol = text;
  }
}

const capital = /\b(d?[QKVOSP])\b/;

/** Splits a text into parts, of which every second is a symbol that stands as a word of its own. */
export const symbolParts = (text: string): string[] => text.split(capital);

/**
 * Highlights a symbol everywhere in a scope while the visitor points at or focuses one of its occurrences: in
 * formulas, in the text and in figures. A symbol that no figure shows is left alone. Returns a function that
 * ends this.
 */
export function lightSymbols(scope: HTMLElement): () => void {
  let name = '';
  let lit: readonly Element[] = [];
  const light = (next: string): void => {
    if (next === name) return;
    name = next;
    for (const element of lit) element.removeAttribute('data-symbol-lit');
    const query = next
      .split(' ')
      .filter(Boolean)
      .map(symbol => `[data-symbol~="${CSS.escape(symbol)}"]`)
      .join();
    const found = query ? [...scope.querySelectorAll(query)] : [];
    lit = found.some(element => !element.closest('.katex, .symbol-word')) ? found : [];
    for (const element of lit) element.setAttribute('data-symbol-lit', '');
  };
  const at = ({ target }: Event): void => {
    const place = target instanceof Element ? target.closest('[data-symbol]') : null;
    light(place?.getAttribute('data-symbol') ?? '');
  };
  const leave = (): void => light('');
  scope.addEventListener('pointerover', at);
  scope.addEventListener('focusin', at);
  scope.addEventListener('pointerleave', leave);
  return () => {
    leave();
    scope.removeEventListener('pointerover', at);
    scope.removeEventListener('focusin', at);
    scope.removeEventListener('pointerleave', leave);
  };
}
