import type { OneDnnOp } from '@tilewise/graph';
import type { GraphCase } from './case-file.ts';
import { entries } from './option-entries.ts';
import { readStrides } from './shape-option.ts';

/**
 * Group sizes of dequantization and shapes of its scales and zero points. Each follows from the other, so a
 * case that gives only one of them changes both.
 */
export function groupsAndScales(ops: readonly OneDnnOp[], graphCase: Omit<GraphCase, 'inputs'>): OneDnnOp[] {
  const grouped = new Set(
    entries(graphCase['op-attrs'])
      .filter(([, ...settings]) => settings.join(':').includes('group_shape:'))
      .map(([id]) => Number(id)),
  );
  const shaped = new Set(entries(graphCase['in-shapes']).map(([id]) => Number(id)));
  return ops.map(op => {
    const { attrs = {}, inputs } = op;
    const [source, scales] = inputs;
    const group = attrs.group_shape;
    const isOpen = attrs.qtype?.value !== 'per_group' || source.shape.length !== scales?.shape.length;
    if (isOpen || !Array.isArray(group?.value)) return op;
    const sizes = group.value.map(Number);
    if (grouped.has(op.id)) {
      if (inputs.some(({ id }) => shaped.has(id))) return op;
      const shape = source.shape.map((extent, d) => Math.floor(extent / sizes[d]));
      if (String(shape) === String(scales.shape)) return op;
      const fitted = inputs.map((t, n) => (n === 0 ? t : { ...t, shape, stride: readStrides('', shape) }));
      return { ...op, inputs: fitted };
    }
    const value = source.shape.map((extent, d) => Math.floor(extent / (scales.shape[d] || 1)));
    return { ...op, attrs: { ...attrs, group_shape: { ...group, value } } };
  });
}
