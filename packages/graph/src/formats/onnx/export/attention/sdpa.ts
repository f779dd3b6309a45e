import { UnsupportedOperationError } from '../../../../errors.ts';
import { describeNode } from '../../../../ir/node.ts';
import { attentionNames } from '../../../../ops/attention/names.ts';
import { settingsOf } from '../../../../ops/attention/sdpa.ts';
import type { Translation } from '../translation.ts';
import { writeAttention } from './attention.ts';
import { type Mask, writeMask } from './mask.ts';

/** The operands of an attention operation that ONNX has. */
const operandsOfOnnx: readonly string[] = ['q', 'k', 'v', 'bias', 'mask'];

/** Attention as one operation, as far as ONNX's `Attention` can express it. */
export const attentionOperation: Translation = (node, write) => {
  const refuse = (what: string): never => {
    throw new UnsupportedOperationError(describeNode(node), `has ${what}, which Attention of ONNX has not`);
  };
  const { operands, results } = attentionNames(node.attributes);
  const { scale, softcap, window, ...others } = settingsOf(node.attributes);
  const strange = [...operands.filter(name => !operandsOfOnnx.includes(name)), ...Object.keys(others)];
  if (strange.length > 0) refuse(strange.join(' and '));
  if (results.length !== 1 || results[0] !== 'o') refuse(`the results ${results.join(' and ')}`);
  const causal = window?.right === 0;
  if (window && !(causal && window.left === undefined && window.align !== 'bottom-right'))
    refuse('a band that is not causal from the first key');

  const tensor = (name: string) => node.inputs[(operands as readonly string[]).indexOf(name)];
  const [q, k, v, bias, mask] = operandsOfOnnx.map(tensor);
  const [[, , Sq = -1] = [], [, Hk, Skv = -1] = [], [, Hv] = []] = [q, k, v].map(t => write.shapeOf(t) ?? []);
  if (write.shapeOf(k)?.length !== 4 || Hk !== Hv) refuse('heads of k and v that may differ');
  const masks: Mask[] = [
    ...(bias ? [{ tensor: bias, kind: 'added' } as const] : []),
    ...(mask ? [{ tensor: mask, kind: 'selected' } as const] : []),
  ];
  if (masks.length > 0 && (Sq < 0 || Skv < 0)) refuse('a mask for extents that are not known');
  const [o] = node.outputs;
  // As everywhere, scores are f32 whatever the operands are.
  const dtype = 'f32';
  const names = {
    ...{ q: write.as(q, dtype), k: write.as(k, dtype), v: write.as(v, dtype) },
    mask: writeMask(masks, dtype, { rank: 4, Hk, groups: 1, Sq, Skv }, write),
  };
  const numbers = {
    ...(scale !== undefined && { scale }),
    ...(softcap !== undefined && { softcap }),
    causal,
  };
  writeAttention(o, dtype, names, numbers, write);
};
