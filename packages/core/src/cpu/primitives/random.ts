import { checkProbability } from '@tilewise/philox/errors';
import type { RandomPrimitive } from '../../primitive/primitive.ts';
import { elementCount } from '../../tensor/shape.ts';
import type { Tensor, TensorDesc } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { copyBack, readable, writable } from '../operands/resident.ts';
import { shareStep } from '../steps/share-step.ts';
import type { Step } from '../steps/step.ts';
import type { SharedFrom } from '../team/sharing.ts';
import { taskKinds } from '../team/tasks.ts';
import type { KernelPrimitive } from './kernel-primitive.ts';

/** The addresses of the inputs. */
type Addresses = readonly [seed: number, offset: number, p: number];

/** In elements. */
const sharedFrom: SharedFrom = { awake: 2 ** 14, asleep: 2 ** 18 };
/** The elements that the kernel draws at once. */
const DRAWN_AT_ONCE = 16;

/**
 * Prepares a Bernoulli draw into bytes, as `Dropout` needs it. Null if only the host can run it: other
 * distributions and dtypes.
 */
export function prepareRandom(
  { distribution }: RandomPrimitive,
  { dtype, shape }: TensorDesc,
): KernelPrimitive | null {
  if (distribution !== 'bernoulli' || (dtype !== 'bool' && dtype !== 'u8')) return null;
  const count = elementCount(shape);

  const addressesOf = ({ memory }: Kernels, inputs: readonly Tensor[]): Addresses => {
    const [seed, offset, p] = inputs.map(tensor => readable(memory, tensor));
    return [seed, offset, p];
  };

  const drawStep = (target: number, addresses: Addresses, p: Tensor): Step => ({
    ...{ size: count, sharedFrom, isRepeatable: true },
    check: () => {
      checkProbability('p', p.get());
    },
    tasks(threads) {
      const each = Math.ceil(count / threads / DRAWN_AT_ONCE) * DRAWN_AT_ONCE;
      return Array.from({ length: threads }, (_, n) => {
        const first = Math.min(n * each, count);
        return [taskKinds.draw, first, Math.min(first + each, count), target, ...addresses];
      });
    },
  });

  return {
    run(kernels, inputs, [to], team) {
      const { memory, matrices } = kernels;
      if (!matrices) return false;
      checkProbability('p', inputs[2].get());
      memory.reset();
      const target = writable(memory, to);
      const addresses = addressesOf(kernels, inputs);
      if (!team || !shareStep(kernels, drawStep(target, addresses, inputs[2]), team))
        matrices.drawBernoulli(0, count, target, ...addresses);
      copyBack(memory, to, target);
      return true;
    },
    steps: (kernels, inputs, [to]) => [
      drawStep(writable(kernels.memory, to), addressesOf(kernels, inputs), inputs[2]),
    ],
  };
}
