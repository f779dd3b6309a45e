import {
  type GradientName,
  InvalidArgumentError,
  type SdpaBackwardOptions,
  type SdpaGradients,
  type SdpaResult,
  type Tensor,
  type TensorDesc,
} from '@tilewise/core';
import {
  callerShape,
  checkDesc,
  normaliseBackwardCall,
  normaliseCall,
  rowShape,
} from '@tilewise/core/engine';
import { checkContext } from '../device/check-kind.ts';
import { demandSupport } from '../device/support.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { GpuTensor } from '../runtime/memory/gpu-tensor.ts';
import { backwardSupport } from './plan/plan-backward.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';
import { readersOf, toolsOf } from './tools/tools.ts';

/**
 * The results of forward, and a function for the gradients: a vector-Jacobian product, as automatic
 * differentiation needs it. `o`, `lse` and the optional results belong to the caller, who destroys them;
 * `release` destroys o and lse.
 */
export interface SdpaVjp<G extends GradientName> extends SdpaResult<GpuTensor> {
  /**
   * The gradients for one dO (in the shape of o) and dLse (in the shape of lse, default 0), in new tensors.
   * May be called any number of times. The dropout mask is that of the forward call.
   * @throws as `sdpaBackward`; also InvalidArgumentError if q, k, v, o, lse or a tensor of the options has
   * been destroyed, or after `release`.
   */
  backward(dO: GpuTensor, dLse?: GpuTensor): SdpaGradients<GpuTensor, G>;
  /**
   * Gives o and lse back for reuse and drops the references to all tensors. Later calls of `backward` throw.
   */
  release(): void;
}

/**
 * Attention forward, enqueued at once, with a function for its gradients. Until `release`, the result holds
 * the tensors that backward needs and no others: q, k, v, o, lse and the tensors of the options. Host tensors
 * in the options are uploaded for each call.
 * @param q (B, Hq, Sq, Dqk), as for `sdpa`.
 * @param k (B, Hk, Skv, Dqk) likewise.
 * @param v (B, Hv, Skv, Dv) likewise.
 * @param options the options of forward, and the `gradients` that `backward` returns.
 * @throws as `sdpa` and `sdpaBackward`, in both cases before any work.
 */
export function sdpaVjp<G extends GradientName = 'dq' | 'dk' | 'dv'>(
  ctx: GpuContext,
  q: GpuTensor,
  k: GpuTensor,
  v: GpuTensor,
  options: SdpaBackwardOptions<GpuTensor | Tensor, G> = {},
): SdpaVjp<G> {
  checkContext(ctx);
  for (const [name, tensor] of Object.entries({ q, k, v })) ctx.checkOwn(name, tensor);
  checkBackward(ctx, q, k, v, options);
  const results = sdpa(ctx, q, k, v, options);
  const { outputs: _, ...kept } = options;
  let held: Held | null = { q, k, v, o: results.o, lse: results.lse };
  return {
    ...results,
    backward(dO, dLse) {
      if (!held) throw new InvalidArgumentError('backward', 'was called after release');
      return sdpaBackward<G>(ctx, { ...held, dO, ...(dLse ? { dLse } : {}) }, kept);
    },
    release() {
      held?.o.destroy();
      held?.lse.destroy();
      held = null;
    },
  };
}

type Held = Readonly<Record<'q' | 'k' | 'v' | 'o' | 'lse', GpuTensor>>;

/**
 * Refuses an unsupported backward pass before forward runs. o, lse and dO do not exist yet, so only their
 * descriptions are checked.
 */
function checkBackward(
  ctx: GpuContext,
  q: GpuTensor,
  k: GpuTensor,
  v: GpuTensor,
  options: SdpaBackwardOptions<GpuTensor | Tensor>,
): void {
  const tools = toolsOf(ctx, options);
  const readers = readersOf(tools);
  const { problem } = normaliseCall<GpuTensor | Tensor>({ q, k, v }, options, readers);
  const o = checkDesc({ dtype: problem.o.dtype, shape: callerShape(problem.o) });
  const lse = checkDesc({ dtype: 'f32', shape: rowShape(problem) });
  const inputs = { q, k, v, o, lse, dO: o };
  const { problem: backward } = normaliseBackwardCall<TensorDesc>(inputs, options, readers);
  demandSupport(backwardSupport(ctx, backward, tools).reasons);
}
