/** The FP8 scalars that forward takes. */
export const forwardScalars = ['descaleQ', 'descaleK', 'descaleV', 'descaleS', 'scaleS', 'scaleO'] as const;

/** The FP8 scalars that backward takes. */
export const backwardScalars = [
  'descaleQ',
  'descaleK',
  'descaleV',
  'descaleO',
  'descaleDO',
  'descaleS',
  'descaleDP',
  'scaleS',
  'scaleDQ',
  'scaleDK',
  'scaleDV',
  'scaleDP',
] as const;

/** Picks the scalars with the given names. */
export function scalarsOf<A, K extends keyof A>(args: A, names: readonly K[]): Pick<A, K> {
  return Object.fromEntries(names.map(name => [name, args[name]])) as Pick<A, K>;
}
