/** The values of each factor, by name. */
export type Factors = Readonly<Record<string, readonly unknown[]>>;

/** One value of each factor. */
export type Choice<F extends Factors> = { readonly [K in keyof F]: F[K][number] };

/**
 * Choices in which every two values of two factors occur together at least once: a small part of the full
 * product, which finds the errors that one value or a pair of values causes. The list is the same every time.
 */
export function pairwise<const F extends Factors>(factors: F): Choice<F>[] {
  const names = Object.keys(factors);
  const missing = new Set<string>();
  const pair = (a: number, x: number, b: number, y: number): string => `${a}:${x} ${b}:${y}`;
  const values = (a: number): number[] => factors[names[a]].map((_, x) => x);
  for (let a = 0; a < names.length; a++)
    for (let b = a + 1; b < names.length; b++)
      for (const x of values(a)) for (const y of values(b)) missing.add(pair(a, x, b, y));

  const rows: number[][] = [];
  while (missing.size > 0) {
    // Starts from a missing pair, then chooses for each factor the value that completes the most missing
    // pairs.
    const [first = ''] = missing;
    const row = names.map(() => -1);
    for (const [a, x] of first.split(' ').map(one => one.split(':').map(Number))) row[a] = x;
    const gain = (b: number, y: number): number =>
      row.filter((x, a) => x >= 0 && a !== b && missing.has(a < b ? pair(a, x, b, y) : pair(b, y, a, x)))
        .length;
    for (let b = 0; b < names.length; b++) {
      if (row[b] >= 0) continue;
      // Ties rotate, so that values without missing pairs still take turns.
      const turn = rows.length % values(b).length;
      const order = [...values(b).slice(turn), ...values(b).slice(0, turn)];
      row[b] = order.reduce((best, y) => (gain(b, y) > gain(b, best) ? y : best));
    }
    for (let a = 0; a < names.length; a++)
      for (let b = a + 1; b < names.length; b++) missing.delete(pair(a, row[a], b, row[b]));
    rows.push(row);
  }
  return rows.map(
    row => Object.fromEntries(names.map((name, a) => [name, factors[name][row[a]]])) as Choice<F>,
  );
}
