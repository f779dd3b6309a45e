import { add, layerNorm, rmsNorm, type Variable } from '@tilewise/graph/ops';
import { type Scope, weight } from './scope.ts';

/** How rows are normalised. */
export interface NormOptions {
  readonly kind: 'layer' | 'rms';
  readonly epsilon: number;
  /** The number added to the stored weight: 1 for Gemma. */
  readonly offset?: number | undefined;
}

/** A norm over the last dimension with `name.weight`, and `name.bias` of a LayerNorm. */
export function norm(
  scope: Scope,
  x: Variable,
  name: string,
  { kind, epsilon, offset = 0 }: NormOptions,
): Variable {
  const dim = x.shape[x.shape.length - 1];
  const stored = weight(scope, `${name}.weight`, [dim], offset === 0 ? 1 : 0);
  const gamma = offset === 0 ? stored : add(stored, offset);
  if (kind === 'rms') return rmsNorm(x, gamma, { epsilon });
  return layerNorm(x, gamma, weight(scope, `${name}.bias`, [dim], 0), { epsilon });
}
