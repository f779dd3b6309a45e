import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { gathered } from './moved.ts';

/** The index of the element that fills a position outside a dimension, by the mode of the pad. */
function paddedFrom(call: NodeCall, mode: string): (i: number, extent: number) => number {
  const wrapped = (i: number, extent: number): number => ((i % extent) + extent) % extent;
  switch (mode) {
    case 'edge':
      return (i, extent) => Math.min(extent - 1, Math.max(0, i));
    case 'wrap':
      return wrapped;
    case 'reflect':
      return (i, extent) => {
        const period = Math.max(1, 2 * (extent - 1));
        const at = wrapped(i, period);
        return Math.min(at, period - at);
      };
    default:
      return call.fail(`has the mode '${mode}', which is not supported`);
  }
}

/** Adds elements before and after dimensions, or removes them for negative counts. */
export const pad: OnnxOperator = call => {
  const value = call.input(0);
  const mode = call.text('mode', 'constant');
  const { shape } = value;
  const axes = call.has(3) ? call.numbers(3).map(d => call.axis(d, shape.length)) : shape.map((_, d) => d);
  // The attribute had another name in the first version.
  const attribute = call.version < 2 ? 'paddings' : 'pads';
  const given = call.version < 11 ? (call.ints(attribute) ?? []) : call.numbers(1);
  if (given.length !== 2 * axes.length) call.fail(`has ${given.length} pads for ${axes.length} axes`);
  const count = (d: number, side: 0 | 1): number => {
    const n = axes.indexOf(d);
    return n < 0 ? 0 : given[n + side * axes.length];
  };
  const [before, after] = [shape.map((_, d) => count(d, 0)), shape.map((_, d) => count(d, 1))];
  const to = shape.map((n, d) => n + before[d] + after[d]);
  const fill = call.version < 11 ? call.float('value', 0) : call.has(2) ? (call.numbers(2)[0] ?? 0) : 0;
  const { draft } = call;
  if (mode !== 'constant') {
    const source = paddedFrom(call, mode);
    return gathered(call, value, to, (i, d) => source(i - before[d], shape[d]));
  }
  return result({ type: value.type, shape: to }, () => {
    // Negative pads remove elements.
    const cut = shape.reduce((tensor, extent, axis) => {
      const [low, high] = [Math.max(0, -before[axis]), Math.max(0, -after[axis])];
      return draft.slice(tensor, { axis, start: low, size: extent - low - high });
    }, value.tensor());
    const grown = { before: before.map(n => Math.max(0, n)), after: after.map(n => Math.max(0, n)) };
    if ([...grown.before, ...grown.after].every(n => n === 0)) return cut;
    return draft.op('Pad', [cut], { ...grown, value: fill });
  });
};
