const maxElements = 16;

/** Formats a logged value: strings unchanged, the first elements of a list, the fields of plain objects. */
export function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : inner(value, 3);
}

function inner(value: unknown, depth: number): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return list(value as ArrayLike<unknown>, depth);
  if (depth === 0) return '{…}';
  const fields = Object.entries(value).map(([name, field]) => `${name}: ${inner(field, depth - 1)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

function list(values: ArrayLike<unknown>, depth: number): string {
  if (depth === 0) return '[…]';
  const shown = Array.from({ length: Math.min(values.length, maxElements) }, (_, n) =>
    inner(values[n], depth - 1),
  );
  const more = values.length - shown.length;
  return `[${[...shown, ...(more > 0 ? [`… ${more} more`] : [])].join(', ')}]`;
}

function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}
