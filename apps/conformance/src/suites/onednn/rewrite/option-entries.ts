/**
 * `A:x+B:y:z` as [[A, x], [B, y, z]]; nothing where an option is absent or says what benchdnn does by itself.
 */
export function entries(option: string | undefined): string[][] {
  return option && option !== 'default' ? option.split('+').map(entry => entry.split(':')) : [];
}

/** An option that has a value for each id. */
export function byId(option: string | undefined): Map<number, string> {
  return new Map(entries(option).map(([id, value = '']) => [Number(id), value]));
}
