/**
 * Plain data as text, different for different data: infinities, NaN and −0, which JSON lacks, become objects.
 */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_, x) =>
    typeof x === 'number' && !isPlain(x) ? { number: numberText(x) } : x,
  );
}

/** The value of an attribute as error messages show it. */
export function valueText(value: unknown): string {
  if (typeof value === 'number') return numberText(value);
  return Array.isArray(value) ? `[${value.map(valueText).join(',')}]` : JSON.stringify(value);
}

function isPlain(x: number): boolean {
  return Number.isFinite(x) && !Object.is(x, -0);
}

function numberText(x: number): string {
  return Object.is(x, -0) ? '-0' : String(x);
}
