import type { AttentionNumbers, Tokens, Vector } from './attention-numbers.ts';

/** The matrices of the chapter, and D, which is a column. */
export type MatrixName = 'Q' | 'K' | 'V' | 'dO' | 'S' | 'P' | 'O' | 'dP' | 'D' | 'dS' | 'dQ' | 'dK' | 'dV';

/** An element of a matrix. */
export interface Element {
  readonly matrix: MatrixName;
  readonly i: number;
  readonly j: number;
}

/**
 * How an element is computed: the rule in letters, its terms in numbers, and the elements that it depends on.
 */
export interface Making {
  readonly rule: string;
  readonly terms: string;
  readonly used: readonly Element[];
}

/** All matrices by their names. */
export function matricesOf(
  { q, k, v, dO }: Tokens,
  numbers: AttentionNumbers,
): Readonly<Record<MatrixName, readonly Vector[]>> {
  const { D, lse: _, ...rest } = numbers;
  return { Q: q, K: k, V: v, dO, D: D.map(value => [value]), ...rest };
}

const inputs: readonly MatrixName[] = ['Q', 'K', 'V', 'dO'];

/** The factors of a sum of products: for each index of summation, one element of each of two matrices. */
type Factors = (s: number) => readonly [Element, Element];

interface SumRule {
  /** The rule, with the element's indices in place of i and j. */
  readonly rule: (i: number, j: number) => string;
  readonly factors: (i: number, j: number) => Factors;
  /** Whether the sum runs over tokens or over channels. */
  readonly over: 'tokens' | 'channels';
}

const el = (matrix: MatrixName, i: number, j: number): Element => ({ matrix, i, j });

const sums: Partial<Record<MatrixName, SumRule>> = {
  S: {
    rule: (i, j) => `S[${i},${j}] = Σc Q[${i},c]·K[${j},c]`,
    factors: (i, j) => c => [el('Q', i, c), el('K', j, c)],
    over: 'channels',
  },
  O: {
    rule: (i, c) => `O[${i},${c}] = Σj P[${i},j]·V[j,${c}]`,
    factors: (i, c) => j => [el('P', i, j), el('V', j, c)],
    over: 'tokens',
  },
  dP: {
    rule: (i, j) => `dP[${i},${j}] = Σc dO[${i},c]·V[${j},c]`,
    factors: (i, j) => c => [el('dO', i, c), el('V', j, c)],
    over: 'channels',
  },
  D: {
    rule: i => `D[${i}] = Σc dO[${i},c]·O[${i},c]`,
    factors: i => c => [el('dO', i, c), el('O', i, c)],
    over: 'channels',
  },
  dQ: {
    rule: (i, c) => `dQ[${i},${c}] = Σj dS[${i},j]·K[j,${c}]`,
    factors: (i, c) => j => [el('dS', i, j), el('K', j, c)],
    over: 'tokens',
  },
  dK: {
    rule: (j, c) => `dK[${j},${c}] = Σi dS[i,${j}]·Q[i,${c}]`,
    factors: (j, c) => i => [el('dS', i, j), el('Q', i, c)],
    over: 'tokens',
  },
  dV: {
    rule: (j, c) => `dV[${j},${c}] = Σi P[i,${j}]·dO[i,${c}]`,
    factors: (j, c) => i => [el('P', i, j), el('dO', i, c)],
    over: 'tokens',
  },
};

/** Explains how an element is computed; null for elements of the inputs. */
export function makingOf(
  { matrix, i, j }: Element,
  matrices: Readonly<Record<MatrixName, readonly Vector[]>>,
  write: (value: number) => string,
): Making | null {
  if (inputs.includes(matrix)) return null;
  const value = (one: Element): number => matrices[one.matrix][one.i]?.[one.j] ?? Number.NaN;
  const result = write(value(el(matrix, i, j)));
  const tokens = matrices.Q.map((_, s) => s);
  const sum = sums[matrix];
  if (sum) {
    const indices = sum.over === 'tokens' ? tokens : (matrices.Q[0] ?? []).map((_, c) => c);
    const pairs = indices.map(sum.factors(i, j));
    const products = pairs.map(([a, b]) => `${write(value(a))}·${write(value(b))}`);
    return { rule: sum.rule(i, j), terms: `${products.join(' + ')} = ${result}`, used: pairs.flat() };
  }
  if (matrix === 'P') {
    const row = tokens.map(s => el('S', i, s));
    const exponents = row.map(one => `exp ${write(value(one))}`);
    return {
      rule: `P[${i},${j}] = exp S[${i},${j}] / Σl exp S[${i},l]`,
      terms: `exp ${write(value(el('S', i, j)))} / (${exponents.join(' + ')}) = ${result}`,
      used: row,
    };
  }
  const used = [el('P', i, j), el('dP', i, j), el('D', i, 0)] as const;
  const [p, dP, D] = used.map(one => write(value(one)));
  return {
    rule: `dS[${i},${j}] = P[${i},${j}]·(dP[${i},${j}] − D[${i}])`,
    terms: `${p}·(${dP} − ${D}) = ${result}`,
    used,
  };
}
