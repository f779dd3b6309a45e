import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import { attentionNames } from '../../../../ops/attention/names.ts';
import { settingsOf } from '../../../../ops/attention/schema.ts';
import type { Translation } from '../translation.ts';
import { writeAttention } from './attention.ts';
import { writeMask } from './mask.ts';

/** The operands of an attention operation that ONNX supports. */
const operandsOfOnnx: readonly string[] = ['q', 'k', 'v', 'bias', 'mask', 'seqLensKv'];

/** Attention as one operation, as far as ONNX's `Attention` can express it. */
export const attentionOperation: Translation = (node, write) => {
  const refuse = (what: string): never =>
    write.refuse(`has ${what}, which ONNX's Attention does not support`);
  const { operands, results } = attentionNames(node.attributes);
  const { scale, softcap, window, ...others } = settingsOf(node.attributes);
  const unknown = [...operands.filter(name => !operandsOfOnnx.includes(name)), ...Object.keys(others)];
  if (unknown.length > 0) refuse(unknown.join(' and '));
  if (scale !== undefined && !(scale > 0)) refuse(`a scale of ${scale}`);
  if (results.length !== 1 || results[0] !== 'o') refuse(`the results ${results.join(' and ')}`);
  const tensor = (name: string) => node.inputs[(operands as readonly string[]).indexOf(name)];
  const [q, k, v, bias, mask, lengths] = operandsOfOnnx.map(tensor);
  const [[, , Sq = -1] = [], [, Hk, Skv = -1] = [], [, Hv] = []] = [q, k, v].map(t => write.shapeOf(t) ?? []);
  if (write.shapeOf(k)?.length !== 4 || Hk !== Hv) refuse('heads of k and v that may differ');
  if ((bias || mask) && (Sq < 0 || Skv < 0)) refuse('a mask for unknown extents');
  const [o] = node.outputs;
  // As in every engine, scores are f32, whatever the dtype of the operands.
  const dtype = 'f32';
  const isLast = window?.align === 'bottom-right';
  // With lengths, ONNX aligns the last query of an entry with its last key; without lengths, the diagonal
  // begins after the cached keys.
  if (window && lengths && !isLast) refuse('lengths with a band from the first key');
  if (isLast && (Sq < 0 || Skv < Sq))
    refuse('a band from the last key for unknown extents or for more queries than keys');
  // A band without a left bound may also begin after a cache, which onnxruntime supports.
  const isOpen = window?.left === undefined && !isLast && !lengths && (window?.right ?? 0) < Skv;
  const past = isLast && !lengths ? Skv - Sq : isOpen ? (window?.right ?? 0) : 0;
  const cached = (tensor: LogicalTensor): { name: string; past: string | null } => {
    const name = write.as(tensor, dtype);
    const part = (start: number, end: number): string =>
      write.node('Slice', [name, ...[start, end, 2].map(n => write.integers([n]))]);
    return past === 0 ? { name, past: null } : { name: part(past, Skv), past: part(0, past) };
  };
  const [keys, values] = [cached(k), cached(v)];
  const names = {
    ...{ q: write.as(q, dtype), k: keys.name, v: values.name },
    mask: writeMask({ added: bias, selected: mask }, dtype, { rank: 4, Hk, groups: 1, Sq, Skv }, write),
    pastK: keys.past,
    pastV: values.past,
    lengths: lengths ? write.as(lengths, 'i64') : null,
  };
  const right = isOpen && window?.right ? 0 : window?.right;
  writeAttention(o, dtype, names, { scale, softcap, left: window?.left, right }, write);
};
