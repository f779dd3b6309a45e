import type { BackwardProblem } from '@tilewise/core';
import { elementStore } from '../../../codegen/formats/element-store.ts';
import { wordTensor } from '../../../codegen/formats/tensor-binding.ts';
import { type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../../codegen/shader-part.ts';
import type { KernelConfig } from '../../config/kernel-config.ts';
import { listElement, listPart } from '../../layout/list.ts';
import { rowAddressing } from '../../layout/row-results.ts';
import { sequencePart } from '../../layout/sequence.ts';

const lanes = 64;

/**
 * dSink[h] = Σ −e^{sink − lse} · δ over the rows of head h (the sink is a key with P = e^{sink − lse} and dP
 * = 0).
 */
export function dsinkKernel(problem: BackwardProblem, { bindingBudget }: KernelConfig): KernelSpec {
  const { forward } = problem;
  const body = `
  let h = group;
  let logit = ${listElement('sink', 'h')};
  var sum = 0.0;
  for (var b = 0u; b < P.B; b++) {
    let seq = sequence_at(b);
    for (var i = lane; i < seq.length_q; i += ${lanes}u) {
      let row = workspace[P.workspace_base + row_at(seq, h, i)];
      sum -= exp(logit - row.x) * row.y;
    }
  }
  partial[lane] = sum;
  workgroupBarrier();
  if (lane == 0u) {
    var total = 0.0;
    for (var n = 0u; n < ${lanes}u; n++) {
      total += partial[n];
    }
    dsink_store(h, total);
  }`;
  return kernelSpec({
    name: 'attention dsink',
    groups: forward.Hq,
    workgroupSize: lanes,
    parts: [
      { uniforms: u32Uniforms({ B: forward.B }) },
      ...sequencePart(forward, {}),
      rowAddressing(forward),
      wordTensor('workspace', 'read', 'vec2f'),
      listPart('sink', 'f32'),
      elementStore('dsink', 'f32'),
    ],
    declarations: `var<workgroup> partial: array<f32, ${lanes}>;`,
    body,
    bindingBudget,
  });
}
