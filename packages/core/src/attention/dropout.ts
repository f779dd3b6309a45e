import { type DropoutSchemeName, dropoutRules, toU64 } from '@tilewise/philox';
import { InvalidArgumentError } from '../errors.ts';
import type { TensorDesc } from '../tensor/tensor.ts';
import { describeBroadcast } from './describe.ts';
import type { SdpaOptions } from './options.ts';
import type { DropoutDesc } from './problem.ts';

/**
 * The dropout option with its defaults; null when nothing is dropped (p = 0).
 * @throws InvalidArgumentError for p outside [0, 1) or one that the scheme has no mask for, a seed or offset that is no unsigned 64-bit integer, or not exactly
 * one of mask and seed.
 */
export function dropoutDesc(
  dropout: SdpaOptions<TensorDesc>['dropout'],
  target: readonly [number, number, number, number],
): DropoutDesc | null {
  if (dropout === undefined) return null;
  if ('mask' in dropout && dropout.mask !== undefined) {
    if ('seed' in dropout && dropout.seed !== undefined) {
      throw new InvalidArgumentError('dropout', 'must have a mask or a seed, got both');
    }
    const { p = 0 } = dropout;
    checkProbability(p);
    const { scale = 1 / (1 - p) } = dropout;
    if (!Number.isFinite(scale))
      throw new InvalidArgumentError('dropout.scale', `must be finite, got ${scale}`);
    const mask = describeBroadcast('dropout.mask', dropout.mask, target);
    return mask && { kind: 'mask', scale, mask };
  }
  if (!('seed' in dropout))
    throw new InvalidArgumentError('dropout', 'must have a mask or a seed, got neither');
  const { p, seed, offset = 0, scheme = 'torch-efficient' } = dropout;
  checkProbability(p);
  checkScheme(scheme, p);
  const words = { seed: toU64(seed, 'dropout.seed'), offset: toU64(offset, 'dropout.offset') };
  return p === 0 ? null : { kind: 'philox', p, scale: 1 / (1 - p), scheme, ...words };
}

function checkProbability(p: number): void {
  if (!(p >= 0 && p < 1)) throw new InvalidArgumentError('dropout.p', `must be a number in [0, 1), got ${p}`);
}

function checkScheme(scheme: DropoutSchemeName, p: number): void {
  if (!Object.hasOwn(dropoutRules, scheme)) {
    throw new InvalidArgumentError(
      'dropout.scheme',
      `must be one of ${Object.keys(dropoutRules).join(', ')}, got ${String(scheme)}`,
    );
  }
  dropoutRules[scheme](p, 'dropout.p');
}
