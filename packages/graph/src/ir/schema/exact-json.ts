/**
 * Plain data as text, different for different data: JSON has no word for infinite numbers, NaN and −0, which are written as an object.
 */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_, x) =>
    typeof x === 'number' && !isPlain(x) ? { number: numberText(x) } : x,
  );
}

/** A value of an attribute as errors show it. */
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
