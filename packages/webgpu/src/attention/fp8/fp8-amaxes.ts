import {
  type AttentionProblem,
  type BackwardAmaxName,
  type BackwardProblem,
  type ForwardAmaxName,
  fp8AmaxNames,
  fp8ScalarNames,
} from '@tilewise/core';

export type AmaxName = ForwardAmaxName | BackwardAmaxName;

/** Largest values, in the order in which they follow the scalars in the list `fp8`. */
export const amaxNames: readonly AmaxName[] = fp8AmaxNames;

/** Where a largest value lies in the list `fp8`, in elements. */
export const amaxPlace = (name: AmaxName): number => fp8ScalarNames.length + amaxNames.indexOf(name);

/** Elements of the list `fp8`: the scalars, then the largest values. */
export const fp8ListLength: number = fp8ScalarNames.length + amaxNames.length;

/** The largest values that a forward problem asks for. */
export function forwardAmaxes({ outputs }: AttentionProblem): ForwardAmaxName[] {
  return (['amaxS', 'amaxO'] as const).filter(name => outputs[name]);
}

/** The largest values that a backward problem asks for. */
export function backwardAmaxes({ outputs }: BackwardProblem): BackwardAmaxName[] {
  return (['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const).filter(name => outputs[name]);
}
