import {
  callerShape,
  checkDesc,
  type GradientName,
  InvalidArgumentError,
  normaliseBackwardCall,
  normaliseCall,
  rowShape,
  type SdpaBackwardOptions,
  type SdpaGradients,
  type SdpaResult,
  type Tensor,
  type TensorDesc,
} from '@tilewise/core';
import { checkContext } from '../device/check-kind.ts';
import { demandSupport } from '../device/support.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { GpuTensor } from '../runtime/memory/gpu-tensor.ts';
import { backwardSupport } from './plan/plan-backward.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';
import { readingOf, toolsOf } from './tools/tools.ts';

/**
 * Results of forward, and its gradients by any gradient of o: a vector-Jacobian product, as automatic
 * differentiation wants it. `o`, `lse` and the optional results belong to the caller, who destroys them;
 * `release` does so for o and lse.
 */
export interface SdpaVjp<G extends GradientName> extends SdpaResult<GpuTensor> {
  /**
   * The gradients for one dO (as o) and dLse (as lse, default 0), new tensors each time; it may be called any
   * number of times. A dropout mask is that of the forward call.
   * @throws as `sdpaBackward`; InvalidArgumentError also when q, k, v, o, lse or a tensor of the options was
   * destroyed meanwhile, or after `release`.
   */
  backward(dO: GpuTensor, dLse?: GpuTensor): SdpaGradients<GpuTensor, G>;
  /** Gives o and lse back for reuse and lets go of all tensors. Later calls of `backward` throw. */
  release(): void;
}

/**
 * Attention forward, enqueued at once, with its backward pass to come. Until `release` it holds q, k, v, o,
 * lse and the tensors of the options, which is what backward needs, and nothing else; host tensors among the
 * options are uploaded for each call.
 * @throws as `sdpa` and `sdpaBackward`, all of it before any work.
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
 * Says what stands against backward before forward runs; o, lse and dO are there by their descriptions alone.
 */
function checkBackward(
  ctx: GpuContext,
  q: GpuTensor,
  k: GpuTensor,
  v: GpuTensor,
  options: SdpaBackwardOptions<GpuTensor | Tensor>,
): void {
  const tools = toolsOf(ctx, options);
  const reading = readingOf(tools);
  const { problem } = normaliseCall<GpuTensor | Tensor>({ q, k, v }, options, reading);
  const o = checkDesc({ dtype: problem.o.dtype, shape: callerShape(problem.o) });
  const lse = checkDesc({ dtype: 'f32', shape: rowShape(problem) });
  const inputs = { q, k, v, o, lse, dO: o };
  const { problem: backward } = normaliseBackwardCall<TensorDesc>(inputs, options, reading);
  demandSupport(backwardSupport(ctx, backward, tools).reasons);
}
