import { type TensorDesc, UnsupportedError } from '@tilewise/core';
import { checkNoOverlap } from '@tilewise/core/engine';
import type { TensorEngine } from '@tilewise/core/primitive';
import { InvalidGraphError } from '../errors.ts';
import { inferShapes } from '../ir/infer.ts';
import type { GraphNode } from '../ir/node.ts';
import type { Program } from '../ir/program/program.ts';
import { programBuilder } from '../ir/program/program-builder.ts';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { storageDesc } from '../ir/tensor/storage.ts';
import type { Topology } from '../ir/topology.ts';
import type { AttentionForm, Match } from '../passes/match.ts';
import { syntheticProblem } from './attention/step-call.ts';
import { traitsOf } from './engine-traits.ts';
import { lowerBackward } from './lower/attention-backward.ts';
import { lowerForward, notForward } from './lower/attention-forward.ts';
import { lowerNode, type OperationsLowering } from './lower/match-lowering.ts';
import { lowerAround } from './lower/surroundings.ts';
import { optimised } from './optimise/optimised.ts';

/** Operations to compile in order, with their inputs and outputs. */
export interface Operations {
  readonly nodes: readonly GraphNode[];
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
}

/** Operations, and the pattern that they were recognised as. */
export interface Group extends Operations {
  readonly match: Match | null;
  /** The graph of the operations. */
  readonly topology: Topology;
}

/** A compiled group of operations. */
export interface CompiledProgram {
  readonly program: Program;
  /** `attention`: one attention call. `operations`: the operations one by one. */
  readonly kernel: 'attention' | 'operations';
  /** Why recognised attention does not run as one call. */
  readonly reasons: readonly string[];
  /** All tensors of the group with their shapes. */
  readonly tensors: ReadonlyMap<number, LogicalTensor>;
  /**
   * Writes the operations of an attention call one by one, for bound numbers with which they are not that
   * attention.
   */
  readonly asOperations?: () => Program;
}

/**
 * Writes a group as a program for an engine.
 * @throws InvalidShapeError when shapes are unknown or do not fit; InvalidArgumentError for an output in
 * which elements share an offset; UnsupportedError when the engine cannot run an attention operation.
 */
export function compileGroup(group: Group, engine: TensorEngine<TensorDesc>): CompiledProgram {
  const tensors = resolveShapes(group);
  const traits = traitsOf(engine);
  const reasons: string[] = [];
  if (group.match?.form) {
    const written = writeMatch(group, group.match.form, tensors);
    reasons.push(...(typeof written === 'string' ? [written] : unsupported(written, engine)));
    if (typeof written !== 'string' && reasons.length === 0) {
      const asOperations = () => optimised(writeOperations(group, tensors), traits);
      return { program: optimised(written, traits), kernel: 'attention', reasons, tensors, asOperations };
    }
  }
  const program = optimised(writeOperations(group, tensors), traits);
  const refused = unsupported(program, engine);
  // `Sdpa` and `SdpaBackward` can only run as an attention call.
  if (refused.length > 0) throw new UnsupportedError(engine.name, refused);
  return { program, kernel: 'operations', reasons, tensors };
}

/** All tensors of a group with their shapes. */
export function resolveShapes({ nodes, inputs, outputs }: Operations): Map<number, LogicalTensor> {
  const declared = new Map([...inputs, ...outputs].map(t => [t.id, t.shape] as const));
  const shapes = inferShapes(nodes, declared);
  const tensors = new Map<number, LogicalTensor>();
  for (const t of [...nodes.flatMap(node => [...node.inputs, ...node.outputs]), ...inputs, ...outputs]) {
    tensors.set(t.id, { ...t, shape: shapes.get(t.id) ?? t.shape });
  }
  return tensors;
}

/** Begins a program for operations with their inputs and outputs. */
function beginProgram(
  { inputs, outputs }: Operations,
  tensors: ReadonlyMap<number, LogicalTensor>,
  descOf: (tensor: LogicalTensor) => TensorDesc = denseDesc,
): OperationsLowering {
  const builder = programBuilder();
  const tensor = (id: number): LogicalTensor => {
    const known = tensors.get(id);
    if (!known) throw new InvalidGraphError(`tensor ${id} is not in this partition`);
    return known;
  };
  const bind = (kind: 'input' | 'output', { id }: LogicalTensor): void => {
    if (builder.valueOf(id)) return;
    const desc = storageDesc(tensor(id));
    if (kind === 'output') checkNoOverlap(`tensor ${id}`, desc);
    builder.bind(kind, id, desc);
  };
  for (const t of inputs) bind('input', t);
  for (const t of outputs) bind('output', t);
  return {
    builder,
    tensor,
    desc: id => descOf(tensor(id)),
    value(id) {
      const value = builder.valueOf(id);
      if (!value) throw new InvalidGraphError(`tensor ${id} does not enter or leave this partition`);
      return value;
    },
    result: id => builder.valueOf(id) ?? builder.intermediate(id, descOf(tensor(id))),
  };
}

const shapesDoNotFit = 'the shapes are not those of one attention problem over (B, H, S, D)';

/**
 * Writes operations that were recognised as attention as one call; returns the reason if that is impossible.
 */
export function writeMatch(
  group: Group,
  form: AttentionForm,
  tensors: ReadonlyMap<number, LogicalTensor>,
): Program | string {
  const lowering = { ...beginProgram(group, tensors), topology: group.topology };
  if (form.pass === 'operation') lowerAround([form.node], lowering);
  else {
    const reason = form.pass === 'forward' ? notForward(form.parts) : null;
    if (reason !== null) return reason;
    lowerAround(form.parts.before, lowering);
    const isWritten =
      form.pass === 'forward' ? lowerForward(form.parts, lowering) : lowerBackward(form.parts, lowering);
    if (!isWritten) return shapesDoNotFit;
    lowerAround(form.parts.tails, lowering);
  }
  return lowering.builder.build();
}

/** The description of a tensor as a contiguous tensor. */
export function denseDesc(tensor: LogicalTensor): TensorDesc {
  return storageDesc({ ...tensor, strides: null });
}

/**
 * Writes operations one by one.
 * @param desc returns the description of a tensor inside the program.
 */
export function writeOperations(
  group: Operations,
  tensors: ReadonlyMap<number, LogicalTensor>,
  desc?: (tensor: LogicalTensor) => TensorDesc,
): Program {
  const lowering = beginProgram(group, tensors, desc);
  for (const node of group.nodes) if (node.kind !== 'End') lowerNode(node, lowering);
  return lowering.builder.build();
}

/** Why an engine cannot run the attention calls of a program. */
function unsupported({ steps, values }: Program, engine: TensorEngine<TensorDesc>): readonly string[] {
  const desc = (n: number): TensorDesc => values[n].desc;
  return steps.flatMap(step =>
    step.kind === 'primitive' ? [] : engine.checkSupport(syntheticProblem(step, desc)).reasons,
  );
}
