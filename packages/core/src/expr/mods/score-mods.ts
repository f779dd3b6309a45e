import { InvalidArgumentError, InvalidShapeError } from '../../errors.ts';
import { checkTensor } from '../../tensor/checks/check-tensor.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { abs, add, div, load, max, min, mul, sub, tanh } from '../build.ts';
import { type Mod, scoreMod } from './mod.ts';

/**
 * cap·tanh(score / cap): the score bounded by ±cap. Use it instead of the option `softcap` to compose it with
 * other expressions; like that option, it comes before bias and ALiBi.
 * @throws InvalidArgumentError unless cap > 0.
 */
export function softcapMod(cap: number): Mod<never> {
  if (!(cap > 0 && Number.isFinite(cap))) {
    throw new InvalidArgumentError('cap', `must be a positive number, got ${cap}`);
  }
  return scoreMod(({ score }) => mul(cap, tanh(div(score, cap))));
}

/**
 * score − slopes[h]·|q − kv| (ALiBi, https://arxiv.org/abs/2108.12409). Loads `alibiSlopes`: f32 (Hq).
 * @throws InvalidShapeError if slopes are not of rank 1.
 */
export function alibiMod<T extends TensorDesc>(slopes: T): Mod<T> {
  checkTensor('slopes', slopes);
  if (slopes.shape.length !== 1) {
    throw new InvalidShapeError('slopes', `must have shape (Hq), got [${slopes.shape}]`);
  }
  return scoreMod(({ score, h, q, kv }) => sub(score, mul(load('alibiSlopes', [h]), abs(sub(q, kv)))), {
    alibiSlopes: slopes,
  });
}

/**
 * score + table[h, kv − q + R], with distances beyond ±R counted as ±R: a learned relative position bias.
 * Loads `relativeBias`: float (Hq, 2R + 1).
 * @throws InvalidShapeError if the table does not have that shape.
 */
export function relativeBiasMod<T extends TensorDesc>(table: T): Mod<T> {
  checkTensor('table', table);
  const [, positions = 0] = table.shape;
  if (table.shape.length !== 2 || positions % 2 !== 1) {
    const rule = `must have shape (Hq, 2R + 1) for distances −R..R, got [${table.shape}]`;
    throw new InvalidShapeError('table', rule);
  }
  const reach = (positions - 1) / 2;
  return scoreMod(
    ({ score, h, q, kv }) => {
      const distance = max(-reach, min(sub(kv, q), reach));
      return add(score, load('relativeBias', [h, add(distance, reach)]));
    },
    { relativeBias: table },
  );
}
