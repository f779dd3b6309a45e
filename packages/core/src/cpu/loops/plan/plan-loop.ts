import { type FlatNode, flatten } from '../../../expr/canonical.ts';
import type { Expr } from '../../../expr/nodes/expr.ts';
import { inputName } from '../../../primitive/element.ts';
import { broadcastStrides } from '../../../primitive/host/lines/reader.ts';
import { collapseDimensions } from '../../../tensor/collapse-dimensions.ts';
import { dtypeInfo } from '../../../tensor/dtype/dtype.ts';
import type { TensorDesc } from '../../../tensor/tensor.ts';
import { copyFormat, type Format, formatBytes, formatOf, typeOfFormat } from '../format.ts';
import {
  type KeyedLoop,
  type LoopSpec,
  type Output,
  runNumbers,
  type Step,
  type Stream,
  type Table,
} from '../loop-spec.ts';
import { withLongRows } from './long-rows.ts';

/** Where the elements of a loop are stored, along the dimensions of its domain. */
export interface LoopOutput {
  readonly kind: Output['kind'];
  readonly format: Format;
  /** In elements. */
  readonly strides: readonly number[];
  /** The index of the first element; default 0. */
  readonly offset?: number;
}

/** A loop over a domain. */
export interface LoopPlan extends KeyedLoop {
  /** The number of i32 in the numbers of a run. */
  readonly words: number;
  /** The dimensions of the loop. */
  readonly shape: readonly number[];
  /** The output's strides in bytes. */
  readonly outputSteps: readonly number[];
  /** Bytes from the first element of the output to the first one that the loop writes. */
  readonly outputStart: number;
  readonly streams: readonly PlannedStream[];
  /** The index of the input for each table of the spec. */
  readonly tables: readonly number[];
}

/** The input and strides of one stream of the spec. */
interface PlannedStream {
  /** The index of the input. */
  readonly input: number;
  /** The strides in bytes. */
  readonly steps: readonly number[];
  /** Bytes from the first element of the input to the first one that the loop reads. */
  readonly start: number;
}

/**
 * A tensor that a loop reads, by its name in the expression; `format` is null if only the host reads its
 * dtype.
 */
export interface LoopInput extends Pick<TensorDesc, 'shape' | 'strides'> {
  readonly name: string;
  readonly format: Format | null;
  /** The index of the input; default: its index in the list. */
  readonly source?: number;
  /** The index of the first element; default 0. */
  readonly offset?: number;
}

/** The inputs of a primitive. */
export function loopInputs(inputs: readonly TensorDesc[]): LoopInput[] {
  return inputs.map(({ dtype, shape, strides }, n) => {
    return { name: inputName(n), format: formatOf(dtype), shape, strides };
  });
}

/**
 * Plans the loop that computes an expression (see `element.ts`) over a domain; null if the host must compute
 * it: 8-bit floats, u32, and floats that are read as integers.
 */
export function planLoop(
  expr: Expr,
  inputs: readonly LoopInput[],
  domain: readonly number[],
  output: LoopOutput,
): LoopPlan | null {
  const nodes = flatten(expr);
  const result = nodes[nodes.length - 1][1];
  if (output.kind !== 'store' && result === 'i32') return null;
  const canRun = nodes.every(([kind, type, name]) => {
    if (kind !== 'load') return kind !== 'variable';
    if (name === 'coordinate') return true;
    const format = inputs.find(input => input.name === name)?.format;
    return format && isReadAs(format, type);
  });
  return canRun ? planned(nodes, inputs, domain, output) : null;
}

/** Plans the loop that copies an input bit by bit. */
export function planCopy(
  source: TensorDesc,
  domain: readonly number[],
  strides: readonly number[],
): LoopPlan {
  const format = copyFormat(dtypeInfo[source.dtype].bytes);
  const [input] = loopInputs([source]);
  const nodes: FlatNode[] = [['load', 'i32', input.name]];
  return planned(nodes, [{ ...input, format }], domain, { kind: 'store', format, strides });
}

/** Whether elements of a format may be read as values of a type: floats are not truncated to integers. */
function isReadAs(format: Format, type: string): boolean {
  const own = typeOfFormat(format);
  return own === type || (type === 'f32' && own !== 'f32') || (type === 'i32' && own === 'bool');
}

function planned(
  nodes: readonly FlatNode[],
  inputs: readonly LoopInput[],
  domain: readonly number[],
  output: LoopOutput,
): LoopPlan {
  const loads = nodes.filter(([kind]) => kind === 'load');
  const numbersOf = (isTable: boolean): number[] => {
    const names = new Set(loads.filter(load => load.length > 3 === isTable).map(load => load[2]));
    return inputs.flatMap(({ name }, n) => (names.has(name) ? [n] : []));
  };
  const formatAt = (n: number): Format => inputs[n].format ?? 'f32';
  const streamed = numbersOf(false);
  const tabled = numbersOf(true);
  const strides = [output.strides, ...streamed.map(n => broadcastStrides(inputs[n], domain))];
  const whole =
    domain.length > 0 ? { shape: domain, strides } : { shape: [1], strides: strides.map(() => [0]) };
  const usesIndices = loads.some(load => load.length > 3);
  const collapsed = usesIndices ? whole : collapseDimensions(whole.shape, whole.strides);
  // The order of stores does not affect results; the order of sums does.
  const isFree = output.kind === 'store' && !usesIndices;
  const { shape, strides: steps } = isFree ? withLongRows(collapsed) : collapsed;
  const [outputSteps, ...streamSteps] = steps;
  const streams = streamed.map((n, s): Stream => {
    return { name: inputs[n].name, format: formatAt(n), step: stepOf(streamSteps[s]) };
  });
  const tables = tabled.map((n): Table => {
    const { name, shape: own, strides: ownStrides } = inputs[n];
    return { name, format: formatAt(n), shape: own, strides: ownStrides };
  });
  const { kind, format } = output;
  const spec: LoopSpec = {
    ...{ nodes, streams, tables },
    rank: shape.length,
    output: { kind, format, step: stepOf(outputSteps) },
  };
  const inBytes = (elements: readonly number[], own: Format): number[] =>
    elements.map(n => n * formatBytes[own]);
  return {
    spec,
    key: JSON.stringify(spec),
    words: runNumbers.length(spec),
    shape,
    outputSteps: inBytes(outputSteps, format),
    outputStart: (output.offset ?? 0) * formatBytes[format],
    streams: streamed.map((n, s) => ({
      input: inputs[n].source ?? n,
      steps: inBytes(streamSteps[s], formatAt(n)),
      start: (inputs[n].offset ?? 0) * formatBytes[formatAt(n)],
    })),
    tables: tabled.map(n => inputs[n].source ?? n),
  };
}

/** How a loop steps through a tensor along the last dimension. */
function stepOf(strides: readonly number[]): Step {
  const last = strides[strides.length - 1];
  return last === 0 ? 'none' : last === 1 ? 'next' : 'far';
}
