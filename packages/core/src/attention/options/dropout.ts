import { checkSchemeProbability, dropoutSchemeNames, toU64 } from '@tilewise/philox';
import { checkOneOf, InvalidArgumentError } from '../../errors.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { describeBroadcast } from '../problem/describe.ts';
import type { DropoutDesc } from '../problem/problem.ts';
import type { PhiloxDropout, SdpaOptions } from './options.ts';

/**
 * The dropout option with its defaults; null if nothing is dropped (p = 0).
 * @throws InvalidArgumentError for a p outside [0, 1) or one for which the scheme has no mask, for a seed or
 * offset that is not an unsigned 64-bit integer, for neither or both of mask and seed, or for a field
 * that has no effect beside another.
 */
export function dropoutDesc(
  dropout: SdpaOptions<TensorDesc>['dropout'],
  target: readonly [number, number, number, number],
): DropoutDesc | null {
  if (dropout === undefined) return null;
  checkFields(dropout);
  if ('mask' in dropout && dropout.mask !== undefined) {
    const { p = 0 } = dropout;
    checkProbability(p);
    const { scale = 1 / (1 - p) } = dropout;
    if (!Number.isFinite(Math.fround(scale)))
      throw new InvalidArgumentError('dropout.scale', `must be finite, got ${scale}`);
    const mask = describeBroadcast('dropout.mask', dropout.mask, target);
    return mask && { kind: 'mask', scale, mask };
  }
  const { p, seed, offset = 0, scheme = 'torch-efficient' } = dropout as PhiloxDropout;
  checkProbability(p);
  checkOneOf('dropout.scheme', scheme, dropoutSchemeNames);
  checkSchemeProbability(scheme, p, 'dropout.p');
  const words = { seed: toU64(seed, 'dropout.seed'), offset: toU64(offset, 'dropout.offset') };
  return p === 0 ? null : { kind: 'philox', p, scale: 1 / (1 - p), scheme, ...words };
}

/** For each field of `dropout`, the fields that have no effect beside it. */
const unread: Readonly<Record<string, readonly string[]>> = {
  mask: ['offset', 'scheme'],
  seed: ['scale'],
  scale: ['p'],
};

/** The fields that are given, and not undefined, must agree on the kind of dropout. */
function checkFields(dropout: object): void {
  const given = Object.entries(dropout).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const sources = ['mask', 'seed'].filter(name => given.includes(name));
  if (sources.length !== 1) {
    const got = sources.length === 0 ? 'neither' : 'both';
    throw new InvalidArgumentError('dropout', `must have either a mask or a seed, got ${got}`);
  }
  for (const name of given) {
    const idle = unread[name]?.find(other => given.includes(other));
    if (idle)
      throw new InvalidArgumentError(`dropout.${idle}`, `has no effect beside a ${name}: leave one out`);
  }
}

function checkProbability(p: number): void {
  if (!(p >= 0 && p < 1)) throw new InvalidArgumentError('dropout.p', `must be a number in [0, 1), got ${p}`);
}
