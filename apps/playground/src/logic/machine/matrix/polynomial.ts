import { subscript } from '../machine.ts';

/**
 * A sum of products of cells, as the matrix machine's registers hold it: the count of each product, by its
 * ordered factors. The machine computes with symbols instead of numbers, so that a program is right for every
 * matrix or for none.
 */
export type Polynomial = ReadonlyMap<string, number>;

const factorsOf = (term: string): string[] => (term === '' ? [] : term.split('·'));

export function symbol(name: string): Polynomial {
  return new Map([[name, 1]]);
}

export function add(a: Polynomial, b: Polynomial): Polynomial {
  const sum = new Map(a);
  for (const [term, count] of b) sum.set(term, (sum.get(term) ?? 0) + count);
  return sum;
}

export function multiply(a: Polynomial, b: Polynomial): Polynomial {
  let product: Polynomial = new Map();
  for (const [s, m] of a) {
    for (const [t, n] of b) {
      const term = [...factorsOf(s), ...factorsOf(t)].sort().join('·');
      product = add(product, new Map([[term, m * n]]));
    }
  }
  return product;
}

export function equal(a: Polynomial, b: Polynomial): boolean {
  return a.size === b.size && [...a].every(([term, count]) => b.get(term) === count);
}

/** The polynomial as people write it: `a₀₀b₀₀ + a₀₁b₁₀`. */
export function formatPolynomial(p: Polynomial): string {
  return [...p]
    .sort(([s], [t]) => (s < t ? -1 : 1))
    .map(([term, count]) => `${count === 1 ? '' : count}${factorsOf(term).map(subscript).join('')}`)
    .join(' + ');
}
