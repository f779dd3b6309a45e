import { contiguousStrides, isContiguous, type TensorDesc } from '@tilewise/core';
import { reshapedStrides } from '@tilewise/core/engine';
import { input, type Primitive, reduced } from '@tilewise/core/primitive';
import { keptShape } from '../tensor/shape.ts';
import { exprType } from './expr.ts';
import type { Lowering, StepWriter, Value } from './lowering.ts';
import type { Program, ProgramValue, Step } from './program.ts';
import { viewStrides } from './views.ts';

/** Collects the values and steps of a program. */
export interface ProgramBuilder extends StepWriter {
  /** The value of a logical tensor that the caller binds or receives. */
  bind(kind: 'input' | 'output', tensor: number, desc: TensorDesc): Value;
  /** The value of a logical tensor inside the program. */
  intermediate(tensor: number, desc: TensorDesc): Value;
  /** Maps a logical tensor to an existing value. */
  alias(tensor: number, value: Value): void;
  /** The value of a logical tensor; undefined before it has one. */
  valueOf(tensor: number): Value | undefined;
  /** The value with an index. */
  valueAt(index: number): Value;
  /** The writer for the steps of one operation. */
  lowering(inputs: readonly Value[], outputs: readonly Value[]): Lowering;
  build(): Program;
}

/** Creates the builder of an empty program. */
export function programBuilder(): ProgramBuilder {
  const values: ProgramValue[] = [];
  const steps: Step[] = [];
  const bound = new Map<number, Value>();

  function add(value: ProgramValue): Value {
    return { index: values.push(value) - 1, desc: value.desc };
  }
  function bind(tensor: number, value: Value): Value {
    bound.set(tensor, value);
    return value;
  }
  function write(primitive: Primitive, inputs: readonly Value[], outputs: readonly Value[]): void {
    const [read, written] = [inputs, outputs].map(list => list.map(({ index }) => index));
    steps.push({ kind: 'primitive', primitive, inputs: read, outputs: written });
  }

  const writer: StepWriter = {
    map: (value, from, to) => write({ kind: 'map', value }, from, [to]),
    reduce: (reduction, from, to) => write({ kind: 'reduce', ...reduction }, from, [to]),
    matmul: (a, b, to) => write({ kind: 'matmul' }, [a, b], [to]),
    softmax: (softmax, from, to) => write({ kind: 'softmax', ...softmax }, [from], to),
    random: (distribution, from, to) => write({ kind: 'random', distribution }, from, [to]),
    scatterAdd: (indices, updates, to) => write({ kind: 'scatter-add' }, [indices, updates], [to]),
    tensorScatter: (axis, update, first, to) =>
      write({ kind: 'tensor-scatter', axis }, [update, first], [to]),
    attention(step) {
      steps.push(step);
    },
    temporary: (shape, dtype = 'f32') =>
      add({ kind: 'temporary', desc: { dtype, shape, strides: contiguousStrides(shape) } }),
    constant(data) {
      const { dtype, shape, strides } = data;
      return add({ kind: 'constant', data, desc: { dtype, shape, strides } });
    },
    view(of, shape, strides) {
      // Strides are in terms of the memory, so a view of a view is also a view of the underlying value.
      const value = values[of.index];
      const base = value.kind === 'view' ? value.of : of.index;
      return add({ kind: 'view', of: base, desc: { dtype: of.desc.dtype, shape, strides } });
    },
    permuted(value, order) {
      const [shape, strides] = [value.desc.shape, value.desc.strides].map(list => order.map(d => list[d]));
      return writer.view(value, shape, strides);
    },
    transposed(value) {
      const order = [...value.desc.shape.keys()];
      return writer.permuted(value, [...order.slice(0, -2), ...order.slice(-2).reverse()]);
    },
    reshaped(value, shape) {
      const strides = viewStrides(value.desc, shape);
      if (strides) return writer.view(value, shape, strides);
      const dense = writer.contiguous(value);
      return writer.view(dense, shape, reshapedStrides(dense.desc.shape, dense.desc.strides, shape));
    },
    contiguous(value) {
      const { shape, strides, dtype } = value.desc;
      if (isContiguous(shape, strides)) return value;
      const dense = writer.temporary(shape, dtype);
      writer.copy(value, dense);
      return dense;
    },
    copy: (from, to) => writer.map(input(0, exprType(from.desc.dtype)), [from], to),
    reduced(inputs, { op = 'sum', axes, domain, element, result = reduced, dtype }) {
      const value = writer.temporary(keptShape(domain, axes), dtype);
      writer.reduce({ op, axes, domain, element, result }, inputs, value);
      return value;
    },
  };
  return {
    ...writer,
    bind: (kind, tensor, desc) => bind(tensor, add({ kind, tensor, desc })),
    intermediate: (tensor, desc) => bind(tensor, add({ kind: 'temporary', desc })),
    alias: bind,
    valueOf: tensor => bound.get(tensor),
    valueAt: index => ({ index, desc: values[index].desc }),
    lowering: (inputs, outputs) => ({ ...writer, inputs, outputs }),
    build: () => ({ values, steps }),
  };
}
