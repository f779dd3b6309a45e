import {
  contiguousStrides,
  type DType,
  type Expr,
  type Shape,
  type Strides,
  type Tensor,
  type TensorDesc,
} from '@tilewise/core';
import type { Primitive } from '@tilewise/core/primitive';
import type { AttentionCallStep } from './attention-call.ts';
import type { AttentionStep } from './attention-step.ts';
import type { Lowering, Value } from './lowering.ts';
import type { Program, ProgramValue, Step } from './program.ts';

/** Collects the values and steps of a program. */
export class ProgramBuilder {
  readonly #values: ProgramValue[] = [];
  readonly #steps: Step[] = [];
  readonly #bound = new Map<number, Value>();

  /** The value of a logical tensor that the caller binds or receives. */
  bind(kind: 'input' | 'output', tensor: number, desc: TensorDesc): Value {
    const value = this.#add({ kind, tensor, desc });
    this.#bound.set(tensor, value);
    return value;
  }

  /** The value of a logical tensor inside the program. */
  intermediate(tensor: number, desc: TensorDesc): Value {
    const value = this.#add({ kind: 'temporary', desc });
    this.#bound.set(tensor, value);
    return value;
  }

  /** Lets a logical tensor be a value that exists. */
  alias(tensor: number, value: Value): void {
    this.#bound.set(tensor, value);
  }

  /** The value of a logical tensor; undefined before it has one. */
  valueOf(tensor: number): Value | undefined {
    return this.#bound.get(tensor);
  }

  /** A value by its index. */
  valueAt(index: number): Value {
    return { index, desc: this.#values[index].desc };
  }

  temporary(shape: Shape, dtype: DType = 'f32'): Value {
    return this.#add({ kind: 'temporary', desc: { dtype, shape, strides: contiguousStrides(shape) } });
  }

  constant(data: Tensor): Value {
    const { dtype, shape, strides } = data;
    return this.#add({ kind: 'constant', data, desc: { dtype, shape, strides } });
  }

  view(of: Value, shape: Shape, strides: Strides): Value {
    // Strides are those of the memory, so a view of a view is one of the value below.
    const value = this.#values[of.index];
    const base = value.kind === 'view' ? value.of : of.index;
    return this.#add({ kind: 'view', of: base, desc: { dtype: of.desc.dtype, shape, strides } });
  }

  primitive(primitive: Primitive, inputs: readonly Value[], outputs: readonly Value[]): void {
    this.#steps.push({
      kind: 'primitive',
      primitive,
      inputs: inputs.map(v => v.index),
      outputs: outputs.map(v => v.index),
    });
  }

  map(value: Expr, inputs: readonly Value[], output: Value): void {
    this.primitive({ kind: 'map', value }, inputs, [output]);
  }

  attention(step: AttentionStep | AttentionCallStep): void {
    this.#steps.push(step);
  }

  /** The writer of one operation. */
  lowering(inputs: readonly Value[], outputs: readonly Value[]): Lowering {
    return {
      inputs,
      outputs,
      map: (value, from, to) => this.map(value, from, to),
      reduce: (reduction, from, to) => this.primitive({ kind: 'reduce', ...reduction }, from, [to]),
      matmul: (a, b, to) => this.primitive({ kind: 'matmul' }, [a, b], [to]),
      softmax: (softmax, from, to) => this.primitive({ kind: 'softmax', ...softmax }, [from], to),
      random: (distribution, from, to) => this.primitive({ kind: 'random', distribution }, from, [to]),
      scatterAdd: (indices, updates, to) => this.primitive({ kind: 'scatter-add' }, [indices, updates], [to]),
      tensorScatter: (axis, update, first, to) =>
        this.primitive({ kind: 'tensor-scatter', axis }, [update, first], [to]),
      attentionCall: call => this.attention(call),
      temporary: (shape, dtype) => this.temporary(shape, dtype),
      constant: data => this.constant(data),
      view: (of, shape, strides) => this.view(of, shape, strides),
    };
  }

  build(): Program {
    return { values: this.#values, steps: this.#steps };
  }

  #add(value: ProgramValue): Value {
    this.#values.push(value);
    return { index: this.#values.length - 1, desc: value.desc };
  }
}
