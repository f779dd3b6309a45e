import type { BackwardProblem } from '@tilewise/core';
import { wordTensor } from '../../../codegen/formats/tensor-binding.ts';
import { type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../../codegen/shader-part.ts';
import { isCpu } from '../../../device/capabilities/broadcasting.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import { fp8Kernel } from '../../config/fp8-steps.ts';
import type { KernelConfig } from '../../config/kernel-config.ts';
import { readOperand } from '../../layout/operand.ts';
import { rowAddressing } from '../../layout/row-results.ts';
import { sequencePart } from '../../layout/sequence.ts';

/** The number of lanes that share a row, and of rows in a workgroup. */
const gpuShape = { lanesPerRow: 8, rowsPerGroup: 8 };

/**
 * On a CPU, each lane has a row of its own, because the barrier between lanes would take longer than
 * everything else.
 */
const cpuShape = { lanesPerRow: 1, rowsPerGroup: 32 };

/**
 * Values per row that backward needs, computed once: `workspace` = (lse, δ) with δ = rowsum(o ∘ dO) − dLse
 * (Dao 2022, B.4; the gradient of lse adds P to the score's gradient). The lse of a row without keys,
 * −Infinity, is replaced by a large finite number, so that exp(s − lse) is 0.
 */
export function deltaKernel(
  problem: BackwardProblem,
  config: KernelConfig,
  capabilities: Capabilities,
): KernelSpec {
  const { forward, dO, dLse } = problem;
  const { B, Hq, Sq } = forward;
  const { lanesPerRow, rowsPerGroup } = isCpu(capabilities) ? cpuShape : gpuShape;
  const lanes = lanesPerRow * rowsPerGroup;
  const tiles = Math.ceil(Sq / rowsPerGroup);
  const fp8 = fp8Kernel(config.tools.fp8?.arithmetic, forward, ['delta']);
  const body = `
  let h = (group / P.tiles) % P.Hq;
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let i = (group % P.tiles) * ${rowsPerGroup}u + lane / ${lanesPerRow}u;
  let x = lane % ${lanesPerRow}u;
  var sum = 0.0;
  if (i < seq.length_q) {
    let row_o = o_row(seq, h, i);
    let row_dO = dO_row(seq, h, i);
    for (var d = 4u * x; d < P.Dv; d += ${4 * lanesPerRow}u) {
      sum += dot(o_load4(row_o, d), dO_load4(row_dO, d));
    }
  }
  ${lanesPerRow > 1 ? 'partial[lane] = sum;\n  workgroupBarrier();' : ''}
  if (x == 0u && i < seq.length_q) {
    let at = row_at(seq, h, i);
    ${lanesPerRow > 1 ? `for (var n = 1u; n < ${lanesPerRow}u; n++) {\n      sum += partial[lane + n];\n    }` : ''}
    // δ = rowsum(O ∘ dO) − dLse
    var delta = ${fp8.apply('delta', 'vec4f(sum)')}.x;
    ${dLse ? 'delta -= dLse[P.dLse_base + at];' : ''}
    let bits = lse[P.lse_base + at];
    workspace[P.workspace_base + at] = vec2f(select(bitcast<f32>(bits), 3e38, bits == 0xff800000u), delta);
  }`;
  return kernelSpec({
    name: 'attention delta',
    groups: { batches: B, heads: Hq, tiles, side: 'q', rows: rowsPerGroup },
    workgroupSize: lanes,
    parts: [
      { uniforms: u32Uniforms({ tiles }) },
      ...fp8.parts,
      ...sequencePart(forward, { o: forward.o, dO }),
      readOperand('o', forward.o, config),
      readOperand('dO', dO, config),
      rowAddressing(forward),
      wordTensor('lse', 'read', 'u32'),
      ...(dLse ? [wordTensor('dLse', 'read', 'f32')] : []),
      wordTensor('workspace', 'read_write', 'vec2f'),
    ],
    declarations: lanesPerRow > 1 ? `var<workgroup> partial: array<f32, ${lanes}>;` : '',
    body,
    bindingBudget: config.bindingBudget,
  });
}
