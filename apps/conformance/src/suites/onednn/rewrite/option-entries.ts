/** Parses `A:x+B:y:z` to [[A, x], [B, y, z]]; empty if an option is absent or states benchdnn's default. */
export function entries(option: string | undefined): string[][] {
  return option && option !== 'default' ? option.split('+').map(entry => entry.split(':')) : [];
}

/** An option with a value for each id. */
export function byId(option: string | undefined): Map<number, string> {
  return new Map(entries(option).map(([id, value = '']) => [Number(id), value]));
}
