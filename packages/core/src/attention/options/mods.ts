import { InvalidArgumentError } from '../../errors.ts';
import type { Mod } from '../../expr/mods/mod.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import type { SdpaOptions } from './options.ts';

/**
 * Checks both mods of a call and returns the tensors that they load from, by name. The mods share one
 * namespace, because they run in one kernel.
 * @throws as `checkMod`; InvalidArgumentError if they use one name for two tensors.
 */
export function modCaptures<T extends TensorDesc>({ scoreMod, maskMod }: SdpaOptions<T>): Record<string, T> {
  if (scoreMod !== undefined) checkMod('scoreMod', scoreMod, 'f32');
  if (maskMod !== undefined) checkMod('maskMod', maskMod, 'bool');
  const captures: Record<string, T> = { ...scoreMod?.captures };
  for (const [name, t] of Object.entries(maskMod?.captures ?? {})) {
    if (Object.hasOwn(captures, name) && captures[name] !== t)
      throw new InvalidArgumentError(
        'maskMod.captures',
        `has a different '${name}' than scoreMod.captures: rename one`,
      );
    captures[name] = t;
  }
  return captures;
}

/** Calls the check that comes with the mod: see `ExprTools`. */
function checkMod(name: string, mod: Mod<TensorDesc>, expected: 'f32' | 'bool'): void {
  if (typeof mod?.tools?.checkMod !== 'function')
    throw new InvalidArgumentError(name, 'must be made by scoreMod, maskMod or modOf');
  mod.tools.checkMod(name, mod, expected);
}
